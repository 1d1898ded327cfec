/*
 * double_checked_bug.c: settings are loaded by whoever needs them first, and looked at without the lock.
 *
 * The pointer is published before what it points to is filled in, so that another thread, on its way past the lock, finds settings with
 * nothing in them. In the twin double_checked_ok.c the pointer is an atomic, and is stored last.
 *
 * Threads: 3 (main, two users). Context switches of a shortest failure: 2.
 * Expected: assertion "settings are complete"; also data races. Nothing in the twin.
 * Needs: -fsanitize=thread objects, which make plain memory visible.
 * hooks: => assertion
 * hooks: => race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct settings {
    int port;
    int timeout;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef FIXED
static struct settings *_Atomic shared;
#else
static struct settings *shared;
#endif

static void fill_in(struct settings *settings)
{
    settings->port = 8080;
    settings->timeout = 30;
}

static struct settings *get(void)
{
    if (shared == NULL) {
        pthread_mutex_lock(&lock);
        if (shared == NULL) {
            struct settings *fresh = calloc(1, sizeof *fresh);
            if (fresh == NULL)
                abort();
#ifdef FIXED
            fill_in(fresh);
            shared = fresh;
#else
            shared = fresh;
            fill_in(shared);
#endif
        }
        pthread_mutex_unlock(&lock);
    }
    return shared;
}

static void *user(void *unused)
{
    (void)unused;
    const struct settings *settings = get();
    assert(settings->port == 8080 && settings->timeout == 30 && "settings are complete");
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(shared);
    return 0;
}
