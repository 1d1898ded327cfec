/*
 * dekker_ok.c: the fixed twin of dekker_bug.c. The operations are sequentially consistent. Nothing may be found.
 *
 * hooks: --memory rc11 --strategy exhaustive => none
 * hooks: --memory tso --strategy exhaustive => none
 */
#define FIXED
#include "dekker_bug.c"
