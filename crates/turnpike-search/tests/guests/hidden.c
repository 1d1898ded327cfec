/* A counter whose accesses the sanitizer is told to leave out: an update may be lost, and nobody sees it. */
#include <pthread.h>

#define HIDDEN __attribute__((no_sanitize("thread"), noinline))

static int counter;

HIDDEN static int get(void) {
    return counter;
}
HIDDEN static void set(int value) {
    counter = value;
}
static void *count(void *unused) {
    set(get() + 1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return get() != 2;
}
