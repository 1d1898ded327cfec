// What threads read that look at the bytes of a synchronisation object, while another one initialises or uses it. With
// `ordered`, they come when the object has been destroyed.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *way;
static int ordered, when_used, atomically;
static pthread_mutex_t mutex;
static pthread_rwlock_t lock;
static pthread_cond_t cond;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t semaphore;

static int is(const char *what) { return strcmp(way, what) == 0; }

static void *bytes(size_t *size) {
    if (is("mutex")) return *size = sizeof mutex, &mutex;
    if (is("lock")) return *size = sizeof lock, &lock;
    if (is("condition")) return *size = sizeof cond, &cond;
    if (is("barrier")) return *size = sizeof barrier, &barrier;
    if (is("spin")) return *size = sizeof spin, (void *)&spin;
    if (is("semaphore")) return *size = sizeof semaphore, &semaphore;
    exit(2);
}

static void initialise(void) {
    if (is("mutex")) pthread_mutex_init(&mutex, NULL);
    if (is("lock")) pthread_rwlock_init(&lock, NULL);
    if (is("condition")) pthread_cond_init(&cond, NULL);
    if (is("barrier")) pthread_barrier_init(&barrier, NULL, 1);
    if (is("spin")) pthread_spin_init(&spin, 0);
    if (is("semaphore")) sem_init(&semaphore, 0, 7);
}

static void use(void) {
    if (is("mutex")) pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
    if (is("lock")) pthread_rwlock_wrlock(&lock), pthread_rwlock_unlock(&lock);
    if (is("condition")) pthread_cond_signal(&cond);
    if (is("barrier")) pthread_barrier_wait(&barrier);
    if (is("spin")) pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
    if (is("semaphore")) sem_post(&semaphore);
}

static void destroy(void) {
    if (is("mutex")) pthread_mutex_destroy(&mutex);
    if (is("lock")) pthread_rwlock_destroy(&lock);
    if (is("condition")) pthread_cond_destroy(&cond);
    if (is("barrier")) pthread_barrier_destroy(&barrier);
    if (is("spin")) pthread_spin_destroy(&spin);
    if (is("semaphore")) sem_destroy(&semaphore);
}

static void *work(void *unused) {
    if (!when_used) initialise();
    use();
    return unused;
}

// The last byte that initialising writes, or the first ones, which using it changes.
static int look(void) {
    size_t size;
    volatile unsigned char *all = bytes(&size);
    if (atomically) return __atomic_load_n(&all[0], __ATOMIC_SEQ_CST);
    return when_used ? all[0] : all[size - 1];
}

int main(int count, char **arguments) {
    way = arguments[1];
    atomically = strcmp(arguments[2], "atomically") == 0;
    when_used = atomically || strcmp(arguments[2], "used") == 0;
    ordered = count > 3;
    size_t size;
    void *memory = bytes(&size);
    if (when_used) initialise();
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    if (!ordered && look() == 1) puts("one");
    pthread_join(thread, NULL);
    if (ordered) {
        destroy();
        for (size_t at = 0; at < size; at++) ((volatile char *)memory)[at] = 0;
        initialise();
        use();
    }
    return 0;
}
