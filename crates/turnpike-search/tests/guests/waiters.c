/* Threads that wait for each other for ever, by reading. The argument chooses how. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int one_is_done, other_is_done, held;

static void *waits_for_other(void *unused)
{
    while (!atomic_load(&other_is_done))
        ;
    atomic_store(&one_is_done, 1);
    return unused;
}

static void *waits_for_one(void *unused)
{
    while (!atomic_load(&one_is_done))
        ;
    atomic_store(&other_is_done, 1);
    return unused;
}

/* Keeps a spin lock while it waits for somebody who wants it. */
static void *keeps(void *unused)
{
    while (atomic_exchange(&held, 1))
        sched_yield();
    while (!atomic_load(&other_is_done))
        sched_yield();
    atomic_store(&held, 0);
    return unused;
}

static void *wants(void *unused)
{
    while (atomic_exchange(&held, 1))
        ;
    atomic_store(&other_is_done, 1);
    atomic_store(&held, 0);
    return unused;
}

int main(int count, char **arguments)
{
    int keep = count > 1 && !strcmp(arguments[1], "keeps");
    pthread_t a, b;
    pthread_create(&a, 0, keep ? keeps : waits_for_other, 0);
    pthread_create(&b, 0, keep ? wants : waits_for_one, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
