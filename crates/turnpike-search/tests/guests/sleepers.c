/* A thread that sleeps until something wakes it up that is not explored. The first argument says what: "bits", a wake-up with
   other bits, which comes to nothing; "changes", a futex operation that changes the word and wakes up; "rings", a timer.
   With "monotonic" a time limit wakes it up that another clock than the usual one measures. */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int word, unused;
static sem_t rung;
static int wait = FUTEX_WAIT_BITSET;
static const char *way;

static void *sleep_on_word(void *nothing) {
    while (!atomic_load(&word))
        syscall(SYS_futex, &word, wait, 0, NULL, NULL, 1);
    return nothing;
}
static void *wake_up(void *nothing) {
    if (!strcmp(way, "bits")) {
        atomic_store(&word, 1);
        syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 2);
    } else {
        int change = FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0);
        syscall(SYS_futex, &unused, FUTEX_WAKE_OP, 1, (void *)1, &word, change);
    }
    return nothing;
}
static void ring(union sigval nothing) {
    sem_post(&rung);
}
static void *sleep_until_it_rings(void *nothing) {
    sem_wait(&rung);
    return nothing;
}
static void *set_timer(void *nothing) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000}};
    timer_t timer;
    timer_create(CLOCK_REALTIME, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    return nothing;
}

static void *sleep_for_a_while(void *condition) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec limit, now;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += 10;
    pthread_mutex_lock(&mutex);
    while (!pthread_cond_timedwait(condition, &mutex, &limit))
        ;
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert(now.tv_sec >= limit.tv_sec);
    return NULL;
}
static int wait_by_another_clock(void) {
    pthread_condattr_t attributes;
    pthread_cond_t condition;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    pthread_t sleeper;
    pthread_create(&sleeper, NULL, sleep_for_a_while, &condition);
    sleep(1);
    pthread_join(sleeper, NULL);
    return 0;
}

int main(int argc, char **argv) {
    way = argv[1];
    if (!strcmp(way, "monotonic"))
        return wait_by_another_clock();
    int rings = !strcmp(way, "rings");
    if (strcmp(way, "bits"))
        wait = FUTEX_WAIT;
    sem_init(&rung, 0, 0);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, rings ? sleep_until_it_rings : sleep_on_word, NULL);
    pthread_create(&threads[1], NULL, rings ? set_timer : wake_up, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
