/*
 * auth_ok.c: the fixed twin of auth.c. Message 2 names its sender, as Lowe proposed. Nothing may be found.
 * search: --max-executions 2000 => nothing
 * search: --strategy genetic --fitness messages --generations 10 -- primed => nothing
 */
#define FIXED
#include "auth.c"
