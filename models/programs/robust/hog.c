/* hog.c: asks for 4 GiB and writes to all of it. Expected: no memory (exit code 3), a crash, or, on a large machine, nothing. turnpike survives. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hog(void *unused)
{
    const size_t size = (size_t)4 << 30;
    (void)unused;
    pthread_mutex_lock(&lock);
    volatile char *memory = malloc(size);
    if (memory == NULL)
        exit(3);
    for (size_t i = 0; i < size; i += 4096)
        memory[i] = 1;
    free((void *)memory);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, hog, NULL);
    pthread_join(thread, NULL);
    return 0;
}
