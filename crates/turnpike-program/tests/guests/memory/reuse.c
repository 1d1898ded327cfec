/* Addresses that come back: what depends on it, and what only looks like it. Which one is the first argument. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct node *) head;
static _Atomic uint64_t tagged;
static struct node *list, *first, *second;
static int both_gone;

static void start(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

/* A lock-free stack of two: the one pops slowly, the other pops both and pushes a new one. */
static void *pop_slowly(void *unused)
{
    struct node *top = atomic_load(&head), *expected = top;
    if (top == first && atomic_compare_exchange_strong(&head, &expected, second))
        assert(!both_gone);
    return unused;
}

static void *pop_both(void *unused)
{
    struct node *top = first;
    if (!atomic_compare_exchange_strong(&head, &top, NULL))
        return unused;
    both_gone = 1;
    free(second);
    free(first);
    struct node *new = malloc(sizeof *new);
    new->next = NULL;
    atomic_store(&head, new);
    return unused;
}

/* The same with a version beside the pointer. */
static void *pop_slowly_tagged(void *unused)
{
    uint64_t top = atomic_load(&tagged);
    if (top >> 48 == 1 && atomic_compare_exchange_strong(&tagged, &top, (uint64_t)second | (uint64_t)2 << 48))
        assert(!both_gone);
    return unused;
}

static void *pop_both_tagged(void *unused)
{
    uint64_t top = (uint64_t)first | (uint64_t)1 << 48;
    if (!atomic_compare_exchange_strong(&tagged, &top, (uint64_t)2 << 48))
        return unused;
    both_gone = 1;
    free(second);
    free(first);
    struct node *new = malloc(sizeof *new);
    atomic_store(&tagged, (uint64_t)new | (uint64_t)3 << 48);
    return unused;
}

/* The same with a lock that is given up in between: an ordinary comparison. */
static void *compare_later(void *unused)
{
    pthread_mutex_lock(&lock);
    struct node *top = list, *next = top->next;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (list == top && next) {
        list = next;
        assert(!both_gone);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *replace_both(void *unused)
{
    pthread_mutex_lock(&lock);
    if (list == first) {
        both_gone = 1;
        free(second);
        free(first);
        list = calloc(1, sizeof *list);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Correct: each takes what is on top, and frees it. */
static void *push_and_pop(void *unused)
{
    for (int i = 0; i < 2; i++) {
        struct node *node = malloc(sizeof *node);
        node->value = i;
        pthread_mutex_lock(&lock);
        node->next = list;
        list = node;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        node = list;
        list = node->next;
        pthread_mutex_unlock(&lock);
        assert(node->value == 0 || node->value == 1);
        free(node);
    }
    return unused;
}

int main(int count, char **arguments)
{
    const char *which = count > 1 ? arguments[1] : "";
    if (strcmp(which, "push") == 0) {
        start(push_and_pop, push_and_pop);
        return 0;
    }
    second = calloc(1, sizeof *second);
    first = calloc(1, sizeof *first);
    first->next = second;
    list = first;
    atomic_store(&head, first);
    atomic_store(&tagged, (uint64_t)first | (uint64_t)1 << 48);
    if (strcmp(which, "exchange") == 0)
        start(pop_slowly, pop_both);
    else if (strcmp(which, "tagged") == 0)
        start(pop_slowly_tagged, pop_both_tagged);
    else if (strcmp(which, "compare") == 0)
        start(compare_later, replace_both);
    return 0;
}
