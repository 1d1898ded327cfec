/*
 * double_checked_ok.c: the fixed twin of double_checked_bug.c. The pointer is published last. Nothing may be found.
 *
 * hooks: --strategy exhaustive => none
 * search: --max-executions 2000 => nothing
 */
#define FIXED
#include "double_checked_bug.c"
