A[1].x --> E.y
E < 3 --> A[U].W
sup.x --> inf
Pr.a --> control.b
E<> A[0] U
