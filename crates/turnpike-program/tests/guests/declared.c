/* Threads that tell what they may touch: each has a lock of its own. */
#include <pthread.h>
#include <stdint.h>
#include "turnpike.h"

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static void *worker(void *which)
{
    pthread_mutex_t *lock = &locks[(intptr_t)which];
    tp_may_access(lock, 1);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)0);
    pthread_create(&b, NULL, worker, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
