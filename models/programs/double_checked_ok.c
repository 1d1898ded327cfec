/*
 * double_checked_ok.c: the fixed twin of double_checked_bug.c. The pointer is published last. Nothing may be found.
 *
 * search: --strategy exhaustive => nothing
 * hooks: --strategy exhaustive => none
 */
#define FIXED
#include "double_checked_bug.c"
