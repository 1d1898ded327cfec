/*
 * bbuf_bug.c: a bounded buffer whose consumers wait until there is something, let go of the lock, and take it later.
 *
 * Two consumers may have seen the same item. The second one takes what is not there: the buffer's count falls below zero. With as many
 * items as consumers, all but one consumer must have come and gone, or look at the same item. In the twin bbuf_ok.c
 * seeing and taking are one critical section.
 *
 * Threads: 1 + producers + consumers (three and three, or as the arguments say). Context switches of a shortest failure: 3.
 * Expected: assertion "an item for each". Nothing in the twin.
 * search: => assertion
 * search: -- 8 8 => assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MOST = 64, ROOM = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int items[ROOM], first, count;

static void *produce(void *number)
{
    pthread_mutex_lock(&lock);
    while (count == ROOM)
        pthread_cond_wait(&not_full, &lock);
    items[(first + count) % ROOM] = (int)(long)number;
    count++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    assert(count > 0 && "an item for each");
    first = (first + 1) % ROOM;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    int producers = argc > 1 ? atoi(argv[1]) : 3, consumers = argc > 2 ? atoi(argv[2]) : producers;
    pthread_t threads[2 * MOST];
    if (producers < 0 || producers > MOST || consumers < 0 || consumers > MOST)
        return 2;
    for (long i = 0; i < producers; i++)
        pthread_create(&threads[i], 0, produce, (void *)i);
    for (long i = 0; i < consumers; i++)
        pthread_create(&threads[producers + i], 0, consume, 0);
    for (int i = 0; i < producers + consumers; i++)
        pthread_join(threads[i], 0);
    return 0;
}
