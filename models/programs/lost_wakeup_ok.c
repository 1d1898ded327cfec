/*
 * lost_wakeup_ok.c: the fixed twin of lost_wakeup_bug.c. The worker holds the lock while it announces. Nothing may be found.
 *
 * search: --strategy exhaustive => none
 * hooks: --max-executions 2000 => nothing
 */
#define FIXED
#include "lost_wakeup_bug.c"
