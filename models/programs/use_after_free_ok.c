/*
 * use_after_free_ok.c: the fixed twin of use_after_free_bug.c. Connections are counted, and freed by whoever gives the last one back. Nothing may be found.
 *
 * hooks: --strategy exhaustive => none
 * search: --max-executions 2000 => nothing
 */
#define FIXED
#include "use_after_free_bug.c"
