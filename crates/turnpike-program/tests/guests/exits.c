/* Ways out of a process, by the first argument. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void handler(void)
{
    pthread_mutex_lock(&lock);
    printf("handler\n");
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *leaver(void *how)
{
    if (strcmp(how, "thread") == 0)
        exit(0);
    _exit(5);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *how = argc > 1 ? argv[1] : "";
    atexit(handler);
    if (strcmp(how, "return") == 0) {
        pthread_create(&thread, NULL, worker, NULL);
        return 0;
    }
    if (strcmp(how, "pthread_exit") == 0) {
        pthread_create(&thread, NULL, worker, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(how, "thread") == 0 || strcmp(how, "thread5") == 0) {
        pthread_create(&thread, NULL, leaver, (void *)how);
        pthread_join(thread, NULL);
        return 1;
    }
    if (strcmp(how, "status") == 0)
        exit(3);
    if (strcmp(how, "quick") == 0)
        quick_exit(0);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "fork") == 0)
        return fork() == 0;
    if (strcmp(how, "system") == 0)
        return system("true");
    if (strcmp(how, "null") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(how, "divide") == 0) {
        volatile int seven = 7, zero = done;
        return seven / zero;
    }
    if (strcmp(how, "assert") == 0)
        assert(done == 1 && "it is done");
    if (strcmp(how, "pipe") == 0) {
        int ends[2];
        char byte;
        if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1)
            return 0;
    }
    return 0;
}
