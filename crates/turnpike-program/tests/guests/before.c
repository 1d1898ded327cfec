/* A hundred steps before there is a choice; the argument says what else is done before. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static char *block;
static int ends[2];

static void before(const char *way)
{
    if (!strcmp(way, "heap"))
        block = calloc(100, 1);
    if (!strcmp(way, "large"))
        block = calloc(1 << 20, 1);
    if (!strcmp(way, "shared"))
        block = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(way, "input")) {
        char byte;
        (void)!read(0, &byte, 1);
    }
    if (!strcmp(way, "output")) {
        puts("buffered");
        (void)!write(1, "at once\n", 8);
    }
    if (!strcmp(way, "kept")) {
        FILE *file = fopen("/dev/null", "r");
        fclose(file);
    }
    if (!strcmp(way, "file"))
        ends[1] = open("/dev/null", O_RDWR);
    if (!strcmp(way, "pipe"))
        assert(pipe(ends) == 0);
    if (!strcmp(way, "standard"))
        dup2(open("/dev/null", O_RDONLY), 0);
}

static void *thread(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        count++;
        if (block)
            block[0]++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int arguments, char **argument)
{
    pthread_t threads[2];
    before(arguments > 1 ? argument[1] : "");
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 56 && (!block || block[0] == 6));
    if (arguments > 1 && !strcmp(argument[1], "output"))
        printf("%d\n", count);
    return 0;
}
