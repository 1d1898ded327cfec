/* Philosophers who toss for the fork to take first: all left or all right is a deadlock. */
#include <pthread.h>
#include <stdint.h>
#include "turnpike.h"

enum { N = 3 };
static pthread_mutex_t forks[N];

static void *philosopher(void *seat)
{
    int i = (int)(intptr_t)seat, left = i, right = (i + 1) % N;
    int first = tp_toss(1) == 0 ? left : right;
    int second = first == left ? right : left;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
