/*
 * double_free_bug.c: two threads empty the same slot of a cache: look under the lock, let go, and come back to remove.
 *
 * Both find the same entry, both free it. The twin double_free_ok.c looks and removes under one lock.
 *
 * Threads: 3 (main, two that evict). Context switches of a shortest failure: 2.
 * Expected: a double free. Nothing in the twin.
 * Needs: nothing but a plain compilation.
 * search: => heap
 * hooks: => heap
 */
#include <pthread.h>
#include <stdlib.h>

struct entry {
    int key;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *slot;

static void *evict(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    struct entry *victim = slot;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    slot = NULL;
    pthread_mutex_unlock(&lock);
    free(victim);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    slot = calloc(1, sizeof *slot);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, evict, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
