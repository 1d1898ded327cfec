/*
 * lock_order_bug.c: money moves between two accounts, each with a lock of its own; the payer's is taken first.
 *
 * Two transfers in opposite directions can each hold one lock and want the other. The twin lock_order_ok.c takes the lock of the account
 * with the smaller number first.
 *
 * Threads: 3 (main, two clerks). Context switches of a shortest deadlock: 2.
 * Expected: deadlock. Nothing in the twin.
 * Needs: nothing but a plain compilation.
 * search: => deadlock
 * search: --strategy exhaustive => deadlock
 * hooks: => deadlock
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[2] = {
    { PTHREAD_MUTEX_INITIALIZER, 100 },
    { PTHREAD_MUTEX_INITIALIZER, 100 },
};

struct order {
    int from;
    int to;
    long amount;
};

static void transfer(const struct order *order)
{
    struct account *first = &accounts[order->from];
    struct account *second = &accounts[order->to];
#ifdef FIXED
    if (first > second) {
        struct account *swap = first;
        first = second;
        second = swap;
    }
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    accounts[order->from].balance -= order->amount;
    accounts[order->to].balance += order->amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *clerk(void *order)
{
    transfer(order);
    transfer(order);
    return NULL;
}

int main(void)
{
    struct order orders[2] = { { 0, 1, 30 }, { 1, 0, 5 } };
    pthread_t clerks[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&clerks[i], NULL, clerk, &orders[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(clerks[i], NULL);
    assert(accounts[0].balance == 50 && accounts[1].balance == 150);
    return 0;
}
