/* One thread passes shared memory to a function of the C library that reads it; another thread changes the memory
   meanwhile, which the first one must not see, but may. The first argument says which function; with a second one, the
   memory changes only afterwards. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char path[16] = "/etc", value[8] = "a", mode[4] = "r", name[8] = "/a";
static struct timespec start, limit, length = {5, 0};
static pthread_mutexattr_t attributes;
static struct pollfd polled = {.events = 0};
static fd_set watched;
static char first, second;
static struct iovec part = {&first, 1};
static int ends[2];
static cpu_set_t set;
static struct epoll_event event;
static int expected;
static sem_t seen;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ordered, count;
static const char *way;

static int is(const char *name) {
    return !strcmp(way, name);
}
static int slept(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - start.tv_sec >= 50;
}
static int sees_in_time(void) {
    static sem_t never;
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t silent = PTHREAD_COND_INITIALIZER;
    if (is("semaphore"))
        sem_timedwait(&never, &limit);
    if (is("lock"))
        pthread_mutex_lock(&held), pthread_mutex_timedlock(&held, &limit);
    if (is("condition"))
        pthread_mutex_lock(&held), pthread_cond_timedwait(&silent, &held, &limit);
    if (is("sleep"))
        nanosleep(&length, NULL);
    if (is("clock"))
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &limit, NULL);
    return slept();
}
static int sees(void) {
    struct stat status;
    if (is("open"))
        return open(path, O_RDONLY) < 0;
    if (is("access"))
        return access(path, F_OK) < 0;
    if (is("stat"))
        return stat(path, &status) < 0;
    if (is("folder"))
        return !opendir(path);
    if (is("variable")) {
        setenv("OPERAND", value, 1);
        return getenv("OPERAND")[0] == 'x';
    }
    if (is("processors"))
        return CPU_COUNT(&set) != 0;
    if (is("event")) {
        int ends[2], events = epoll_create1(0);
        pipe(ends);
        write(ends[1], "a", 1);
        epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event);
        struct epoll_event found;
        return epoll_wait(events, &found, 1, 0) == 1;
    }
    if (is("exchange")) {
        static atomic_int variable;
        return !atomic_compare_exchange_strong(&variable, &expected, 1);
    }
    if (is("mode"))
        return !fopen("/etc/passwd", mode);
    if (is("name")) {
        int value;
        sem_getvalue(sem_open(name, O_CREAT, 0600, 1), &value);
        return value != 1;
    }
    if (is("attributes")) {
        pthread_mutex_t made;
        pthread_mutex_init(&made, &attributes);
        pthread_mutex_lock(&made);
        return !pthread_mutex_trylock(&made);
    }
    if (is("poll"))
        return poll(&polled, 1, 0);
    if (is("part")) {
        readv(ends[0], &part, 1);
        return second;
    }
    if (is("polls"))
        return poll(&polled, 1, -1) != 1 || polled.revents != POLLIN;
    if (is("selects"))
        return select(ends[0] + 1, &watched, NULL, NULL, NULL) != 1 || !FD_ISSET(ends[0], &watched);
    return sees_in_time();
}
static void *look(void *unused) {
    int changed = sees();
    if (ordered)
        sem_post(&seen);
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    assert(!changed);
    return NULL;
}
static void *change(void *unused) {
    if (is("polls") || is("selects")) {
        write(ends[1], "a", 1);
        return NULL;
    }
    if (ordered)
        sem_wait(&seen);
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    path[1] = value[0] = name[1] = 'x';
    mode[0] = '?';
    limit.tv_sec += 60;
    length.tv_sec = 60;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    polled.events = POLLIN;
    part.iov_base = &second;
    CPU_SET(1, &set);
    event.events = EPOLLIN;
    expected = 5;
    return NULL;
}

int main(int argc, char **argv) {
    way = argv[1];
    ordered = argc > 2;
    sem_init(&seen, 0, 0);
    sem_open("/x", O_CREAT, 0600, 7);
    clock_gettime(CLOCK_REALTIME, &start);
    limit = start;
    limit.tv_sec += 5;
    pthread_mutexattr_init(&attributes);
    pipe(ends);
    polled.fd = ends[0];
    if (is("polls"))
        polled.events = POLLIN;
    else if (is("selects"))
        FD_SET(ends[0], &watched);
    else
        write(ends[1], "a", 1);
    pthread_t reader, writer;
    pthread_create(&reader, NULL, look, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
