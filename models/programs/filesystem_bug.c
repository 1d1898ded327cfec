/*
 * filesystem_bug.c: threads allocate blocks of a small file system for their inodes.
 *
 * Each inode and each block has a lock. A thread whose inode has no block yet looks for one that is not busy, starting at
 * a place of its own. Here it lets go of the block's lock between looking and taking, so two inodes may get one
 * block, which takes as many threads as make two searches meet. In the twin filesystem_ok.c looking and
 * taking are one critical section. With up to 13 threads none meets another one, and all orders are the same: the
 * `filesystem` of the literature on partial-order reduction.
 *
 * Threads: 1 + users (14, or as the first argument says; the second one is the number of blocks). Context switches of a
 * shortest failure: 3.
 * Expected: assertion "one owner". Nothing in the twin.
 * search: => assertion
 * search: -- 4 4 => assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { INODES = 32, MOST_BLOCKS = 26, MOST_USERS = 64 };

static pthread_mutex_t inode_locks[INODES], block_locks[MOST_BLOCKS];
static int inodes[INODES], busy[MOST_BLOCKS];
static int users = 14, blocks = MOST_BLOCKS;

static void *use(void *number)
{
    int inode = (int)(long)number % INODES;

    pthread_mutex_lock(&inode_locks[inode]);
    if (inodes[inode] == 0) {
        int block = inode * 2 % blocks;
        for (;;) {
            pthread_mutex_lock(&block_locks[block]);
            if (!busy[block]) {
#ifndef FIXED
                pthread_mutex_unlock(&block_locks[block]);
                pthread_mutex_lock(&block_locks[block]);
#endif
                assert(!busy[block] && "one owner");
                busy[block] = 1;
                inodes[inode] = block + 1;
                pthread_mutex_unlock(&block_locks[block]);
                break;
            }
            pthread_mutex_unlock(&block_locks[block]);
            block = (block + 1) % blocks;
        }
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return 0;
}

int main(int count, char **arguments)
{
    pthread_t threads[MOST_USERS];

    if (count > 1)
        users = atoi(arguments[1]);
    if (count > 2)
        blocks = atoi(arguments[2]);
    if (users < 1 || users > MOST_USERS || blocks < 1 || blocks > MOST_BLOCKS)
        return 1;
    for (int i = 0; i < INODES; i++)
        pthread_mutex_init(&inode_locks[i], 0);
    for (int i = 0; i < MOST_BLOCKS; i++)
        pthread_mutex_init(&block_locks[i], 0);
    for (int i = 0; i < users; i++)
        pthread_create(&threads[i], 0, use, (void *)(long)i);
    for (int i = 0; i < users; i++)
        pthread_join(threads[i], 0);
    return 0;
}
