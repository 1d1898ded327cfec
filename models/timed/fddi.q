// The token is never away for longer than twice the target.
A[] forall (i : station_t) Station(i).waiting_odd imply Station(i).rotation <= 2 * TARGET
