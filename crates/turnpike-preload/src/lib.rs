//! The library that is preloaded into C and C++ programs.
