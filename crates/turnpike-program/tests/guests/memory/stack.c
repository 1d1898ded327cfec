/* A variable on the main thread's stack is shared with another thread. */
#include <assert.h>
#include <pthread.h>

static void *increment(void *argument) {
    int *value = argument;
    *value += 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    int value = 0;
    pthread_create(&thread, 0, increment, &value);
    increment(&value);
    pthread_join(thread, 0);
    assert(value == 2);
    return 0;
}
