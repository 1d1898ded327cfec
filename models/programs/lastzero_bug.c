/*
 * lastzero_bug.c: a reader looks for the last zero of an array, from the end, while writers fill the array.
 *
 * Writer j sets cell j to one more than cell j - 1. The reader relies on the cell that it finds staying zero, but its
 * writer may fill it in between. In the twin lastzero_ok.c the reader asserts nothing about later times. This is
 * the `lastzero` of the literature on partial-order reduction, where most orders of the writes cannot be told apart.
 *
 * Threads: 2 + writers (four, or as the argument says). Context switches of a shortest failure: 2.
 * Expected: assertion "still zero". Nothing in the twin.
 * hooks: => assertion
 * hooks: --strategy pos --max-executions 20000 -- 8 => assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = 64 };

static atomic_int cells[MOST + 1];
static int writers = 4;

static void *write_cell(void *number)
{
    int j = (int)(long)number;
    cells[j] = cells[j - 1] + 1;
    return 0;
}

static void *find_zero(void *unused)
{
    int i = writers;
    while (cells[i] != 0)
        i--;
#ifndef FIXED
    assert((i == 0 || cells[i] == 0) && "still zero");
#endif
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t threads[MOST + 1];

    if (count > 1)
        writers = atoi(arguments[1]);
    if (writers < 1 || writers > MOST)
        return 1;
    pthread_create(&threads[0], 0, find_zero, 0);
    for (int j = 1; j <= writers; j++)
        pthread_create(&threads[j], 0, write_cell, (void *)(long)j);
    for (int j = 0; j <= writers; j++)
        pthread_join(threads[j], 0);
    return 0;
}
