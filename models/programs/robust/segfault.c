/*
 * segfault.c: writes to nowhere, if it is the second to get the lock. Expected: a crash (SIGSEGV), in half of all schedules.
 *
 * search: => crash
 */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turn;

static void *first(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    turn++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *second(void *unused)
{
    static int value;
    (void)unused;
    pthread_mutex_lock(&lock);
    int *volatile where = turn == 0 ? &value : NULL;
    *where = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
