/*
 * aba_stack_bug.c: a lock-free stack of free slots, in C11 atomics, which mistakes a head that came back for one that never left.
 *
 * A thread that takes a slot reads the head A and its successor B. Meanwhile another takes A and B and gives A back. The head is A
 * again, the exchange succeeds and makes B the head: B, which somebody uses, is free. The next to take it shares it. In the twin
 * aba_stack_ok.c the head has a counter beside it that grows with every exchange.
 *
 * Threads: 3 (main, two users). Context switches of a shortest failure: 3.
 * Expected: assertion "one user per slot". Nothing in the twin.
 * Needs: -fsanitize=thread objects, which make atomics visible.
 * hooks: => assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>

enum { SLOTS = 3, NONE = SLOTS };

/* The counter is in the upper half; without the fix it stays 0. */
static _Atomic uint64_t head;
static _Atomic uint32_t next_of[SLOTS];
static atomic_int users[SLOTS];

static uint64_t new_head(uint64_t old, uint32_t slot)
{
#ifdef FIXED
    return ((old >> 32) + 1) << 32 | slot;
#else
    (void)old;
    return slot;
#endif
}

static uint32_t take(void)
{
    uint64_t old = atomic_load(&head);
    for (;;) {
        const uint32_t slot = (uint32_t)old;
        if (slot == NONE)
            return NONE;
        const uint32_t next = atomic_load(&next_of[slot]);
        if (atomic_compare_exchange_strong(&head, &old, new_head(old, next)))
            return slot;
    }
}

static void give_back(uint32_t slot)
{
    uint64_t old = atomic_load(&head);
    do
        atomic_store(&next_of[slot], (uint32_t)old);
    while (!atomic_compare_exchange_strong(&head, &old, new_head(old, slot)));
}

static void use(uint32_t slot)
{
    if (slot == NONE)
        return;
    assert(atomic_fetch_add(&users[slot], 1) == 0 && "one user per slot");
}

static void leave(uint32_t slot)
{
    if (slot == NONE)
        return;
    atomic_fetch_sub(&users[slot], 1);
    give_back(slot);
}

static void *user(void *unused)
{
    (void)unused;
    const uint32_t one = take();
    use(one);
    const uint32_t two = take();
    use(two);
    leave(one);
    const uint32_t three = take();
    use(three);
    leave(two);
    leave(three);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        atomic_store(&next_of[slot], slot + 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
