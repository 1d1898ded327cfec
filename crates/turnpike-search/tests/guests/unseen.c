/* Loops that change something in each turn in a way that compilers do not report, and give up after some turns. The first
   argument says in which way; with a second one, nobody ends the loop, and giving up is right. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define HIDDEN __attribute__((no_sanitize("thread"), noinline))

static atomic_int flag;
static int turns[2], right;
static char text[64], filled[64];
static char *heap;
static const char *way;
static __thread int local;

HIDDEN static int count_hidden(int *counter) {
    return ++*counter;
}
HIDDEN static int count_local(void) {
    return ++local;
}
/* Counts by the signals that the thread blocks. */
static int count_by_mask(void) {
    sigset_t set;
    int count = 0;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    while (count < 20 && sigismember(&set, 34 + count))
        count++;
    sigemptyset(&set);
    sigaddset(&set, 34 + count);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return count;
}
/* The processor's counter of time, if it has one that programs can read. */
static int count_time(void) {
    static unsigned long start;
#ifdef __x86_64__
    unsigned processor;
    if (!start)
        start = __rdtsc();
    return (__rdtscp(&processor) - start) / 2000;
#else
    return ++start;
#endif
}
static int count_by_assembler(int *counter) {
    int one = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(one), "+m"(*counter)::"memory");
    return one + 1;
}

static void *try_often(void *argument) {
    int *own = argument, count = 0;
    char *first = malloc(16);
    while (!atomic_load(&flag)) {
        switch (*way) {
        case 'h':
            count = count_hidden(own);
            break;
        case 'a':
            count = count_by_assembler(own);
            break;
        case 's':
            strcat(text, "x");
            count = text[19] ? 20 : 0;
            break;
        case 'f': {
            size_t length = strlen(filled);
            memset(filled, 'x', length + 1);
            count = length + 1;
            break;
        }
        case 'm':
            count = labs((char *)malloc(16) - first) > 400 ? 20 : 0;
            break;
        case 'b':
            count = count_hidden((int *)heap);
            break;
        case 'l':
            count = count_local();
            break;
        case 'k':
            count = count_by_mask();
            break;
        case 'c':
            count = count_time();
            break;
        case 'y':
            count = count_hidden(own);
            sched_yield();
            break;
        }
        if (count >= 20) {
            if (!right)
                abort();
            break;
        }
    }
    return NULL;
}
static void *raise_flag(void *unused) {
    atomic_store(&flag, 1);
    return NULL;
}

int main(int argc, char **argv) {
    way = argv[1];
    right = argc > 2;
    heap = calloc(1, 64);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, try_often, &turns[0]);
    pthread_create(&threads[1], NULL, right ? try_often : raise_flag, &turns[1]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
