P.a
E<>
A[] a --> b
E<> (a
E<> a b
E<> a =< 3
E<> a # 3
E<> 1.5.5
sup x
sup{: x
E<> -->
E<>>a
-->
