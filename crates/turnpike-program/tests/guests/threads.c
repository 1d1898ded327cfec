/* Threads: values, identity, thread-local state, detaching, leaving early, many one after the other. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static __thread int own = 7;
static __thread char zeros[64];
static int cleaned;
static pthread_t main_thread;

static void *twice(void *argument)
{
    assert(own == 7 && zeros[0] == 0 && zeros[63] == 0);
    own = (int)(intptr_t)argument;
    memset(zeros, 1, sizeof zeros);
    errno = own;
    assert(!pthread_equal(pthread_self(), main_thread));
    free(malloc(100));
    assert(errno == own);
    return (void *)(intptr_t)(2 * own);
}

static void clean(void *amount)
{
    cleaned += (int)(intptr_t)amount;
}

static void deeper(void)
{
    pthread_cleanup_push(clean, (void *)1);
    pthread_exit((void *)42);
    pthread_cleanup_pop(0);
}

static void *leaver(void *unused)
{
    pthread_cleanup_push(clean, (void *)10);
    deeper();
    pthread_cleanup_pop(0);
    return unused;
}

static void *nothing(void *argument)
{
    return argument;
}

static void *fails_to_join(void *other)
{
    assert(pthread_join(pthread_self(), NULL) == EDEADLK);
    return other;
}

static int recurse(int n)
{
    volatile char room[1000];
    room[n % 1000] = (char)n;
    return n == 0 ? room[0] : recurse(n - 1) + room[n % 1000] - (char)n;
}

static void *deep(void *unused)
{
    assert(recurse(2000) == 0);
    return unused;
}

int main(void)
{
    pthread_t threads[3], other;
    void *result;
    pthread_attr_t detached;
    struct timespec past = { 0, 0 };

    main_thread = pthread_self();
    for (intptr_t i = 0; i < 3; i++)
        assert(pthread_create(&threads[i], NULL, twice, (void *)(i + 1)) == 0);
    for (intptr_t i = 0; i < 3; i++) {
        assert(pthread_join(threads[i], &result) == 0);
        assert((intptr_t)result == 2 * (i + 1));
    }
    assert(own == 7);
    /* Stacks and thread-local storage are used again, as new. */
    for (intptr_t i = 0; i < 20; i++) {
        assert(pthread_create(&other, NULL, twice, (void *)i) == 0);
        assert(pthread_join(other, &result) == 0 && (intptr_t)result == 2 * i);
    }
    assert(pthread_create(&other, NULL, leaver, NULL) == 0);
    assert(pthread_join(other, &result) == 0 && (intptr_t)result == 42);
    assert(cleaned == 11);
    assert(pthread_create(&other, NULL, deep, NULL) == 0);
    assert(pthread_join(other, NULL) == 0);
    assert(pthread_create(&other, NULL, fails_to_join, NULL) == 0);
    assert(pthread_join(other, NULL) == 0);
    assert(pthread_create(&other, NULL, nothing, (void *)5) == 0);
    while (pthread_tryjoin_np(other, &result) == EBUSY)
        ;
    assert((intptr_t)result == 5);
    assert(pthread_create(&other, NULL, nothing, NULL) == 0);
    assert(pthread_timedjoin_np(other, NULL, &past) == 0 || pthread_join(other, NULL) == 0);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    assert(pthread_create(&other, &detached, nothing, NULL) == 0);
    assert(pthread_create(&other, NULL, nothing, NULL) == 0);
    assert(pthread_detach(other) == 0);
    return 0;
}
