/*
 * aba_stack_ok.c: the fixed twin of aba_stack_bug.c. A counter beside the head tells a head that came back. Nothing may be found.
 *
 * hooks: --max-executions 2000 => nothing
 */
#define FIXED
#include "aba_stack_bug.c"
