/* Both threads take the same pointer, and both free it. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *shared;

static void *drop(void *unused) {
    pthread_mutex_lock(&lock);
    char *mine = shared;
    pthread_mutex_unlock(&lock);
    if (mine) {
        pthread_mutex_lock(&lock);
        shared = 0;
        free(mine);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    shared = malloc(100);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, drop, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
