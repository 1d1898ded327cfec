/*
 * double_free_ok.c: the fixed twin of double_free_bug.c. Looking and removing happen under one lock. Nothing may be found.
 *
 * search: --strategy exhaustive => nothing
 * hooks: --strategy exhaustive => none
 */
#define FIXED
#include "double_free_bug.c"
