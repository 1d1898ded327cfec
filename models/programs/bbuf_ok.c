/*
 * bbuf_ok.c: the fixed twin of bbuf_bug.c. Seeing an item and taking it are one critical section. Nothing may be found.
 *
 * search: --max-executions 300 => nothing
 */
#define FIXED
#include "bbuf_bug.c"
