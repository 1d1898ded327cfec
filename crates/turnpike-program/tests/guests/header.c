/* turnpike.h: tosses, assertions, queues, marks. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include "turnpike.h"

static tp_queue *queue;
static int x;

static void *sender(void *unused)
{
    for (int i = 0; i < 3; i++)
        tp_msg_send(queue, &i, sizeof i);
    tp_atomic_begin();
    tp_shared_write(&x);
    x++;
    tp_atomic_end();
    return unused;
}

int main(void)
{
    pthread_t thread;
    int value;
    assert(tp_controlled());
    queue = tp_queue_create(1);
    pthread_create(&thread, NULL, sender, NULL);
    for (int i = 0; i < 3; i++) {
        assert(tp_msg_recv(queue, &value, sizeof value) == (long)sizeof value);
        tp_assert(value == i);
    }
    assert(tp_msg_try_recv(queue, &value, sizeof value) == -1);
    tp_message();
    pthread_join(thread, NULL);
    tp_shared_read(&x);
    assert(x == 1);
    tp_may_access(&x, 1);
    value = VS_toss(2);
    assert(value >= 0 && value <= 2);
    VS_assert(value != 1);
    return value == 2 ? 3 : 0;
}
