/*
 * lost_wakeup_bug.c: a result is announced without the lock that whoever waits for it holds while looking.
 *
 * The waiter looks, the worker announces and signals, the waiter goes to sleep: the signal was for nobody. In the twin
 * lost_wakeup_ok.c the worker holds the lock while announcing.
 *
 * Threads: 3 (main, a worker, a waiter). Context switches of a shortest deadlock: 3.
 * Expected: deadlock. Nothing in the twin.
 * Needs: nothing but a plain compilation; -fsanitize=thread objects show the flag as well.
 * search: => deadlock
 * hooks: => deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t announced = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static int entries;
static atomic_int result;

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&ledger);
    const int computed = 40 + ++entries;
    pthread_mutex_unlock(&ledger);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    atomic_store(&result, computed);
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
    while (atomic_load(&result) == 0)
        pthread_cond_wait(&announced, &lock);
    pthread_mutex_unlock(&lock);
    assert(atomic_load(&result) == 41);
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
