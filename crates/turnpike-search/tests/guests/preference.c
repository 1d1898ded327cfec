/* A lock that prefers writers does not let a reader in again while a writer waits; waiters of a futex that are moved to
   another one wake up with it. The first argument says which: "lock", "static" or "moved"; with a second one, the reader does
   not read again. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_rwlock_t made, fixed = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP, *lock = &fixed;
static atomic_int word, other;
static int again = 1;

static void *read_twice(void *unused) {
    pthread_rwlock_rdlock(lock);
    if (again) {
        pthread_rwlock_rdlock(lock);
        pthread_rwlock_unlock(lock);
    }
    pthread_rwlock_unlock(lock);
    return NULL;
}
static void *write_once(void *unused) {
    pthread_rwlock_wrlock(lock);
    pthread_rwlock_unlock(lock);
    return NULL;
}
static void *wait_for_word(void *unused) {
    while (!atomic_load(&word))
        syscall(SYS_futex, &word, 0 /* wait */, 0, NULL, NULL, 0);
    return NULL;
}
static void *move_waiters(void *unused) {
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, 3 /* requeue */, 0, (void *)1, &other, 0);
    syscall(SYS_futex, &other, 1 /* wake */, 1, NULL, NULL, 0);
    return NULL;
}

int main(int argc, char **argv) {
    int moved = !strcmp(argv[1], "moved");
    again = argc == 2;
    if (!strcmp(argv[1], "lock")) {
        pthread_rwlockattr_t kind;
        pthread_rwlockattr_init(&kind);
        pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&made, &kind);
        lock = &made;
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, moved ? wait_for_word : read_twice, NULL);
    pthread_create(&threads[1], NULL, moved ? move_waiters : write_once, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
