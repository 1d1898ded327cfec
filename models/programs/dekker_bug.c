/*
 * dekker_bug.c: two threads raise a flag and look at the other's, by release and acquire operations.
 *
 * Each stays out if it sees the other's flag. With release and acquire a thread may still see the old value of the
 * other's flag, so both may enter. In the twin dekker_ok.c the operations are sequentially consistent.
 *
 * Threads: 3 (main, two that enter).
 * Expected: assertion "one at a time", under --memory rc11 and tso only. Nothing in the twin.
 * Needs: -fsanitize=thread objects.
 * hooks: --memory rc11 => assertion
 * hooks: --memory tso => assertion
 * hooks: --memory sc --strategy exhaustive => none
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef FIXED
enum { RAISE = memory_order_seq_cst, LOOK = memory_order_seq_cst };
#else
enum { RAISE = memory_order_release, LOOK = memory_order_acquire };
#endif

static atomic_int flags[2];
static atomic_int inside;

static void *enter(void *argument)
{
    int me = argument != NULL;
    atomic_store_explicit(&flags[me], 1, RAISE);
    if (atomic_load_explicit(&flags[!me], LOOK) == 0) {
        int others = atomic_fetch_add(&inside, 1);
        assert(others == 0 && "one at a time");
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, i ? threads : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
