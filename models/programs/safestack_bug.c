/*
 * safestack_bug.c: SafeStack, a lock-free stack of cells that threads take and give back, as D. Vyukov described it.
 *
 * Whoever takes the head first takes its link out, which keeps others from taking the same cell, and then moves the head. But
 * the head may have been given back meanwhile with another link: an old link comes back, and two threads own one cell. That needs three
 * threads who each take a cell twice, and seven preemptions. In the twin safestack_ok.c a mutex is held meanwhile.
 *
 * Threads: 4 (main, three users). Preemptions of a failure: at least 7.
 * Expected: assertion "one user per cell". Nothing in the twin.
 * Needs: -fsanitize=thread objects, which make atomics visible, and some ten thousand executions: see the strategy frontier.
 * hooks: --strategy frontier --seed 1 --max-executions 10000 => assertion
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { USERS = 3, CELLS = 3, ROUNDS = 2, NONE = -1 };

static atomic_int link_of[CELLS];
static atomic_int head, left = CELLS;
static atomic_int user_of[CELLS];

#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#define BEGIN pthread_mutex_lock(&whole)
#define END pthread_mutex_unlock(&whole)
#else
#define BEGIN
#define END
#endif

/* A cell, or NONE. The last one is never taken. */
static int take(void)
{
    while (atomic_load(&left) > 1) {
        int first = atomic_load(&head);
        int next = atomic_exchange(&link_of[first], NONE);
        if (next == NONE)
            continue;
        int expected = first;
        if (atomic_compare_exchange_strong(&head, &expected, next)) {
            atomic_fetch_sub(&left, 1);
            return first;
        }
        atomic_exchange(&link_of[first], next);
    }
    return NONE;
}

static void give(int cell)
{
    int first = atomic_load(&head);
    do
        atomic_store(&link_of[cell], first);
    while (!atomic_compare_exchange_strong(&head, &first, cell));
    atomic_fetch_add(&left, 1);
}

static void *use(void *number)
{
    int me = (int)(long)number;
    for (int round = 0; round < ROUNDS; round++) {
        int cell;
        for (;;) {
            BEGIN;
            cell = take();
            END;
            if (cell != NONE)
                break;
            sched_yield();
        }
        atomic_store(&user_of[cell], me);
        assert(atomic_load(&user_of[cell]) == me && "one user per cell");
        BEGIN;
        give(cell);
        END;
    }
    return 0;
}

int main(void)
{
    pthread_t users[USERS];
    for (int cell = 0; cell < CELLS; cell++)
        atomic_init(&link_of[cell], cell + 1 < CELLS ? cell + 1 : NONE);
    for (long i = 0; i < USERS; i++)
        pthread_create(&users[i], 0, use, (void *)i);
    for (int i = 0; i < USERS; i++)
        pthread_join(users[i], 0);
    return 0;
}
