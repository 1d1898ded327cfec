// One thread takes another lock than the rest. The first thread reads the variable again after it wrote it.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER, wrong = PTHREAD_MUTEX_INITIALIZER;
static volatile int data;

static void *check(void *unused) {
    pthread_mutex_lock(&right);
    int before = data;
    data++;
    assert(data == before + 1);
    pthread_mutex_unlock(&right);
    return 0;
}

static void *change(void *unused) {
    pthread_mutex_lock(&wrong);
    data++;
    pthread_mutex_unlock(&wrong);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, check, 0);
    pthread_create(&threads[1], 0, change, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
