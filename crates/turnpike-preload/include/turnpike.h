/*
 * turnpike.h: what a C or C++ program can say to the scheduler that tests it.
 *
 * Nothing has to be linked. Under turnpike the functions are served by the library that it preloads; without it they are
 * plain code: a toss is rand(), an assertion aborts, a queue is a mutex and two condition variables, marks do nothing.
 *
 *     int  tp_toss(n)                       a number from 0 to n, every one of which is tried
 *     tp_assert(e)                          e must hold; counts for the search even when it does
 *     tp_assume(e), turnpike_assume(e)      executions in which e does not hold are not searched further, and prove nothing wrong
 *     tp_queue *tp_queue_create(capacity)   a queue of messages; negative: without bound
 *     void tp_msg_send(q, data, size)       append a copy; waits while the queue is full
 *     long tp_msg_recv(q, data, size)       take the first message, its size is returned; waits while the queue is empty
 *     long tp_msg_try_recv(q, data, size)   the same, -1 instead of waiting
 *     tp_message()                          a message was exchanged by other means
 *     tp_shared_read(p), tp_shared_write(p) the next access to *p is a step of its own
 *     tp_atomic_begin(), tp_atomic_end()    between them no other thread is in such a section
 *     tp_begin(), tp_end()                  with --around marks: schedule threads between them only
 *     tp_may_access(p, writes)              this thread may touch *p some time, and modify it if `writes`
 *     tp_may_use(q, writes)                 this thread may use the queue some time
 *     int  tp_controlled()                  whether turnpike runs the program
 *
 * The last lines but two are for partial-order reduction with persistent sets (--reduction persistent): a thread that makes
 * any such declaration promises to touch nothing else, other than through threads that it creates. It must make them
 * before its first step. Threads that make none may do anything.
 *
 * VS_toss and VS_assert are the names that VeriSoft has for the first two.
 */
#ifndef TURNPIKE_H
#define TURNPIKE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From unistd.h, which hides it from strict C. */
extern long syscall(long number, ...);

#if defined(__GNUC__)
#define TP_UNUSED __attribute__((unused)) static
/* Part of whoever calls it, so that steps are told with the caller's line. */
#define TP_INLINE __attribute__((unused, always_inline)) static __inline__
#else
#define TP_UNUSED static
#define TP_INLINE static
#endif

/* Requests are system calls that no kernel has; the library answers them in the kernel's place. */
enum {
    TP_CALL_PRESENT = 0x10700000,
    TP_CALL_TOSS,
    TP_CALL_ASSERT,
    TP_CALL_QUEUE,
    TP_CALL_SEND,
    TP_CALL_RECV,
    TP_CALL_TRY_RECV,
    TP_CALL_READ,
    TP_CALL_WRITE,
    TP_CALL_ATOMIC_BEGIN,
    TP_CALL_ATOMIC_END,
    TP_CALL_MAY_ACCESS,
    TP_CALL_MESSAGE,
    TP_CALL_MAY_USE,
    TP_CALL_ASSUME,
    TP_CALL_BEGIN,
    TP_CALL_END
};

/* All threads write the same value: no race to be told. */
#if defined(__GNUC__)
__attribute__((no_sanitize("thread")))
#endif
TP_UNUSED int tp_controlled(void)
{
    static int known; /* 1 = no, 2 = yes */
    if (known == 0)
        known = syscall((long)TP_CALL_PRESENT, &known, sizeof known) == 1 ? 2 : 1;
    return known == 2;
}

TP_INLINE int tp_toss(int n)
{
    if (n < 0)
        n = 0;
    if (tp_controlled())
        return (int)syscall((long)TP_CALL_TOSS, (long)n);
    return (int)((unsigned)rand() % ((unsigned)n + 1u));
}

TP_INLINE void tp_assert_at(int holds, const char *text, const char *file, int line)
{
    if (tp_controlled()) {
        syscall((long)TP_CALL_ASSERT, (long)(holds != 0), text, file, (long)line);
    } else if (!holds) {
        fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, text);
        abort();
    }
}

/* Executions in which it does not hold do not matter. Outside control the process ends. */
TP_INLINE void tp_assume(int holds)
{
    if (tp_controlled())
        syscall((long)TP_CALL_ASSUME, (long)(holds != 0));
    else if (!holds)
        exit(0);
}

/* With --around marks, threads are scheduled between these only. */
TP_INLINE void tp_begin(void)
{
    if (tp_controlled())
        syscall((long)TP_CALL_BEGIN);
}

TP_INLINE void tp_end(void)
{
    if (tp_controlled())
        syscall((long)TP_CALL_END);
}

#define turnpike_assume(e) tp_assume(!!(e))
#define tp_assert(e) tp_assert_at(!!(e), #e, __FILE__, __LINE__)

/* Messages. */

struct tp_message_node {
    struct tp_message_node *next;
    size_t size;
};

typedef struct tp_queue {
    long handle; /* under control */
    long capacity;
    long length;
    struct tp_message_node *first;
    struct tp_message_node **last;
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
} tp_queue;

TP_INLINE tp_queue *tp_queue_create(long capacity)
{
    tp_queue *queue = (tp_queue *)calloc(1, sizeof *queue);
    if (queue == NULL)
        abort();
    queue->capacity = capacity;
    if (tp_controlled()) {
        queue->handle = syscall((long)TP_CALL_QUEUE, capacity);
    } else {
        queue->last = &queue->first;
        pthread_mutex_init(&queue->lock, NULL);
        pthread_cond_init(&queue->not_empty, NULL);
        pthread_cond_init(&queue->not_full, NULL);
    }
    return queue;
}

TP_INLINE void tp_msg_send(tp_queue *queue, const void *data, size_t size)
{
    struct tp_message_node *node;
    if (tp_controlled()) {
        syscall((long)TP_CALL_SEND, queue->handle, data, size);
        return;
    }
    node = (struct tp_message_node *)malloc(sizeof *node + size);
    if (node == NULL)
        abort();
    node->next = NULL;
    node->size = size;
    memcpy(node + 1, data, size);
    pthread_mutex_lock(&queue->lock);
    while (queue->capacity >= 0 && queue->length >= (queue->capacity > 0 ? queue->capacity : 1))
        pthread_cond_wait(&queue->not_full, &queue->lock);
    *queue->last = node;
    queue->last = &node->next;
    queue->length++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

TP_INLINE long tp_msg_take(tp_queue *queue, void *data, size_t size, int wait)
{
    struct tp_message_node *node;
    long result;
    if (tp_controlled())
        return syscall((long)(wait ? TP_CALL_RECV : TP_CALL_TRY_RECV), queue->handle, data, size);
    pthread_mutex_lock(&queue->lock);
    while (wait && queue->first == NULL)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    node = queue->first;
    if (node == NULL) {
        pthread_mutex_unlock(&queue->lock);
        return -1;
    }
    queue->first = node->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    queue->length--;
    pthread_cond_signal(&queue->not_full);
    pthread_mutex_unlock(&queue->lock);
    result = (long)node->size;
    memcpy(data, node + 1, node->size < size ? node->size : size);
    free(node);
    return result;
}

TP_INLINE long tp_msg_recv(tp_queue *queue, void *data, size_t size)
{
    return tp_msg_take(queue, data, size, 1);
}

TP_INLINE long tp_msg_try_recv(tp_queue *queue, void *data, size_t size)
{
    return tp_msg_take(queue, data, size, 0);
}

TP_UNUSED void tp_queue_destroy(tp_queue *queue)
{
    struct tp_message_node *node;
    if (!tp_controlled()) {
        while ((node = queue->first) != NULL) {
            queue->first = node->next;
            free(node);
        }
        pthread_mutex_destroy(&queue->lock);
        pthread_cond_destroy(&queue->not_empty);
        pthread_cond_destroy(&queue->not_full);
    }
    free(queue);
}

TP_INLINE void tp_mark(long call, const volatile void *place, long more)
{
    if (tp_controlled())
        syscall(call, place, more);
}

#define tp_message() tp_mark((long)TP_CALL_MESSAGE, NULL, 0L)
#define tp_shared_read(p) tp_mark((long)TP_CALL_READ, (p), 0L)
#define tp_shared_write(p) tp_mark((long)TP_CALL_WRITE, (p), 0L)
#define tp_atomic_begin() tp_mark((long)TP_CALL_ATOMIC_BEGIN, NULL, 0L)
#define tp_atomic_end() tp_mark((long)TP_CALL_ATOMIC_END, NULL, 0L)
#define tp_may_use(queue, writes) tp_mark((long)TP_CALL_MAY_USE, (const volatile void *)(queue)->handle, (long)((writes) != 0))
#define tp_may_access(p, writes) tp_mark((long)TP_CALL_MAY_ACCESS, (p), (long)((writes) != 0))

/* VeriSoft's names. */
#define VS_toss(n) tp_toss(n)
#define VS_assert(e) tp_assert(e)

#ifdef __cplusplus
}
#endif

#endif
