/* Objects that are initialised, deleted, closed or joined while others use them. The first argument names the case; with a
   second one the same is done in a way that is right. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

static int right;
static atomic_int made, inside, posts;
static int ready;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lazy;
static mtx_t lazy_c11;
static pthread_spinlock_t spin;
static pthread_rwlock_t rw;
static sem_t semaphore;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_key_t key;
static pthread_t ended;
static FILE *stream;
static char *old_end;
static int *one, *other;

static void enter(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}

/* Whoever comes first initialises, and so does whoever believes to. */
#define LAZILY(what)                                                                                                   \
    if (!right && !atomic_load(&made)) {                                                                               \
        what;                                                                                                          \
        atomic_store(&made, 1);                                                                                        \
    }

static void *use_mutex(void *unused) {
    LAZILY(pthread_mutex_init(&lazy, NULL));
    pthread_mutex_lock(&lazy);
    enter();
    pthread_mutex_unlock(&lazy);
    return NULL;
}
static void *use_c11(void *unused) {
    LAZILY(mtx_init(&lazy_c11, mtx_plain));
    mtx_lock(&lazy_c11);
    enter();
    mtx_unlock(&lazy_c11);
    return NULL;
}
static void *use_spin(void *unused) {
    LAZILY(pthread_spin_init(&spin, 0));
    pthread_spin_lock(&spin);
    enter();
    pthread_spin_unlock(&spin);
    return NULL;
}
static void *use_rwlock(void *unused) {
    LAZILY(pthread_rwlock_init(&rw, NULL));
    pthread_rwlock_wrlock(&rw);
    enter();
    pthread_rwlock_unlock(&rw);
    return NULL;
}
static void *use_semaphore(void *unused) {
    LAZILY(sem_init(&semaphore, 0, 0));
    sem_post(&semaphore);
    return NULL;
}
static void *wait_cond(void *unused) {
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *signal_cond(void *unused) {
    if (!right)
        pthread_cond_init(&cond, NULL);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *wait_barrier(void *unused) {
    pthread_barrier_wait(&barrier);
    return NULL;
}
static void *renew_barrier(void *unused) {
    if (!right)
        pthread_barrier_init(&barrier, NULL, 2);
    pthread_barrier_wait(&barrier);
    return NULL;
}
static void *use_key(void *unused) {
    assert(pthread_setspecific(key, &key) == 0);
    return NULL;
}
static void *delete_key(void *unused) {
    if (!right)
        pthread_key_delete(key);
    return NULL;
}
static void *nothing(void *unused) {
    return NULL;
}
static void *join(void *unused) {
    pthread_join(ended, NULL);
    return NULL;
}
static void *print(void *unused) {
    pthread_mutex_lock(&lock);
    FILE *mine = stream;
    if (!right)
        pthread_mutex_unlock(&lock);
    if (mine)
        fputs("text", mine);
    if (right)
        pthread_mutex_unlock(&lock);
    return NULL;
}
static void *close_stream(void *unused) {
    pthread_mutex_lock(&lock);
    FILE *mine = stream;
    stream = NULL;
    pthread_mutex_unlock(&lock);
    fclose(mine);
    return NULL;
}
static void *use_break(void *unused) {
    __atomic_store_n(old_end + 100, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
static void *take_break(void *unused) {
    sbrk(-16384);
    return NULL;
}
static void *store_one(void *unused) {
    __atomic_store_n(one, 1, __ATOMIC_SEQ_CST);
    return NULL;
}
static void *load_other(void *unused) {
    assert(__atomic_load_n(other, __ATOMIC_SEQ_CST) == 0);
    return NULL;
}

static int counter;
static void *count(void *unused) {
    counter++;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *wait_once(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    right = argc > 2;
    void *(*first)(void *) = nothing, *(*second)(void *) = nothing;
    const char *what = argv[1];
    if (!strcmp(what, "mutex")) {
        pthread_mutex_init(&lazy, NULL);
        first = second = use_mutex;
    } else if (!strcmp(what, "c11")) {
        mtx_init(&lazy_c11, mtx_plain);
        first = second = use_c11;
    } else if (!strcmp(what, "spin")) {
        pthread_spin_init(&spin, 0);
        first = second = use_spin;
    } else if (!strcmp(what, "rwlock")) {
        pthread_rwlock_init(&rw, NULL);
        first = second = use_rwlock;
    } else if (!strcmp(what, "semaphore")) {
        sem_init(&semaphore, 0, 0);
        first = second = use_semaphore;
    } else if (!strcmp(what, "cond")) {
        first = wait_cond, second = signal_cond;
    } else if (!strcmp(what, "barrier")) {
        pthread_barrier_init(&barrier, NULL, 2);
        first = wait_barrier, second = renew_barrier;
    } else if (!strcmp(what, "key")) {
        pthread_key_create(&key, NULL);
        first = use_key, second = delete_key;
    } else if (!strcmp(what, "join")) {
        pthread_create(&ended, NULL, nothing, NULL);
        first = join;
        second = right ? nothing : join;
    } else if (!strcmp(what, "stream")) {
        stream = fopen("/dev/null", "w");
        first = print, second = close_stream;
    } else if (!strcmp(what, "break")) {
        old_end = sbrk(16384);
        first = use_break, second = right ? nothing : take_break;
    } else if (!strcmp(what, "race")) {
        first = second = count;
    } else if (!strcmp(what, "nobody")) {
        first = wait_once;
    } else if (!strcmp(what, "alias")) {
        int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
        assert(ftruncate(file, 4096) == 0);
        one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        first = load_other, second = store_one;
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (!strcmp(what, "semaphore")) {
        int value;
        sem_getvalue(&semaphore, &value);
        assert(value == 2);
    }
    return 0;
}
