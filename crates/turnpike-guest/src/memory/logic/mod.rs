//! What is known about memory, as plain data structures: nothing here touches the memory it talks
//! about, so that all of it runs as ordinary unit tests as well as inside a program under test.

pub(crate) mod bits;
pub(crate) mod conversions;
pub(crate) mod heap;
pub(crate) mod objects;
pub(crate) mod quarantine;
pub(crate) mod race;
pub(crate) mod shadow;
pub(crate) mod sizes;
pub(crate) mod spin;
pub(crate) mod table;
