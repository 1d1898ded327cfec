/*
 * phil_ok.c: the fixed twin of phil.c: everybody takes the fork with the smaller number first. Nothing may be found.
 *
 * Usage: phil_ok [N [ROUNDS]]
 */
#define ORDERED
#include "phil.c"
