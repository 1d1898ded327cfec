/* Loops that wait, and atomics of several sizes, for weak memory. The argument says which. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static atomic_int flag, lock, next_ticket, serving, data;
static atomic_flag held = ATOMIC_FLAG_INIT;
static union {
    _Atomic uint64_t whole;
    _Atomic uint32_t half[2];
} word;
static volatile int plain[2];
static int seen[3];
static int counter;

static void *publish(void *argument)
{
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, argument ? memory_order_release : memory_order_relaxed);
    return NULL;
}

static void *take_ticket(void *argument)
{
    int mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
        ;
    counter++;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
    return argument;
}

static void *compare_and_swap(void *argument)
{
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &free, 1, memory_order_acquire, memory_order_relaxed))
        free = 0;
    counter++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return argument;
}

static void *test_and_set(void *argument)
{
    while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire))
        ;
    counter++;
    atomic_flag_clear_explicit(&held, memory_order_release);
    return argument;
}

static void *store_whole(void *argument)
{
    atomic_store(&word.whole, 0x500000007);
    return argument;
}

static void *load_halves(void *argument)
{
    seen[0] = atomic_load(&word.half[1]);
    seen[1] = atomic_load(&word.half[0]);
    seen[2] = atomic_load(&word.half[1]);
    return argument;
}

static void *store_left(void *argument)
{
    plain[0] = 1;
    seen[0] = plain[1];
    return argument;
}

static void *store_right(void *argument)
{
    plain[1] = 1;
    seen[1] = plain[0];
    return argument;
}

struct pair {
    int first, second;
};
static _Atomic(struct pair *) shown;
static int writes;

static void *show(void *argument)
{
    struct pair local;
    if (writes)
        local.first = 7;
    atomic_store(&shown, &local);
    while (!atomic_load(&flag))
        ;
    return argument;
}

static void *look(void *argument)
{
    struct pair *other, copy;
    while (!(other = atomic_load(&shown)))
        ;
    if (writes)
        copy = *other; /* The second member has no value, and nobody uses it. */
    seen[0] = writes ? copy.first : other->first;
    atomic_store(&flag, 1);
    return argument;
}

static void run(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void wait_for_message(int release)
{
    pthread_t sender;
    pthread_create(&sender, NULL, publish, release ? "" : NULL);
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    assert(atomic_load_explicit(&data, memory_order_relaxed) == 1);
    pthread_join(sender, NULL);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    if (!strcmp(what, "message"))
        wait_for_message(1);
    if (!strcmp(what, "relaxed message"))
        wait_for_message(0);
    if (!strcmp(what, "ticket")) {
        run(take_ticket, take_ticket);
        assert(counter == 2);
    }
    if (!strcmp(what, "compare"))
        run(compare_and_swap, compare_and_swap);
    if (!strcmp(what, "test and set"))
        run(test_and_set, test_and_set);
    if (!strcmp(what, "halves")) {
        run(store_whole, load_halves);
        assert(!(seen[0] == 5 && (seen[1] == 0 || seen[2] == 0)));
    }
    if (!strcmp(what, "written")) {
        writes = 1;
        run(show, look);
    }
    if (!strcmp(what, "unwritten"))
        run(show, look);
    if (!strcmp(what, "plain")) {
        run(store_left, store_right);
        assert(seen[0] || seen[1]);
    }
    return 0;
}
