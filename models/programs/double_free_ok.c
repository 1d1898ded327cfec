/*
 * double_free_ok.c: the fixed twin of double_free_bug.c. Looking and removing happen under one lock. Nothing may be found.
 *
 * hooks: --strategy exhaustive => none
 * search: --max-executions 2000 => nothing
 */
#define FIXED
#include "double_free_bug.c"
