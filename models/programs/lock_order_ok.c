/*
 * lock_order_ok.c: the fixed twin of lock_order_bug.c. Locks are taken in the order of the accounts. Nothing may be found.
 */
#define FIXED
#include "lock_order_bug.c"
