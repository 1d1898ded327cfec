/* Condition variables: nothing is lost, time limits work. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER, all = PTHREAD_COND_INITIALIZER;
static int full, taken, go, started;

static void *producer(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&not_full, &lock);
        full = 1;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consumer(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        while (!full)
            pthread_cond_wait(&not_empty, &lock);
        full = 0;
        taken++;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    started++;
    while (!go)
        pthread_cond_wait(&all, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    struct timespec limit;

    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(taken == 3);

    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    go = 1;
    pthread_cond_broadcast(&all);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(started == 2);

    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 10;
    pthread_mutex_lock(&lock);
    assert(pthread_cond_timedwait(&all, &lock, &limit) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        assert(now.tv_sec >= limit.tv_sec);
    }
    return 0;
}
