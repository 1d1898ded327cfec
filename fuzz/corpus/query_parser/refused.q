Pr[<=10](<> P.a)
simulate 1 [<=10] { x }
E[<=10;5](max: x)
E[#<=3](min: y)
strategy S = control: A<> P.a
control: A[] x
control_t*(1,2): A<> x
minE(x)[<=1]: <> P.a
saveStrategy("f", S)
A[p U q]
A[(a U b) W c]
E<> p under S
{ a, b } control: A<> x
PO S
refinement: A <= B
