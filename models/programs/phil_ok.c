/*
 * phil_ok.c: the fixed twin of phil.c: everybody takes the fork with the smaller number first. Nothing may be found.
 *
 * Usage: phil_ok [N [ROUNDS]]
 * hooks: --strategy exhaustive -- 3 1 => none
 * search: --max-executions 500 -- 17 => nothing
 */
#define ORDERED
#include "phil.c"
