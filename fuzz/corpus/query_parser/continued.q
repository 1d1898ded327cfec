E<> ( a and \
  b or \ 
 c )
A[] x\
