// Who has sent a whole frame was not disturbed, and nobody else noticed a collision.
A[] forall (i : id_t) finished[i] imply (!differs[i] && forall (j : id_t) j == i || verdict[j] == 0)
