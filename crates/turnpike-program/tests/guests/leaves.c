/* Each way to leave something behind in the process; every execution must find it as it was at the
   start. The argument says which way. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int initialised = 7;
static int zero;
static _Thread_local int local = 3;
static char large[1 << 20];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void variables(void)
{
    assert(initialised++ == 7 && zero++ == 0 && local++ == 3);
    for (size_t i = 0; i < sizeof large; i += 4096)
        assert(large[i]++ == 0);
}

static void heap(void)
{
    for (int i = 0; i < 100; i++) {
        char *block = malloc(5000);
        for (int k = 0; k < 5000; k++)
            assert(block[k] == 0);
        memset(block, 1, 5000);
        if (i % 2)
            free(block);
    }
}

static void large_block(void)
{
    char *block = malloc(1 << 20);
    assert(block[12345] == 0);
    memset(block, 1, 1 << 20);
    free(block);
    block = malloc(1 << 20);
    assert(block[12345] == 0);
}

static int deep(int depth)
{
    volatile char frame[3000];
    memset((char *)frame, depth, sizeof frame);
    return depth == 0 ? frame[17] : deep(depth - 1) + frame[5];
}

static void stack(void)
{
    assert(deep(200) > 0);
}

static void handler(int number)
{
    (void)number;
}

static void signals(void)
{
    struct sigaction old;
    sigaction(SIGUSR1, NULL, &old);
    assert(old.sa_handler == SIG_DFL);
    signal(SIGUSR1, handler);
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    assert(!sigismember(&before, SIGUSR2));
}

static void files(void)
{
    int file = open("/dev/null", O_RDONLY);
    assert(file >= 0 && file < 10);
    assert(fcntl(file + 1, F_GETFD) < 0);
}

static void input(void)
{
    char byte;
    assert(lseek(0, 0, SEEK_CUR) == 0 || lseek(0, 0, SEEK_CUR) == -1);
    if (read(0, &byte, 1) == 1)
        assert(lseek(0, 0, SEEK_CUR) == 1);
}

static void mappings(void)
{
    static char *before;
    assert(!before);
    char *place = mmap((void *)0x300000000000, 8192, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert(place == (char *)0x300000000000 && *place == 0);
    *place = 1;
    before = place;
}

static void break_of_heap(void)
{
    static char *before;
    char *end = sbrk(4096);
    assert(end != (char *)-1 && !before);
    end[7] = 1;
    before = end;
}

static void protections(void)
{
    static char page[8192] __attribute__((aligned(4096)));
    assert(page[0] == 0);
    page[0] = 1;
    mprotect(page, 4096, PROT_READ);
}

static void process(void)
{
    mode_t mask = umask(0123);
    assert(mask != 0123);
    char folder[1000];
    assert(getcwd(folder, sizeof folder) && strcmp(folder, "/"));
    assert(chdir("/") == 0);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    assert(limit.rlim_cur != 77);
    limit.rlim_cur = 77;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void environment(void)
{
    assert(!getenv("LEFT"));
    setenv("LEFT", "behind", 1);
    srand(3);
    char text[] = "a b";
    assert(!strcmp(strtok(text, " "), "a"));
}

static void output(void)
{
    static int printed;
    assert(printed++ == 0);
    printf("one line\n");
    fprintf(stderr, "another\n");
    fflush(stdout);
}

static const struct {
    const char *name;
    void (*leave)(void);
} ways[] = {
    {"variables", variables}, {"heap", heap},         {"large", large_block},
    {"stack", stack},         {"signals", signals},   {"files", files},
    {"input", input},         {"mappings", mappings}, {"break", break_of_heap},
    {"protections", protections}, {"process", process}, {"environment", environment},
    {"output", output},
};

static void *other(void *way)
{
    pthread_mutex_lock(&lock);
    assert(local++ == 3);
    if (way)
        ((void (*)(void))way)();
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int count, char **arguments)
{
    void (*leave)(void) = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (count > 1 && !strcmp(arguments[1], ways[i].name))
            leave = ways[i].leave;
    assert(leave);
    /* Some in a thread of its own. */
    int apart = count > 2;
    pthread_t one, two;
    pthread_create(&one, NULL, other, apart && leave != variables ? (void *)leave : NULL);
    pthread_create(&two, NULL, other, NULL);
    if (!apart || leave == variables)
        leave();
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
