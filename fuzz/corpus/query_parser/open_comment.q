E<> a
/* never