/* Reader-writer locks, semaphores, barriers, one-time initialisation, keys. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int readers, writers, value, serial, initialised, before, destroyed;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void initialise(void)
{
    initialised++;
}

static void destroy(void *memory)
{
    pthread_mutex_lock(&guard);
    destroyed++;
    pthread_mutex_unlock(&guard);
    free(memory);
}

static void *worker(void *unused)
{
    struct timespec past = { 0, 0 };
    int error;
    pthread_once(&once, initialise);
    assert(initialised == 1);

    assert(pthread_getspecific(key) == NULL);
    pthread_setspecific(key, malloc(8));
    assert(pthread_getspecific(key) != NULL);

    pthread_rwlock_rdlock(&lock);
    readers++;
    assert(writers == 0);
    readers--;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    writers++;
    assert(writers == 1 && readers == 0);
    assert(pthread_rwlock_rdlock(&lock) == EDEADLK);
    assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    value++;
    writers--;
    pthread_rwlock_unlock(&lock);
    error = pthread_rwlock_trywrlock(&lock);
    assert(error == 0 || error == EBUSY);
    if (error == 0)
        pthread_rwlock_unlock(&lock);

    sem_wait(&semaphore);
    sem_post(&semaphore);

    pthread_mutex_lock(&guard);
    before++;
    pthread_mutex_unlock(&guard);
    error = pthread_barrier_wait(&barrier);
    assert(before == 2);
    assert(error == 0 || error == PTHREAD_BARRIER_SERIAL_THREAD);
    if (error != 0) {
        pthread_mutex_lock(&guard);
        serial++;
        pthread_mutex_unlock(&guard);
    }
    (void)past;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    struct timespec past = { 0, 0 };
    int now;

    sem_init(&semaphore, 0, 1);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_key_create(&key, destroy);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(value == 2 && serial == 1 && destroyed == 2);
    assert(sem_getvalue(&semaphore, &now) == 0 && now == 1);
    assert(sem_trywait(&semaphore) == 0);
    assert(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
    assert(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    return 0;
}
