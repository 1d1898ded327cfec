/* One thread writes to shared memory in a way that the compiler does not report; another one must never see it, but may. The
   first argument says in which way; with a second one, the writer waits for the reader. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_sanitize("thread"), noinline))

static union {
    int number;
    long word;
    char bytes[512];
    void *pointer;
    struct timespec time;
    struct timeval moment;
    struct stat status;
    struct utsname names;
    struct sigaction action;
    sigset_t set;
    int pair[2];
    pthread_t thread;
    pthread_key_t key;
} shared;
static char *heap;
static sem_t seven, seen;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file, ordered, count;
static const char *way;

static void *nothing(void *unused) {
    return (void *)5;
}
HIDDEN static void write_hidden(char *to) {
    *to = 1;
}
static int is(const char *name) {
    return !strcmp(way, name);
}

static void write_results(void) {
    pthread_t thread;
    sigset_t users;
    if (is("semaphore"))
        sem_getvalue(&seven, &shared.number);
    if (is("clock"))
        clock_gettime(CLOCK_REALTIME, &shared.time);
    if (is("moment"))
        gettimeofday(&shared.moment, NULL);
    if (is("time"))
        time(&shared.word);
    if (is("create")) {
        pthread_create(&shared.thread, NULL, nothing, NULL);
        pthread_join(shared.thread, NULL);
    }
    if (is("join")) {
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, &shared.pointer);
    }
    if (is("key")) {
        pthread_key_create(&shared.key, NULL);
        pthread_key_create(&shared.key, NULL);
    }
    if (is("cancel")) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shared.number);
    }
    if (is("pipe"))
        pipe(shared.pair);
    if (is("stat"))
        stat("/", &shared.status);
    if (is("read"))
        pread(file, shared.bytes, 4, 0);
    if (is("random"))
        getrandom(shared.bytes, 16, 0);
    if (is("set"))
        sigfillset(&shared.set);
    if (is("mask")) {
        sigfillset(&users);
        pthread_sigmask(SIG_BLOCK, &users, NULL);
        pthread_sigmask(SIG_BLOCK, NULL, &shared.set);
    }
    if (is("handler")) {
        signal(SIGUSR1, (void (*)(int))write_hidden);
        sigaction(SIGUSR1, NULL, &shared.action);
    }
    if (is("names"))
        uname(&shared.names);
    if (is("address"))
        dladdr(write_hidden, (Dl_info *)&shared);
    if (is("memalign"))
        posix_memalign(&shared.pointer, 64, 64);
}
static void write_unseen(void) {
    if (is("assembler"))
        __asm__ volatile("lock incb %0" : "+m"(*heap)::"memory");
    if (is("hidden"))
        write_hidden(heap);
    if (is("expanded"))
        strcpy(heap, "abcdefg");
    if (is("call"))
        syscall(SYS_getcwd, heap, 64);
    if (is("overwritten"))
        mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
static void *write_there(void *unused) {
    if (ordered)
        sem_wait(&seen);
    write_results();
    write_unseen();
    return NULL;
}
static void *look(void *unused) {
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    for (int at = 0; at < 16; at++)
        assert(!shared.bytes[at]);
    assert(!*heap);
    if (ordered)
        sem_post(&seen);
    return NULL;
}

int main(int argc, char **argv) {
    way = argv[1];
    ordered = argc > 2;
    heap = calloc(1, 64);
    sem_init(&seven, 0, 7);
    sem_init(&seen, 0, 0);
    file = open("/proc/self/exe", O_RDONLY);
    pthread_t reader, writer;
    pthread_create(&reader, NULL, look, NULL);
    pthread_create(&writer, NULL, write_there, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
