/* Waits for other threads by reading: a plain flag, an atomic flag, and a lock made of an atomic exchange. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static volatile int go;
static atomic_int ready;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static int inside;

static void enter(void) {
    while (atomic_flag_test_and_set(&lock)) ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_flag_clear(&lock);
}

static void *waiter(void *unused) {
    while (!go) ;
    while (!atomic_load(&ready)) ;
    enter();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    go = 1;
    atomic_store(&ready, 1);
    enter();
    pthread_join(thread, 0);
    return 0;
}
