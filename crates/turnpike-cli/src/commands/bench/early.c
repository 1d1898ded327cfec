/* A program to measure: a hundred steps, each with some work, before three threads take a lock twice each. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned table[4096];
static int count;

static void work(unsigned number)
{
    for (int i = 0; i < 100000; i++) {
        number = number * 1664525 + 1013904223;
        table[number >> 20] += number;
    }
}

static void *thread(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (unsigned i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        work(i);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return count == 6 ? 0 : 1;
}
