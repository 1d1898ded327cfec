/* The same with a lock: no race, no lost update. Neighbouring bytes belong to different threads. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static char own[2];

struct box { int value; };

static void *increment(void *argument) {
    int me = *(int *)argument;
    own[me] = 1;
    struct box *box = malloc(sizeof *box);
    box->value = me;
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    free(box);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, increment, &names[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(counter == 2 && own[0] && own[1]);
    return 0;
}
