/* A message is published by an atomic flag: no race, and the reader never sees half of it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int message[3];
static atomic_int ready;

static void *writer(void *unused) {
    for (int i = 0; i < 3; i++) message[i] = i + 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

static void *reader(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(message[0] == 1 && message[1] == 2 && message[2] == 3);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, reader, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
