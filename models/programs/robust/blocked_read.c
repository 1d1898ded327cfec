/*
 * blocked_read.c: a thread reads from a pipe that nobody writes to. Expected: a deadlock.
 *
 * search: => deadlock
 */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *reader(void *unused)
{
    char byte;
    (void)unused;
    pthread_mutex_lock(&lock);
    const ssize_t got = read(ends[0], &byte, 1);
    pthread_mutex_unlock(&lock);
    return got == 1 ? &ends[0] : NULL;
}

int main(void)
{
    pthread_t thread;
    if (pipe(ends) != 0)
        return 2;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_join(thread, NULL);
    return 0;
}
