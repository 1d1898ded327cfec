/*
 * hog.c: asks for 4 GiB and writes to some of it, or to `all` of it. Expected: nothing, or that there is no memory (exit code 3), or the end of the
 * process by the system. turnpike survives.
 *
 * search: --max-executions 3 => anything
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t stride = (size_t)1 << 20;

static void *hog(void *unused)
{
    const size_t size = (size_t)4 << 30;
    (void)unused;
    pthread_mutex_lock(&lock);
    volatile char *memory = malloc(size);
    if (memory == NULL)
        exit(3);
    for (size_t i = 0; i < size; i += stride)
        memory[i] = 1;
    free((void *)memory);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int count, char **words)
{
    pthread_t thread;
    if (count > 1 && strcmp(words[1], "all") == 0)
        stride = 4096;
    pthread_create(&thread, NULL, hog, NULL);
    pthread_join(thread, NULL);
    return 0;
}
