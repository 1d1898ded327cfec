/*
 * lock_order_ok.c: the fixed twin of lock_order_bug.c. Locks are taken in the order of the accounts. Nothing may be found.
 *
 * hooks: --strategy exhaustive => none
 * search: --max-executions 2000 => nothing
 */
#define FIXED
#include "lock_order_bug.c"
