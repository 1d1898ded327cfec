/*
 * bounded_queue_ok.c: the fixed twin of bounded_queue_bug.c. Every change wakes everybody who waits. Nothing may be found.
 */
#define FIXED
#include "bounded_queue_bug.c"
