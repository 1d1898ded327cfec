//! What is known about memory, as plain data structures: nothing here touches the memory it talks about, so that all of
//! it runs as ordinary unit tests as well as inside a program under test.

pub mod heap;
pub mod objects;
pub mod quarantine;
pub mod race;
pub mod shadow;
pub mod sizes;
pub mod spin;
pub mod table;
