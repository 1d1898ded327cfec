/* Executes a script for each thread: one argument a thread, one letter an operation. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct block {
    pthread_mutex_t own;
    atomic_int count;
    int part[8];
};
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static atomic_int x;
static int plain;
static struct block *block;
static int ends[2], event, set;

static void *run(void *script) {
    int value = 0;
    for (const char *op = script; *op; op++) switch (*op) {
        case 'l': pthread_mutex_lock(&first); break;
        case 'u': pthread_mutex_unlock(&first); break;
        case 't':
            value = !pthread_mutex_trylock(&first);
            if (value) pthread_mutex_unlock(&first);
            break;
        case 'k':
            pthread_mutex_lock(&second);
            pthread_mutex_unlock(&second);
            break;
        case 'd': pthread_mutex_destroy(&second); break;
        case 'q':
            pthread_rwlock_rdlock(&shared);
            value = plain;
            pthread_rwlock_unlock(&shared);
            break;
        case 'Q':
            pthread_rwlock_wrlock(&shared);
            plain++;
            pthread_rwlock_unlock(&shared);
            break;
        case 'g':
            pthread_mutex_lock(&first);
            if (!atomic_load(&x)) pthread_cond_wait(&cond, &first);
            pthread_mutex_unlock(&first);
            break;
        case 'n': pthread_cond_signal(&cond); break;
        case 'w': sem_wait(&semaphore); break;
        case 'p': sem_post(&semaphore); break;
        case 'r': value = atomic_load(&x); break;
        case 's': atomic_store(&x, value + 1); break;
        case 'a': value = atomic_fetch_add(&x, 1); break;
        case 'c': value = 0; atomic_compare_exchange_strong(&x, &value, 5); break;
        case 'R': value = plain; break;
        case 'W': plain = value + 1; break;
        case 'b': block->part[3] = value; break;
        case 'B': value = block->part[1] + block->part[2]; break;
        case 'A': value = atomic_fetch_add(&block->count, 1); break;
        case 'm':
            pthread_mutex_lock(&block->own);
            pthread_mutex_unlock(&block->own);
            break;
        case 'f': free(block); break;
        case '?': if (!value && op[1]) op++; break;
        case 'x': assert(value != 1); break;
        case 'v': assert(write(ends[1], "v", 1) == 1); break;
        case 'V': {
            char byte;
            assert(read(ends[0], &byte, 1) == 1);
            break;
        }
        case 'e': {
            struct pollfd both[] = {{ends[0], POLLIN, 0}, {event, POLLIN, 0}};
            value = poll(both, 2, 0);
            break;
        }
        case 'E': {
            struct epoll_event found;
            value = epoll_wait(set, &found, 1, -1);
            break;
        }
        case 'i': assert(eventfd_write(event, 1) == 0); break;
        case 'I': {
            eventfd_t number;
            assert(eventfd_read(event, &number) == 0);
            value = (int)number;
            break;
        }
        case 'y': sched_yield(); break;
        case 'S': while (!atomic_load(&x)) ; break;
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[8];
    sem_init(&semaphore, 0, 0);
    block = calloc(1, sizeof *block);
    assert(pipe(ends) == 0);
    event = eventfd(0, 0);
    set = epoll_create1(0);
    struct epoll_event arrives = {.events = EPOLLIN | EPOLLET};
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &arrives);
    epoll_ctl(set, EPOLL_CTL_ADD, event, &arrives);
    for (int i = 1; i < count; i++) pthread_create(&threads[i], NULL, run, arguments[i]);
    for (int i = 1; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
