/*
 * lock_order_ok.c: the fixed twin of lock_order_bug.c. Locks are taken in the order of the accounts. Nothing may be found.
 *
 * search: --strategy exhaustive => nothing
 * hooks: --strategy exhaustive => none
 */
#define FIXED
#include "lock_order_bug.c"
