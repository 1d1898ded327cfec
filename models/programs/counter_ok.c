/*
 * counter_ok.c: the fixed twin of counter_bug.c. The counter is atomic. Nothing may be found.
 *
 * hooks: --strategy exhaustive => none
 */
#define FIXED
#include "counter_bug.c"
