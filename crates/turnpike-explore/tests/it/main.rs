//! Tests of the page: what it answers, whom it refuses, and what it looks like in a real browser.

#![allow(clippy::print_stderr, reason = "tests say what they skip")]

mod answers;
mod automata;
mod browser;
mod client;
mod requirements;
mod safety;
mod times;
mod views;
mod webdriver;
