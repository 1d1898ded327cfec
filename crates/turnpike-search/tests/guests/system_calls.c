// Calls on descriptors, links and futexes that once did something else than the operating system does.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];

// The reader ends, because the only writing end is replaced by a copy of something else.
static void *replaces(void *unused) {
    int null = open("/dev/null", O_RDWR);
    assert(dup2(null, ends[1]) == ends[1]);
    return unused;
}

static void replaced(void) {
    pthread_t thread;
    char byte;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, replaces, NULL);
    assert(read(ends[0], &byte, 1) == 0);
    pthread_join(thread, NULL);
}

// A limit of less than a millisecond is one.
static void limits(void) {
    struct timespec before, after, limit = {0, 500};
    struct timeval other = {0, 1};
    assert(pipe(ends) == 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    struct pollfd one = {ends[0], POLLIN, 0};
    assert(ppoll(&one, 1, &limit, NULL) == 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    assert(select(ends[0] + 1, &set, NULL, NULL, &other) == 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec > before.tv_sec || after.tv_nsec > before.tv_nsec);
}

// What follows a set of descriptors stays as it is.
static void large(void) {
    struct { fd_set set; char behind[64]; } one;
    struct timeval limit = {0, 1};
    FD_ZERO(&one.set);
    memset(one.behind, 7, sizeof one.behind);
    int answer = select(1024, &one.set, NULL, NULL, &limit);
    assert(answer == 0);
    for (size_t at = 0; at < sizeof one.behind; at++) assert(one.behind[at] == 7);
}

// Removing a link is not controlled, and leaves everything outside as it was.
static void link_only(const char *folder) {
    char path[256];
    snprintf(path, sizeof path, "%s/link", folder);
    assert(unlink(path) == 0);
}

// Waiters are moved only if the word is as expected.
static void compares(void) {
    int word = 1, other = 0;
    long answer = syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 2);
    assert(answer == -1 && errno == EAGAIN);
}

int main(int count, char **arguments) {
    const char *way = arguments[1];
    if (strcmp(way, "replaced") == 0) replaced();
    if (strcmp(way, "limits") == 0) limits();
    if (strcmp(way, "large") == 0) large();
    if (strcmp(way, "link") == 0) link_only(arguments[2]);
    if (strcmp(way, "compares") == 0) compares();
    return 0;
}
