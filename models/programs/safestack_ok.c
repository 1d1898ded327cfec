/*
 * safestack_ok.c: the fixed twin of safestack_bug.c. Cells are taken and given back one at a time. Nothing may be found.
 *
 * hooks: --max-executions 300 => nothing
 */
#define FIXED
#include "safestack_bug.c"
