/*
 * many_threads.c: 200 threads add to one sum under one lock. Expected: nothing.
 *
 * search: --max-executions 20 => nothing
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, add, NULL) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(sum == THREADS);
    return 0;
}
