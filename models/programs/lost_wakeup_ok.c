/*
 * lost_wakeup_ok.c: the fixed twin of lost_wakeup_bug.c. The worker holds the lock while it announces. Nothing may be found.
 *
 * hooks: --strategy exhaustive => none
 * search: --max-executions 2000 => nothing
 */
#define FIXED
#include "lost_wakeup_bug.c"
