/* Mutexes of all types, and spin locks. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_spinlock_t spin;
static int counter, inside, spun;

static void *worker(void *unused)
{
    struct timespec soon = { 0, 0 };
    int error;
    pthread_mutex_lock(&plain);
    assert(++inside == 1);
    counter++;
    inside--;
    pthread_mutex_unlock(&plain);

    pthread_mutex_lock(&recursive);
    assert(pthread_mutex_trylock(&recursive) == 0);
    assert(pthread_mutex_lock(&recursive) == 0);
    for (int i = 0; i < 3; i++)
        assert(pthread_mutex_unlock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == EPERM);

    assert(pthread_mutex_unlock(&checked) == EPERM);
    assert(pthread_mutex_lock(&checked) == 0);
    assert(pthread_mutex_lock(&checked) == EDEADLK);
    assert(pthread_mutex_unlock(&checked) == 0);

    error = pthread_mutex_trylock(&plain);
    assert(error == 0 || error == EBUSY);
    if (error == 0)
        pthread_mutex_unlock(&plain);

    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 5;
    error = pthread_mutex_timedlock(&plain, &soon);
    assert(error == 0);
    pthread_mutex_unlock(&plain);

    pthread_spin_lock(&spin);
    spun++;
    pthread_spin_unlock(&spin);
    return unused;
}

static void *late(void *unused)
{
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    assert(pthread_mutex_timedlock(&plain, &soon) == ETIMEDOUT);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_mutex_t local;
    pthread_mutexattr_t attributes;

    pthread_spin_init(&spin, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2 && spun == 2);

    pthread_mutex_lock(&plain);
    pthread_create(&threads[0], NULL, late, NULL);
    pthread_join(threads[0], NULL);
    pthread_mutex_unlock(&plain);

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_init(&local, &attributes);
        assert(pthread_mutex_lock(&local) == 0 && pthread_mutex_lock(&local) == 0);
        assert(pthread_mutex_unlock(&local) == 0 && pthread_mutex_unlock(&local) == 0);
        pthread_mutex_destroy(&local);
    }
    return 0;
}
