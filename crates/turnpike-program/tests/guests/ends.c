// Ways in which threads end, and what is left of them.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t robust;
static int cleaned;
static volatile sig_atomic_t got;

static void on_signal(int number) { got = number; }

static void clean(void *unused) {
    cleaned = 1;
    pthread_mutex_unlock(&lock);
}

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, 0);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return 0;
}

static void *read_for_ever(void *pipe) {
    char byte;
    read(*(int *)pipe, &byte, 1);
    return 0;
}

static void *keep(void *unused) {
    pthread_mutex_lock(&robust);
    return 0;
}

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *take(void *set) {
    int number = 0;
    sigwait(set, &number);
    assert(number == SIGUSR1);
    return 0;
}

static void *large(void *unused) {
    volatile char bytes[30000000];
    for (int i = 0; i < 30000000; i += 4096)
        bytes[i] = 1;
    return 0;
}

static void *post(void *semaphore) {
    sem_post(semaphore);
    return 0;
}

static void cancelled(pthread_t thread) {
    void *result;
    assert(pthread_cancel(thread) == 0);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    pthread_t thread;
    if (!strcmp(what, "cancel")) {
        pthread_create(&thread, 0, wait_for_ever, 0);
        cancelled(thread);
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    } else if (!strcmp(what, "cancel_read")) {
        int ends[2];
        pipe(ends);
        pthread_create(&thread, 0, read_for_ever, &ends[0]);
        cancelled(thread);
    } else if (!strcmp(what, "robust")) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&robust, &attributes);
        for (int round = 0; round < 2; round++) {
            pthread_create(&thread, 0, keep, 0);
            pthread_join(thread, 0);
            assert(pthread_mutex_lock(&robust) == EOWNERDEAD);
            if (round == 0)
                assert(pthread_mutex_consistent(&robust) == 0);
            assert(pthread_mutex_unlock(&robust) == 0);
        }
        assert(pthread_mutex_lock(&robust) == ENOTRECOVERABLE);
    } else if (!strcmp(what, "signal")) {
        signal(SIGUSR1, on_signal);
        pthread_create(&thread, 0, work, 0);
        if (pthread_kill(thread, SIGUSR1) == 0)
            assert(got == SIGUSR1);
        pthread_join(thread, 0);
    } else if (!strcmp(what, "sigwait")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, 0);
        pthread_create(&thread, 0, take, &set);
        kill(getpid(), SIGUSR1);
        pthread_join(thread, 0);
    } else if (!strcmp(what, "alarm")) {
        signal(SIGALRM, on_signal);
        assert(alarm(3) == 0);
        assert(sleep(1) == 0 && got == 0);
        while (!got)
            pause();
        assert(got == SIGALRM);
    } else if (!strcmp(what, "stack")) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 64 << 20);
        for (int round = 0; round < 2; round++) {
            pthread_create(&thread, &attributes, large, 0);
            pthread_join(thread, 0);
        }
    } else if (!strcmp(what, "named")) {
        sem_t *semaphore = sem_open("/turnpike_test", O_CREAT | O_EXCL, 0600, 0);
        assert(semaphore != SEM_FAILED);
        assert(sem_open("/turnpike_test", O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
        pthread_create(&thread, 0, post, semaphore);
        sem_wait(semaphore);
        pthread_join(thread, 0);
        assert(sem_unlink("/turnpike_test") == 0 && sem_unlink("/turnpike_test") == -1);
    } else if (!strcmp(what, "loop")) {
        for (volatile int i = 0;; i++)
            ;
    }
    return 0;
}
