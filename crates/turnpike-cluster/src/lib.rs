#![doc = include_str!("../README.md")]

mod frame;
mod handshake;
mod hosts;
mod identity;
mod join;
mod mesh;
mod secret;

pub use hosts::Hosts;
pub use identity::{Fact, Identity};
pub use join::{JoinError, Member, Note, PATIENCE, join};
pub use mesh::{Lost, Mesh, Why};
pub use secret::{Secret, WeakSecret};
