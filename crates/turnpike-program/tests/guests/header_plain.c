/* The header without control: everything still works. */
#include <assert.h>
#include <pthread.h>
#include "turnpike.h"

static tp_queue *queue;

static void *sender(void *unused)
{
    for (int i = 0; i < 100; i++)
        tp_msg_send(queue, &i, sizeof i);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int value;
    assert(!tp_controlled());
    queue = tp_queue_create(2);
    pthread_create(&thread, NULL, sender, NULL);
    for (int i = 0; i < 100; i++) {
        assert(tp_msg_recv(queue, &value, sizeof value) == (long)sizeof value && value == i);
        tp_assert(value == i);
    }
    assert(tp_msg_try_recv(queue, &value, sizeof value) == -1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++)
        assert(tp_toss(2) <= 2 && VS_toss(0) == 0);
    tp_message();
    tp_shared_read(&value);
    tp_atomic_begin();
    tp_atomic_end();
    tp_may_access(&value, 0);
    tp_queue_destroy(queue);
    return 0;
}
