// Locks and variables inside arrays and structures.
#include <pthread.h>

struct account {
    int balance;
    pthread_mutex_t lock;
    union {
        pthread_mutex_t inner[2];
        int number;
    };
};

struct bank {
    struct account accounts[3];
    pthread_mutex_t board;
};

static struct bank banks[2][2] = {
    {{.board = PTHREAD_MUTEX_INITIALIZER}},
};
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

static void use(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

int main(void) {
    use(&banks[0][0].accounts[0].lock);
    use(&banks[0][1].accounts[2].lock);
    use(&banks[1][0].accounts[1].inner[1]);
    use(&banks[1][1].board);
    use(&plain);
    return 0;
}
