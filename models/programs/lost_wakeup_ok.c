/*
 * lost_wakeup_ok.c: the fixed twin of lost_wakeup_bug.c. The worker holds the lock while it announces. Nothing may be found.
 *
 * search: --strategy exhaustive => nothing
 * hooks: --strategy exhaustive => none
 */
#define FIXED
#include "lost_wakeup_bug.c"
