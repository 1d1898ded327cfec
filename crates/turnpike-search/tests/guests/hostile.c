/* Programs whose errors hide where few look. The first argument says which one; with a second one it is
 * correct. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int right;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_t first, second;
static sem_t semaphore;
static int x;

static void start(void *(*one)(void *), void *(*other)(void *)) {
    pthread_create(&first, NULL, one, NULL);
    if (other) pthread_create(&second, NULL, other, NULL);
}

static void finish(int count) {
    pthread_join(first, NULL);
    if (count == 2) pthread_join(second, NULL);
}

static void lock(void) {
    if (right) pthread_mutex_lock(&mutex);
}

static void unlock(void) {
    if (right) pthread_mutex_unlock(&mutex);
}

/* Asking whether a thread has ended is not waiting for it. */
static void *sets(void *none) {
    x = 1;
    return none;
}

static void asks(void) {
    start(sets, NULL);
    if (pthread_tryjoin_np(first, NULL) == EBUSY) {
        if (right) finish(1);
        assert(x == 1);
    }
}

/* What a thread does last is seen before it has ended. */
static void *posts(void *none) {
    sem_post(&semaphore);
    return none;
}

static void ends(void) {
    sem_init(&semaphore, 0, 0);
    start(posts, NULL);
    sem_wait(&semaphore);
    int answer = pthread_tryjoin_np(first, NULL);
    if (!right) assert(answer == 0);
    if (answer) finish(1);
}

/* Also when asking takes a while. */
static void waits(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sem_init(&semaphore, 0, 0);
    start(posts, NULL);
    sem_wait(&semaphore);
    int answer = pthread_timedjoin_np(first, NULL, &now);
    if (!right) assert(answer == 0);
    if (answer) finish(1);
}

/* Waiting unlocks a recursive mutex once. */
static pthread_mutex_t recursive;

static void *waiter(void *none) {
    pthread_mutex_lock(&recursive);
    if (!right) pthread_mutex_lock(&recursive);
    while (!x) pthread_cond_wait(&cond, &recursive);
    if (!right) pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    return none;
}

static void *waker(void *none) {
    pthread_mutex_lock(&recursive);
    x = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&recursive);
    return none;
}

static void twice(void) {
    pthread_mutexattr_t type;
    pthread_mutexattr_init(&type);
    pthread_mutexattr_settype(&type, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &type);
    start(waiter, waker);
    finish(2);
}

/* A signal that a thread blocks does not interrupt it. */
static volatile int count;

static void handler(int signal) {
    count = count + 1;
    sem_post(&semaphore);
}

static void *counts(void *none) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (right) pthread_sigmask(SIG_BLOCK, &set, NULL);
    int old = count;
    count = old + 1;
    if (right) pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sem_wait(&semaphore);
    return none;
}

static void interrupts(void) {
    sem_init(&semaphore, 0, 0);
    signal(SIGUSR1, handler);
    start(counts, NULL);
    pthread_kill(first, SIGUSR1);
    finish(1);
    assert(count == 2);
}

/* The environment without a call. */
static void *changes(void *none) {
    lock();
    setenv("HOSTILE", "2", 1);
    x = 1;
    unlock();
    return none;
}

static int present(void) {
    for (char **entry = environ; *entry; entry++)
        if (!strncmp(*entry, "HOSTILE=2", 9)) return 1;
    return 0;
}

static void *looks(void *none) {
    lock();
    int before = x, there = present();
    unlock();
    assert(right ? before == there : !there);
    return none;
}

static void environment(void) {
    start(changes, looks);
    finish(2);
}

/* A destructor of thread-specific data takes locks in another order than threads do. */
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;

static void both(pthread_mutex_t *one, pthread_mutex_t *another) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(another);
    pthread_mutex_unlock(another);
    pthread_mutex_unlock(one);
}

static void destructor(void *none) {
    if (right) both(&mutex, &other);
    else both(&other, &mutex);
}

static void *leaves(void *none) {
    pthread_setspecific(key, &key);
    return none;
}

static void *locks(void *none) {
    both(&mutex, &other);
    return none;
}

static void specific(void) {
    pthread_key_create(&key, destructor);
    start(leaves, locks);
    finish(2);
}

/* The process ends while a thread still works. */
static int *block;

static void at_exit(void) {
    if (right) finish(1);
    if (x) assert(*block == 3);
}

static void *works(void *none) {
    block = calloc(1, sizeof *block);
    if (right) *block = 3;
    pthread_mutex_lock(&mutex);
    x = 1;
    pthread_mutex_unlock(&mutex);
    *block = 3;
    return none;
}

static void leaving(void) {
    atexit(at_exit);
    start(works, NULL);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {
        {"asks", asks}, {"ends", ends}, {"waits", waits}, {"twice", twice}, {"interrupts", interrupts},
        {"environment", environment}, {"specific", specific}, {"leaving", leaving},
    };
    right = count > 2;
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        if (count > 1 && !strcmp(programs[i].name, arguments[1])) programs[i].run();
    return 0;
}
