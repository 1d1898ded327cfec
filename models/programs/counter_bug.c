/*
 * counter_bug.c: two threads count without a lock: the smallest lost update.
 *
 * Each addition is a read and a write; what happens in between is overwritten. In the twin counter_ok.c the counter is atomic.
 *
 * Threads: 3 (main, two that count). Context switches of a shortest failure: 3.
 * Expected: assertion "nothing is lost"; also a data race. Nothing in the twin.
 * Needs: -fsanitize=thread objects, which make plain memory visible.
 * hooks: => assertion
 * hooks: => race
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 2, EACH = 2 };

#ifdef FIXED
static _Atomic int counter;
#else
static int counter;
#endif

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++)
        counter++;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS * EACH && "nothing is lost");
    return 0;
}
