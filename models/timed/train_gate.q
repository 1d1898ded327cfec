// Never two trains on the bridge.
A[] forall (i : train_t) forall (j : train_t) Train(i).crossing && Train(j).crossing imply i == j
// A train that comes will cross.
Train(0).coming --> Train(0).crossing
A[] not deadlock
