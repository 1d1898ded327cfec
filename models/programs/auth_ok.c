/*
 * auth_ok.c: the fixed twin of auth.c. Message 2 names its sender, as Lowe proposed. Nothing may be found.
 */
#define FIXED
#include "auth.c"
