/*
 * handoff_ok.cpp: the fixed twin of handoff_bug.cpp. Waiting has a condition, which is looked at after every waking. Nothing may be found.
 */
#define FIXED
#include "handoff_bug.cpp"
