/* A thread that recurses without end. */
#include <pthread.h>
#include <stdlib.h>

static int deeper(int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    return deeper(n + 1) + room[0];
}

static void *overflow(void *unused)
{
    exit(deeper(0));
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, overflow, NULL);
    pthread_join(thread, NULL);
    return 0;
}
