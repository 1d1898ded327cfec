/* Compilers expand comparisons with constants, and short ones, and then report no reads. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char text[4] = "a", same[4] = "a";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *rewrites(void *none) {
    pthread_mutex_lock(&mutex);
    text[0] = 'c';
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    text[0] = 'a';
    pthread_mutex_unlock(&mutex);
    return none;
}

static void *compares(void *none) {
    assert(!memcmp(text, same, 4));
    return none;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, rewrites, NULL);
    pthread_create(&second, NULL, compares, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
