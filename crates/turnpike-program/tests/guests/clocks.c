/* Time passes by sleeping, and for free; randomness and identity are fixed. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *sleeper(void *numbers)
{
    double start = now();
    *(int *)numbers = rand();
    sleep(3600);
    assert(now() - start >= 3600);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int first, second;
    struct timeval day;
    unsigned char random[8];
    double start = now();
    time_t begin = time(NULL);

    srand(1);
    pthread_create(&a, NULL, sleeper, &first);
    pthread_create(&b, NULL, sleeper, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(first != second);
    /* Joining brings the others' time along. */
    assert(now() - start >= 3600 && time(NULL) - begin >= 3600);
    usleep(500000);
    nanosleep(&(struct timespec){ 10, 0 }, NULL);
    assert(now() - start >= 3610);
    gettimeofday(&day, NULL);
    assert(day.tv_sec - begin >= 3610);
    /* Waiting by looking ends. */
    start = now();
    while (now() - start < 0.001)
        ;
    sched_yield();
    assert(getrandom(random, 8, 0) == 8);
    /* Who draws first gets the first number of the sequence, which all threads share. */
    printf("%d %d %d %ld %ld\n", first ^ second, random[0], (int)getpid(), (long)syscall(SYS_gettid), sysconf(_SC_NPROCESSORS_ONLN));
    return 0;
}
