// Who has been sending for twice the delay is alone.
A[] forall (i : station_t) forall (j : station_t) Station(i).sending && Station(i).x >= 2 * DELAY && Station(j).sending imply i == j
