/* One thread writes to a block that the other may have freed. For builds without instrumentation. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *shared;

static void *writer(void *unused) {
    pthread_mutex_lock(&lock);
    long *mine = shared;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (mine) mine[2] = 7;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *owner(void *unused) {
    pthread_mutex_lock(&lock);
    free(shared);
    shared = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    shared = malloc(4 * sizeof *shared);
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, owner, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
