/*
 * lastzero_ok.c: the fixed twin of lastzero_bug.c. The reader asserts nothing. Nothing may be found.
 *
 * hooks: --strategy exhaustive -- 4 => none
 */
#define FIXED
#include "lastzero_bug.c"
