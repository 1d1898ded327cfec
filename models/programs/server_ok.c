/*
 * server_ok.c: server_bug.c with a server that reads until nothing is left.
 *
 * Expected: nothing.
 * search: --max-executions 300 => nothing
 * search: --strategy pos --max-executions 300 -- 2 => nothing
 * hooks: --max-executions 300 => nothing
 */
#define FIXED
#include "server_bug.c"
