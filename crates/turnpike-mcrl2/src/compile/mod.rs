//! The executable form of a specification: expressions as code ([`evaluator`]), conditions as plans
//! that enumerate their solutions ([`solver`]), and a linear process made of both (`process`).

pub mod evaluator;
pub(crate) mod process;
pub mod solver;
