/*
 * filesystem_ok.c: the fixed twin of filesystem_bug.c. Looking and taking are one critical section. Nothing may be found.
 *
 * search: --strategy exhaustive -- 13 => none
 * search: --strategy exhaustive -- 15 => none
 */
#define FIXED
#include "filesystem_bug.c"
