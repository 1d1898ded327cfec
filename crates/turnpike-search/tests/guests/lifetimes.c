/* Memory and objects that end while others use them. The first argument names the case; with a second one the same is
   done in a way that is right. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <syslog.h>

static int right;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct thing {
    pthread_mutex_t own;
    atomic_int flag;
    int parts[40];
};
static struct thing *shared;

/* Takes the pointer under the lock; who does it right keeps the lock while using it. */
static struct thing *borrow(void) {
    pthread_mutex_lock(&lock);
    struct thing *mine = shared;
    if (!right || !mine)
        pthread_mutex_unlock(&lock);
    return mine;
}
static void give_back(void) {
    if (right)
        pthread_mutex_unlock(&lock);
}
static struct thing *take(void) {
    pthread_mutex_lock(&lock);
    struct thing *mine = shared;
    shared = NULL;
    pthread_mutex_unlock(&lock);
    return mine;
}

static void *writes(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        mine->parts[7] = 1;
        give_back();
    }
    return NULL;
}
static void *reads_many(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        volatile int sum = 0;
        for (int i = 0; i < 3; i++)
            sum += mine->parts[i];
        give_back();
    }
    return NULL;
}
static void *locks(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        pthread_mutex_lock(&mine->own);
        pthread_mutex_unlock(&mine->own);
        give_back();
    }
    return NULL;
}
static void *counts(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        atomic_fetch_add(&mine->flag, 1);
        give_back();
    }
    return NULL;
}
static void *opens(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        open((char *)mine->parts, O_RDONLY);
        give_back();
    }
    return NULL;
}
static void *logs(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        syslog(LOG_DEBUG, "%s", (char *)mine->parts);
        give_back();
    }
    return NULL;
}
static atomic_int number;
static void *exchanges(void *unused) {
    struct thing *mine = borrow();
    if (mine) {
        atomic_compare_exchange_strong(&number, mine->parts, 1);
        give_back();
    }
    return NULL;
}
static void *frees(void *unused) {
    free(take());
    return NULL;
}
static void *resizes(void *unused) {
    struct thing *mine = take();
    if (mine)
        free(realloc(mine, 4000));
    return NULL;
}
static void *unmaps(void *unused) {
    struct thing *mine = take();
    if (mine)
        munmap(mine, 4096);
    return NULL;
}

/* A double free: a check and a free that are not one. */
static _Atomic(int *) loose;
static void *frees_once(void *unused) {
    if (right) {
        free(atomic_exchange(&loose, NULL));
    } else {
        int *mine = atomic_load(&loose);
        if (mine) {
            atomic_store(&loose, NULL);
            free(mine);
        }
    }
    return NULL;
}

/* The stack of a thread. */
static _Atomic(int *) local;
static atomic_int used;
static void *shows(void *unused) {
    int mine = 1;
    atomic_store(&local, &mine);
    if (right) {
        while (!atomic_load(&used))
            sched_yield();
    }
    return NULL;
}
static void *looks(void *unused) {
    int *other = atomic_load(&local);
    if (other)
        *other = 2;
    atomic_store(&used, 1);
    return NULL;
}

/* Objects that are destroyed. */
static atomic_int gone;
static sem_t semaphore, done;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static const char *kind;

static void *destroys(void *unused) {
    if (right)
        sem_wait(&done);
    if (!strcmp(kind, "mutex"))
        pthread_mutex_destroy(&lock);
    else if (!strcmp(kind, "rwlock"))
        pthread_rwlock_destroy(&rwlock);
    else if (!strcmp(kind, "cond"))
        pthread_cond_destroy(&cond);
    else if (!strcmp(kind, "semaphore"))
        sem_destroy(&semaphore);
    else if (!strcmp(kind, "barrier"))
        pthread_barrier_destroy(&barrier);
    else
        pthread_spin_destroy(&spin);
    return NULL;
}
static void *uses(void *unused) {
    if (!strcmp(kind, "mutex")) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    } else if (!strcmp(kind, "rwlock")) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    } else if (!strcmp(kind, "cond"))
        pthread_cond_signal(&cond);
    else if (!strcmp(kind, "semaphore"))
        sem_post(&semaphore);
    else if (!strcmp(kind, "barrier"))
        pthread_barrier_wait(&barrier);
    else {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
    sem_post(&done);
    return NULL;
}

static int run(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, other, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(shared);
    return 0;
}

int main(int count, char **arguments) {
    kind = arguments[1];
    right = count > 2;
    sem_init(&semaphore, 0, 0);
    sem_init(&done, 0, 0);
    pthread_barrier_init(&barrier, NULL, 1);
    pthread_spin_init(&spin, 0);
    if (!strcmp(kind, "unmap")) {
        shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        run(writes, unmaps);
        return 0;
    }
    if (!strcmp(kind, "twice")) {
        atomic_store(&loose, malloc(4));
        return run(frees_once, frees_once);
    }
    if (!strcmp(kind, "stack"))
        return run(shows, looks);
    struct {
        const char *name;
        void *(*one)(void *), *(*other)(void *);
    } blocks[] = {{"write", writes, frees},  {"read", reads_many, frees},  {"own mutex", locks, frees},
                  {"atomic", counts, frees}, {"resize", reads_many, resizes},
                  {"path", opens, frees},  {"log", logs, frees},        {"exchange", exchanges, frees}};
    for (int i = 0; i < 8; i++)
        if (!strcmp(kind, blocks[i].name)) {
            shared = calloc(1, sizeof *shared);
            return run(blocks[i].one, blocks[i].other);
        }
    return run(destroys, uses);
}
