/*
 * lost_wakeup_bug.c: a result is announced without the lock that whoever waits for it holds while looking.
 *
 * The waiter looks, the worker writes the result and signals, the waiter goes to sleep: the signal was for nobody. In the twin
 * lost_wakeup_ok.c the worker holds that lock while signalling.
 *
 * Threads: 3 (main, a worker, a waiter). Context switches of a shortest deadlock: 2.
 * Expected: deadlock. Nothing in the twin.
 * Needs: nothing but a plain compilation.
 * search: => deadlock
 * hooks: => deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t announced = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static int result; /* protected by the ledger's lock */

static int look(void)
{
    pthread_mutex_lock(&ledger);
    const int seen = result;
    pthread_mutex_unlock(&ledger);
    return seen;
}

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&ledger);
    result = 41;
    pthread_mutex_unlock(&ledger);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    pthread_cond_signal(&announced);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

static void *waiter(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (look() == 0)
        pthread_cond_wait(&announced, &lock);
    pthread_mutex_unlock(&lock);
    assert(look() == 41);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, waiter, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
