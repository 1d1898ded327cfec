// all forms
E<> P.a && x > 3
A[] not deadlock

/*
 some
 words
*/
E[] forall (i : id_t) P(i).cs imply y <= 2
A<> P(1).done() == 3
P.a --> P.b or v[2].f != -1
sup: x, P.y
inf{P.a and x > 1}: x
bounds{}: v
