/*
 * bounded_queue_ok.c: the fixed twin of bounded_queue_bug.c. Every change wakes everybody who waits. Nothing may be found.
 *
 * search: --strategy exhaustive => nothing
 * hooks: --max-executions 2000 => nothing
 */
#define FIXED
#include "bounded_queue_bug.c"
