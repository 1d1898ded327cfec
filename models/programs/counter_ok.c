/*
 * counter_ok.c: the fixed twin of counter_bug.c. The counter is atomic. Nothing may be found.
 */
#define FIXED
#include "counter_bug.c"
