/*
 * double_checked_ok.c: the fixed twin of double_checked_bug.c. The pointer is published last. Nothing may be found.
 */
#define FIXED
#include "double_checked_bug.c"
