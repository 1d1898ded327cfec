/* A pipe between two threads: not controlled, but it works. */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *unused)
{
    char byte = 'x';
    assert(write(ends[1], &byte, 1) == 1);
    close(ends[1]);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char byte = 0;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, writer, NULL);
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    assert(read(ends[0], &byte, 1) == 0);
    pthread_join(thread, NULL);
    return 0;
}
