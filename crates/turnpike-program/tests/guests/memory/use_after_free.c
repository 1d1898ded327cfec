/* One thread frees what the other may still read. */
#include <pthread.h>
#include <stdlib.h>

struct node { long pad; int value; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *shared;
static int sum;

static void *reader(void *unused) {
    pthread_mutex_lock(&lock);
    struct node *node = shared;
    pthread_mutex_unlock(&lock);
    if (node) {
        pthread_mutex_lock(&lock);
        sum += node->value;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *owner(void *unused) {
    pthread_mutex_lock(&lock);
    struct node *node = shared;
    shared = 0;
    free(node);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    shared = calloc(1, sizeof *shared);
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, owner, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
