E<> a = b = c ? d : e
E<> x++ + ++y
