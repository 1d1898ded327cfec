/*
 * use_after_free_ok.c: the fixed twin of use_after_free_bug.c. Connections are counted, and freed by whoever gives the last one back. Nothing may be found.
 *
 * search: --strategy exhaustive => nothing
 * hooks: --strategy exhaustive => none
 */
#define FIXED
#include "use_after_free_bug.c"
