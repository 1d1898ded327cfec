/* One thread writes data and publishes it, the other reads it when it finds it published. Which of them race is said
 * by the memory orders; CASE chooses them. Odd cases have a race. */
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int flag, other;
static __int128 wide __attribute__((aligned(16)));

#define O(name) memory_order_##name

static void publish(void) {
    int one = 1, seven = 7;
#if CASE == 1
    atomic_store_explicit(&flag, 1, O(relaxed));
#elif CASE == 2
    atomic_store_explicit(&flag, 1, O(release));
#elif CASE == 3
    atomic_store_explicit(&flag, 1, O(release));
#elif CASE == 4
    flag = 1;
#elif CASE == 5 || CASE == 6
    atomic_thread_fence(O(release));
    atomic_store_explicit(&flag, 1, O(relaxed));
#elif CASE == 7
    atomic_fetch_add_explicit(&flag, 1, O(acquire));
#elif CASE == 8
    atomic_fetch_add_explicit(&flag, 1, O(acq_rel));
#elif CASE == 9
    atomic_compare_exchange_strong_explicit(&flag, &seven, 1, O(seq_cst), O(seq_cst));
    atomic_store_explicit(&flag, 1, O(relaxed));
#elif CASE == 10
    atomic_store_explicit(&flag, 1, O(release));
    atomic_fetch_or_explicit(&flag, 2, O(relaxed));
#elif CASE == 11
    atomic_store_explicit(&flag, 1, O(release));
    atomic_store_explicit(&flag, 3, O(relaxed));
#elif CASE == 12
    __sync_lock_release(&other);
    __sync_fetch_and_add(&flag, 1);
#elif CASE == 13
    atomic_exchange_explicit(&flag, 1, O(relaxed));
#elif CASE == 14
    atomic_compare_exchange_weak_explicit(&flag, &(int){0}, 1, O(release), O(relaxed));
#elif CASE == 15 || CASE == 16
    __int128 zero = 0;
    __atomic_compare_exchange_n(&wide, &zero, (__int128)1, 0, CASE == 15 ? __ATOMIC_RELAXED : __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
#elif CASE == 17
    __sync_synchronize();
    atomic_store_explicit(&flag, 1, O(relaxed));
#elif CASE == 18
    __sync_synchronize();
    atomic_store_explicit(&flag, 1, O(relaxed));
#endif
}

static int published(void) {
#if CASE == 3
    return atomic_load_explicit(&flag, O(relaxed));
#elif CASE == 5
    return atomic_load_explicit(&flag, O(relaxed));
#elif CASE == 6 || CASE == 18
    if (!atomic_load_explicit(&flag, O(relaxed))) return 0;
    atomic_thread_fence(O(acquire));
    return 1;
#elif CASE == 10 || CASE == 11
    return atomic_load_explicit(&flag, O(acquire)) == 3;
#elif CASE == 15 || CASE == 16
    __int128 none = 5;
    return !__atomic_compare_exchange_n(&wide, &none, none, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE) && none == 1;
#elif CASE == 17
    return atomic_load_explicit(&flag, O(relaxed));
#else
    return atomic_load_explicit(&flag, O(acquire));
#endif
}

static void *writer(void *unused) {
    data = 42;
    publish();
    return unused;
}

static void *reader(void *unused) {
    if (published()) return (void *)(long)data;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
