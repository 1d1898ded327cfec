/*
 * aba_stack_ok.c: the fixed twin of aba_stack_bug.c. A counter beside the head tells a head that came back. Nothing may be found.
 */
#define FIXED
#include "aba_stack_bug.c"
