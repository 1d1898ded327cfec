/*
 * leave.c: a thread ends the whole process with _exit, without a word. Expected: a crash (exit code 7), in every schedule that gets there.
 *
 * search: => crash
 */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *leave(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    _exit(7);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, leave, NULL);
    pthread_join(thread, NULL);
    return 0;
}
