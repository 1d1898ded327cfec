// What is received is what was sent.
A[] not wrong
