/* Many steps without a choice, and then more schedules than any search executes.
 *
 * search: --max-executions 100 => nothing
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    work(0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
