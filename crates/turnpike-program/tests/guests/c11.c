/* C11 threads. */
#include <assert.h>
#include <stdlib.h>
#include <threads.h>

static mtx_t lock, twice;
static cnd_t cond;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int ready, made, destroyed;
static thread_local int own = 3;

static void make(void)
{
    made++;
}

static void destroy(void *memory)
{
    destroyed++;
    free(memory);
}

static int worker(void *argument)
{
    call_once(&flag, make);
    assert(made == 1 && own == 3);
    own = 4;
    tss_set(key, malloc(4));
    assert(tss_get(key) != NULL);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&cond, &lock);
    mtx_unlock(&lock);
    assert(mtx_lock(&twice) == thrd_success && mtx_lock(&twice) == thrd_success);
    mtx_unlock(&twice);
    mtx_unlock(&twice);
    if (argument)
        thrd_exit(9);
    return 8;
}

int main(void)
{
    thrd_t a, b;
    int first, second;
    mtx_init(&lock, mtx_plain);
    mtx_init(&twice, mtx_plain | mtx_recursive);
    cnd_init(&cond);
    tss_create(&key, destroy);
    assert(thrd_create(&a, worker, NULL) == thrd_success);
    assert(thrd_create(&b, worker, &lock) == thrd_success);
    mtx_lock(&lock);
    ready = 1;
    cnd_broadcast(&cond);
    mtx_unlock(&lock);
    assert(thrd_join(a, &first) == thrd_success && first == 8);
    assert(thrd_join(b, &second) == thrd_success && second == 9);
    assert(destroyed == 2 && own == 3);
    thrd_yield();
    assert(mtx_trylock(&lock) == thrd_success);
    mtx_unlock(&lock);
    return 0;
}
