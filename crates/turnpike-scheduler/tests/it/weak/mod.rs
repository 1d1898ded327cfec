//! Weak memory against the axioms: the graphs that the scheduler builds are the consistent ones.

mod axioms;
mod buffers;
mod calm;
mod generate;
mod litmus;
mod program;
mod random;
