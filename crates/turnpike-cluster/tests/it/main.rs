//! Processes on loopback addresses of this machine, played by threads.

mod common;
mod corpus;
mod joining;
mod working;
