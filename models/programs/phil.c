/*
 * phil.c: dining philosophers who toss a coin for the fork that they take first.
 *
 * N forks are semaphores; philosopher i sits between fork i (left) and fork i + 1 (right). A round has five visible steps: the toss,
 * two waits, two posts. When all have taken their left forks, or all their right ones, nobody can eat any more. The
 * shortest way there takes 2 N steps: N tosses and N first forks. With 17 philosophers this is the program PHIL of Godefroid and Khurshid.
 *
 * Usage: phil [N [ROUNDS]]     N philosophers (17), ROUNDS each (0 = for ever)
 *
 * Threads: N + 1. Context switches of a shortest deadlock: N.
 * Expected: deadlock.
 * search: --strategy bfs -- 3 => deadlock steps=6
 * search: --strategy exhaustive -- 3 1 => deadlock
 * search: --strategy genetic --depth 100 --no-shorten => deadlock
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "turnpike.h"

enum { MOST = 200 };

static int philosophers = 17;
static long rounds = 0;
static sem_t forks[MOST];

static void *philosopher(void *argument)
{
    const int seat = (int)(intptr_t)argument;
    sem_t *const left = &forks[seat];
    sem_t *const right = &forks[(seat + 1) % philosophers];
    for (long round = 0; rounds == 0 || round < rounds; round++) {
#if defined(ORDERED)
        /* The fork with the smaller number first: no circle of waiting can close. */
        const int left_first = left < right;
#elif defined(PARITY)
        const int left_first = tp_toss(1) == seat % 2;
#else
        const int left_first = tp_toss(1) == 0;
#endif
        sem_wait(left_first ? left : right);
        sem_wait(left_first ? right : left);
        /* Now they eat. */
        sem_post(left);
        sem_post(right);
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[MOST];
    if (count > 1)
        philosophers = atoi(words[1]);
    if (count > 2)
        rounds = atol(words[2]);
    if (philosophers < 2 || philosophers > MOST) {
        fprintf(stderr, "phil: from 2 to %d philosophers\n", MOST);
        return 2;
    }
    for (int i = 0; i < philosophers; i++)
        sem_init(&forks[i], 0, 1);
    for (int i = 0; i < philosophers; i++)
        if (pthread_create(&threads[i], NULL, philosopher, (void *)(intptr_t)i) != 0)
            return 2;
    for (int i = 0; i < philosophers; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
