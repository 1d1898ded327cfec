// At most one process is in its critical section.
A[] forall (i : name_t) forall (j : name_t) P(i).critical && P(j).critical imply i == j
