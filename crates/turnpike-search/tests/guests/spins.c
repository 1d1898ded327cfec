/* Loops that wait, and loops that end by themselves. The first argument names the case. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int flag, other, idle;
static volatile int plain;
static int guarded;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_int word;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int tries = 10;

/* Right: locks of all kinds. */
static void *by_flag(void *unused) {
    while (atomic_flag_test_and_set(&lock))
        ;
    int seen = guarded;
    guarded = seen + 1;
    atomic_flag_clear(&lock);
    return NULL;
}
static void *by_exchange(void *unused) {
    int expected = 0;
    while (!atomic_compare_exchange_strong(&word, &expected, 1)) {
        expected = 0;
        sched_yield();
    }
    guarded++;
    atomic_store(&word, 0);
    return NULL;
}
static void *by_looking(void *unused) {
    /* Test, then test and set. */
    do {
        while (atomic_load(&word))
            ;
    } while (atomic_exchange(&word, 1));
    guarded++;
    atomic_store(&word, 0);
    return NULL;
}
static atomic_int next, serving;
static void *by_ticket(void *unused) {
    int mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine)
        ;
    guarded++;
    atomic_store(&serving, mine + 1);
    return NULL;
}
static atomic_int wants[2], turn;
static void *peterson(void *argument) {
    int me = argument != NULL;
    atomic_store(&wants[me], 1);
    atomic_store(&turn, !me);
    while (atomic_load(&wants[!me]) && atomic_load(&turn) == !me)
        ;
    guarded++;
    atomic_store(&wants[me], 0);
    return NULL;
}

/* Ends by itself. */
static void *gives_up(void *unused) {
    for (int i = 0; i < tries; i++) {
        if (atomic_load(&flag))
            return NULL;
        if (i > 5)
            sched_yield();
    }
    atomic_fetch_add(&idle, 1);
    return NULL;
}
/* The same, with the count in memory. */
static int *counts;
static void *gives_up_elsewhere(void *argument) {
    int *count = counts + 8 * (argument != NULL);
    while (*count < tries) {
        if (atomic_load(&flag))
            return NULL;
        ++*count;
    }
    atomic_fetch_add(&idle, 1);
    return NULL;
}
/* A wake-up is lost: nobody looks again under the lock. */
static void *parks(void *unused) {
    for (int i = 0; i < tries; i++)
        if (atomic_load(&flag))
            return NULL;
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void *wakes(void *unused) {
    atomic_store(&flag, 1);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Never ends. */
static void *waits(void *unused) {
    while (!atomic_load(&flag))
        ;
    return NULL;
}
static void *waits_plainly(void *unused) {
    while (!plain)
        ;
    return NULL;
}
static void *waits_and_yields(void *unused) {
    while (!atomic_load(&flag)) {
        sched_yield();
        if (atomic_load(&other) == 7)
            break;
        sched_yield();
    }
    return NULL;
}
static void *counts_for_ever(void *unused) {
    unsigned turns = 0;
    while (!atomic_load(&flag))
        turns++;
    assert(turns < 1u << 31);
    return NULL;
}
static void *nothing(void *unused) {
    atomic_store(&other, 1);
    return NULL;
}
static void *sets(void *unused) {
    plain = 1;
    atomic_store(&flag, 1);
    return NULL;
}

int main(int count, char **arguments) {
    struct {
        const char *name;
        void *(*one)(void *), *(*two)(void *);
        int sum;
    } cases[] = {{"flag", by_flag, by_flag, 2},
                 {"exchange", by_exchange, by_exchange, 2},
                 {"looking", by_looking, by_looking, 2},
                 {"ticket", by_ticket, by_ticket, 2},
                 {"peterson", peterson, peterson, 2},
                 {"signal", waits, sets, 0},
                 {"plain signal", waits_plainly, sets, 0},
                 {"yielding signal", waits_and_yields, sets, 0},
                 {"gives up", gives_up, gives_up, 0},
                 {"gives up elsewhere", gives_up_elsewhere, gives_up_elsewhere, 0},
                 {"parks", parks, wakes, 0},
                 {"endless", waits, nothing, 0},
                 {"endless plainly", waits_plainly, nothing, 0},
                 {"endless yielding", waits_and_yields, nothing, 0},
                 {"counting", counts_for_ever, nothing, 0},
                 {"counting signal", counts_for_ever, sets, 0}};
    counts = calloc(16, sizeof(int));
    if (count > 2)
        tries = atoi(arguments[2]);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(arguments[1], cases[i].name)) {
            pthread_t a, b;
            pthread_create(&a, NULL, cases[i].one, NULL);
            pthread_create(&b, NULL, cases[i].two, &b);
            pthread_join(a, NULL);
            pthread_join(b, NULL);
            assert(guarded == cases[i].sum);
        }
    return 0;
}
