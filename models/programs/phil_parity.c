/*
 * phil_parity.c: phil.c with the coin combined with the number of the seat: the same coin sends neighbours different ways.
 *
 * Usage, steps, threads and expectation are those of phil.c: a deadlock, 2 N steps away.
 * A heuristic that only looks at how many threads are blocked is led astray more often than by phil.c; genetic search is not.
 * search: --strategy bfs -- 4 => deadlock steps=8
 * search: --strategy genetic --depth 100 --no-shorten => deadlock
 */
#define PARITY
#include "phil.c"
