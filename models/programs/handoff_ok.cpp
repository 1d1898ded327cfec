/*
 * handoff_ok.cpp: the fixed twin of handoff_bug.cpp. Waiting has a condition, which is looked at after every waking. Nothing may be found.
 *
 * search: --max-executions 2000 => nothing
 * hooks: --max-executions 1000 => nothing
 */
#define FIXED
#include "handoff_bug.cpp"
