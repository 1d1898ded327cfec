/*
 * server_bug.c: an event-driven server that reads once for each event, although it asked for edges.
 *
 * The server keeps a sum for each of its connections. It waits for events of all of them with epoll. Connections are
 * edge-triggered: the system tells once that bytes have arrived, and again only when more arrive. So whoever is told has to
 * read until nothing is left. This server reads once, into a small buffer. When two requests of a client arrive before it
 * reads, the rest of the second one stays where it is; the client waits for its answer, and the server for an event. In
 * the twin server_ok.c the server reads until the system says that there is nothing more.
 *
 * Clients are threads that talk to the server by pairs of sockets. The main thread hands the server's end of a new
 * connection over in a queue, and tells by a counter of events.
 *
 * Arguments: [CLIENTS [ADDITIONS]], at first 1 and 1.
 * Threads: 2 + CLIENTS (main, the server, its clients).
 * Expected: deadlock. Nothing in the twin.
 * Needs: nothing but a plain compilation.
 * search: => deadlock
 * search: -- 2 => deadlock
 * search: --strategy exhaustive => deadlock
 * hooks: => deadlock
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CLIENTS = 4, BUFFER = 8, LINE = 32 };

/* ---------------------------------------------------------------- lines */

/* Bytes that were received and make no whole line yet. */
struct lines {
    char bytes[LINE];
    size_t used;
};

static void append(struct lines *lines, const char *bytes, size_t count)
{
    assert(lines->used + count <= sizeof lines->bytes);
    memcpy(lines->bytes + lines->used, bytes, count);
    lines->used += count;
}

/* Takes the first line, without its end; whether there was one. */
static int take_line(struct lines *lines, char *line)
{
    size_t length = 0;
    while (length < lines->used && lines->bytes[length] != '\n')
        length++;
    if (length == lines->used)
        return 0;
    memcpy(line, lines->bytes, length);
    line[length] = '\0';
    lines->used -= length + 1;
    memmove(lines->bytes, lines->bytes + length + 1, lines->used);
    return 1;
}

/* ---------------------------------------------------------------- the server */

struct connection {
    int fd;
    int sum;
    struct lines received;
};

struct server {
    int events;   /* the set that epoll watches */
    int arrivals; /* counts connections that wait in the queue */
    int expected; /* connections that will come */
    int open;     /* connections that are served */
    struct connection connections[MOST_CLIENTS];
    int count;
};

/* Connections on their way to the server. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[MOST_CLIENTS];
static int queued;

static void make_nonblocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    assert(flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

static void watch(struct server *server, int fd, uint32_t events, void *data)
{
    struct epoll_event event = {.events = events, .data.ptr = data};
    assert(epoll_ctl(server->events, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void open_server(struct server *server, int expected)
{
    memset(server, 0, sizeof *server);
    server->expected = expected;
    server->events = epoll_create1(0);
    server->arrivals = eventfd(0, EFD_NONBLOCK);
    assert(server->events >= 0 && server->arrivals >= 0);
    watch(server, server->arrivals, EPOLLIN, NULL);
}

static void close_server(struct server *server)
{
    close(server->arrivals);
    close(server->events);
}

static void serve_new(struct server *server, int fd)
{
    assert(server->count < MOST_CLIENTS);
    struct connection *connection = &server->connections[server->count++];
    connection->fd = fd;
    make_nonblocking(fd);
    server->open++;
    watch(server, fd, EPOLLIN | EPOLLET, connection);
}

static void take_arrivals(struct server *server)
{
    uint64_t count = 0;
    int arrived[MOST_CLIENTS], number = 0;
    if (read(server->arrivals, &count, sizeof count) < 0)
        return;
    pthread_mutex_lock(&queue_lock);
    while (queued > 0)
        arrived[number++] = queue[--queued];
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < number; i++)
        serve_new(server, arrived[i]);
}

static void answer(struct connection *connection, const char *request)
{
    char reply[LINE];
    int number = 0;
    if (sscanf(request, "add %d", &number) == 1) {
        connection->sum += number;
        snprintf(reply, sizeof reply, "ok\n");
    } else if (strcmp(request, "sum") == 0) {
        snprintf(reply, sizeof reply, "%d\n", connection->sum);
    } else {
        snprintf(reply, sizeof reply, "what?\n");
    }
    const ssize_t length = (ssize_t)strlen(reply);
    assert(write(connection->fd, reply, (size_t)length) == length);
}

static void hang_up(struct server *server, struct connection *connection)
{
    close(connection->fd);
    connection->fd = -1;
    server->open--;
    server->expected--;
}

/* Reads once; whether there may be more. */
static int receive(struct server *server, struct connection *connection)
{
    char bytes[BUFFER], request[LINE];
    const ssize_t count = read(connection->fd, bytes, sizeof bytes);
    if (count < 0) {
        assert(errno == EAGAIN);
        return 0;
    }
    if (count == 0) {
        hang_up(server, connection);
        return 0;
    }
    append(&connection->received, bytes, (size_t)count);
    while (take_line(&connection->received, request))
        answer(connection, request);
    return 1;
}

static void serve(struct server *server, struct connection *connection)
{
#ifdef FIXED
    while (receive(server, connection))
        ;
#else
    receive(server, connection);
#endif
}

static void *run_server(void *argument)
{
    struct server *server = argument;
    while (server->expected > 0) {
        struct epoll_event ready[MOST_CLIENTS];
        const int count = epoll_wait(server->events, ready, MOST_CLIENTS, -1);
        assert(count > 0);
        for (int i = 0; i < count; i++) {
            struct connection *connection = ready[i].data.ptr;
            if (connection)
                serve(server, connection);
            else
                take_arrivals(server);
        }
    }
    return NULL;
}

/* Hands the server its end of a connection; the other end is the client's. */
static int connect_to(struct server *server)
{
    const uint64_t one = 1;
    int ends[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pthread_mutex_lock(&queue_lock);
    queue[queued++] = ends[0];
    pthread_mutex_unlock(&queue_lock);
    assert(write(server->arrivals, &one, sizeof one) == sizeof one);
    return ends[1];
}

/* ---------------------------------------------------------------- a client */

struct client {
    int fd;
    int additions;
    struct lines received;
};

static void request(struct client *client, const char *line)
{
    const ssize_t length = (ssize_t)strlen(line);
    assert(write(client->fd, line, (size_t)length) == length);
}

static void await_line(struct client *client, char *line)
{
    while (!take_line(&client->received, line)) {
        char bytes[BUFFER];
        const ssize_t count = read(client->fd, bytes, sizeof bytes);
        assert(count > 0);
        append(&client->received, bytes, (size_t)count);
    }
}

/* Sends all requests, then reads all answers. */
static void *run_client(void *argument)
{
    struct client *client = argument;
    char line[LINE];
    for (int i = 0; i < client->additions; i++)
        request(client, "add 7\n");
    request(client, "sum\n");
    for (int i = 0; i < client->additions; i++) {
        await_line(client, line);
        assert(strcmp(line, "ok") == 0);
    }
    await_line(client, line);
    assert(atoi(line) == 7 * client->additions);
    close(client->fd);
    return NULL;
}

int main(int count, char **arguments)
{
    const int clients = count > 1 ? atoi(arguments[1]) : 1;
    const int additions = count > 2 ? atoi(arguments[2]) : 1;
    assert(clients >= 1 && clients <= MOST_CLIENTS && additions >= 0);
    static struct server server;
    static struct client all[MOST_CLIENTS];
    pthread_t serving, asking[MOST_CLIENTS];
    open_server(&server, clients);
    pthread_create(&serving, NULL, run_server, &server);
    for (int i = 0; i < clients; i++) {
        all[i] = (struct client){.fd = connect_to(&server), .additions = additions};
        pthread_create(&asking[i], NULL, run_client, &all[i]);
    }
    for (int i = 0; i < clients; i++)
        pthread_join(asking[i], NULL);
    pthread_join(serving, NULL);
    close_server(&server);
    return 0;
}
