/* A thread waits for a plain flag; another reads a variable a few times, and waits for nothing. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static volatile int go;
static int message;
static atomic_int other;

static void *waiter(void *unused) {
    while (!go) ;
    assert(message == 7);
    return unused;
}

static void *reader(void *unused) {
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += atomic_load(&other);
    assert(sum == 0);
    return unused;
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, waiter, 0);
    pthread_create(&threads[1], 0, reader, 0);
    if (count < 2) {
        message = 7;
        go = 1;
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
