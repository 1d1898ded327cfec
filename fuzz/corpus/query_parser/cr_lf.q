E<> a
A[] b
