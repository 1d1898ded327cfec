/*
 * use_after_free_bug.c: a reader gets a connection from a table under the lock and uses it after letting the lock go; meanwhile the table is closed.
 *
 * In the twin use_after_free_ok.c connections are counted: whoever gives the last one back frees it.
 *
 * Threads: 3 (main, a reader, a closer). Context switches of a shortest failure: 3.
 * Expected: a use after free. Nothing in the twin.
 * Needs: -fsanitize=thread objects, which show every access to memory.
 * hooks: => heap
 */
#include <pthread.h>
#include <stdlib.h>

struct connection {
    int users;
    long bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *current;

static struct connection *get(void)
{
    pthread_mutex_lock(&lock);
    struct connection *connection = current;
    if (connection != NULL)
        connection->users++;
    pthread_mutex_unlock(&lock);
    return connection;
}

static void put(struct connection *connection, long bytes)
{
    pthread_mutex_lock(&lock);
    connection->bytes += bytes;
    const int left = --connection->users;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    if (left == 0)
        free(connection);
#else
    (void)left;
#endif
}

static void *reader(void *unused)
{
    (void)unused;
    struct connection *connection = get();
    if (connection != NULL)
        put(connection, 1500);
    return NULL;
}

static void *closer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    struct connection *connection = current;
    current = NULL;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    put(connection, 0);
#else
    free(connection);
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    current = calloc(1, sizeof *current);
    current->users = 1;
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, closer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
