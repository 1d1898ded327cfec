/* Neighbouring bit-fields: who changes one writes the other one back as it was when it was read. With a
   second word on the command line, the changed fields share no byte. */
#include <assert.h>
#include <pthread.h>

#if PACKED
/* Fields across bytes; the compiler reports all of the structure. */
struct __attribute__((packed)) flags {
    unsigned low : 12, high : 14;
    unsigned end : 6;
    unsigned long long rest : 60;
    unsigned char : 0;
    unsigned char far;
};
#elif LONG
struct flags {
    unsigned long low : 40, high : 24;
    unsigned far : 4;
};
#else
struct flags {
    unsigned low : 4, high : 4;
    unsigned far : 4;
};
#endif
static struct flags flags;

/* Through a pointer, or by its name. */
#if POINTER
static struct flags *volatile shared = &flags;
#define FLAGS shared
#else
#define FLAGS (&flags)
#endif

static int apart;

static void *change_low(void *unused) {
    FLAGS->low = 1;
    return unused;
}

static void *change_another(void *unused) {
    if (apart) FLAGS->far = 1;
    else FLAGS->high = 1;
    return unused;
}

int main(int count, char **words) {
    (void)words;
    apart = count > 1;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, change_low, 0);
    pthread_create(&threads[1], 0, change_another, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(flags.low == 1 && flags.high + flags.far == 1);
    return 0;
}
