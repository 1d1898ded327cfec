/* One thread passes shared memory to a function of the C library that reads it; another thread changes the memory
   meanwhile, which the first one must not see, but may. The first argument says which function; with a second one, the
   memory changes only afterwards. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[16] = "/etc", value[8] = "a";
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
    return 0;
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
    if (ordered)
        sem_wait(&seen);
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    path[1] = value[0] = 'x';
    CPU_SET(1, &set);
    event.events = EPOLLIN;
    expected = 5;
    return NULL;
}

int main(int argc, char **argv) {
    way = argv[1];
    ordered = argc > 2;
    sem_init(&seen, 0, 0);
    pthread_t reader, writer;
    pthread_create(&reader, NULL, look, NULL);
    pthread_create(&writer, NULL, change, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
