/* A program to measure: three threads write, read and change two atomic variables, all in sequentially consistent order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int variables[2];

static void *work(void *number)
{
    for (int i = 0; i < 6; i++) {
        atomic_int *one = &variables[((size_t)number + i) % 2];
        atomic_store(one, i);
        atomic_load(&variables[i % 2]);
        atomic_fetch_add(one, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
