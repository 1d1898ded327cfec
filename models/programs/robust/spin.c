/*
 * spin.c: a thread computes for ever, with no visible operation. Expected: reported as hung.
 *
 * search: => hang
 */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *spin(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (volatile unsigned long i = 0;; i++)
        continue;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    pthread_join(thread, NULL);
    return 0;
}
