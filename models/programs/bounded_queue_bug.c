/*
 * bounded_queue_bug.c: a bounded queue whose producers and consumers wait on one condition variable, woken one at a time.
 *
 * A signal that is meant for the producer may wake the other consumer, who finds nothing, waits again, and keeps the news
 * to himself. The twin bounded_queue_ok.c wakes everybody.
 *
 * Threads: 4 (main, a producer, two consumers).
 * Expected: deadlock. Nothing in the twin.
 * Needs: nothing but a plain compilation.
 * search: => deadlock
 * hooks: => deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { CAPACITY = 1, CONSUMERS = 2, EACH = 2 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int items[CAPACITY];
    int first;
    int length;
};

static struct queue queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0 };

static void tell(struct queue *q)
{
#ifdef FIXED
    pthread_cond_broadcast(&q->changed);
#else
    pthread_cond_signal(&q->changed);
#endif
}

static void put(struct queue *q, int item)
{
    pthread_mutex_lock(&q->lock);
    while (q->length == CAPACITY)
        pthread_cond_wait(&q->changed, &q->lock);
    q->items[(q->first + q->length++) % CAPACITY] = item;
    tell(q);
    pthread_mutex_unlock(&q->lock);
}

static int take(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->length == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    const int item = q->items[q->first];
    q->first = (q->first + 1) % CAPACITY;
    q->length--;
    tell(q);
    pthread_mutex_unlock(&q->lock);
    return item;
}

static void *produce(void *unused)
{
    (void)unused;
    for (int item = 1; item <= CONSUMERS * EACH; item++)
        put(&queue, item);
    return NULL;
}

static void *consume(void *unused)
{
    int last = 0;
    (void)unused;
    for (int i = 0; i < EACH; i++) {
        const int item = take(&queue);
        assert(item > last);
        last = item;
    }
    return NULL;
}

int main(void)
{
    pthread_t producer;
    pthread_t consumers[CONSUMERS];
    pthread_create(&producer, NULL, produce, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    pthread_join(producer, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    assert(queue.length == 0);
    return 0;
}
