/*
 * close_all.c: closes every descriptor, those of others included, then deadlocks. Expected: the deadlock.
 *
 * search: => deadlock
 */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *stuck(void *unused)
{
    (void)unused;
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        close(descriptor);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, stuck, NULL);
    pthread_join(thread, NULL);
    return 0;
}
