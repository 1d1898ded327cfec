//! The wire format: frames of a kind and a bounded number of bytes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Limit on the bytes of a frame. Longer messages are split into parts.
pub(crate) const LONGEST: usize = 1 << 24;

/// Most frames are not longer.
const USUAL: usize = 1 << 17;

/// What a frame means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A proof that the sender knows the secret.
    Proof = 1,
    /// What all processes must agree on.
    Identity,
    /// The connection is accepted.
    Welcome,
    /// The connection is refused; one byte states the reason.
    Refusal,
    /// A part of a message, with more to come.
    Part,
    /// The last part of a message.
    Message,
    /// A keep-alive.
    Alive,
    /// The user wants the search to end.
    Interrupt,
    /// A process was lost; four bytes state which one.
    Lost,
    /// End of the connection.
    Goodbye,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Proof,
        Kind::Identity,
        Kind::Welcome,
        Kind::Refusal,
        Kind::Part,
        Kind::Message,
        Kind::Alive,
        Kind::Interrupt,
        Kind::Lost,
        Kind::Goodbye,
    ];

    fn from_byte(byte: u8) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Length of a frame's header.
pub(crate) const HEADER: usize = 5;

pub(crate) fn write(out: &mut impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    debug_assert!(bytes.len() <= LONGEST);
    let mut header = [0; HEADER];
    header[0] = kind as u8;
    header[1..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.write_all(&header)?;
    out.write_all(bytes)
}

/// Reads a frame and appends its content to `out`. A frame of more than `longest` bytes or of an
/// unknown kind is an error of kind `InvalidData`.
pub(crate) fn read(input: &mut impl Read, longest: usize, out: &mut Vec<u8>) -> io::Result<Kind> {
    let mut header = [0; HEADER];
    input.read_exact(&mut header)?;
    let kind = Kind::from_byte(header[0]);
    let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
    let Some(kind) = kind.filter(|_| length <= longest) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a frame"));
    };
    // As much as most frames take: more only as it arrives.
    out.reserve(length.min(USUAL));
    let got = input.take(length as u64).read_to_end(out)?;
    if got < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(kind)
}

/// A connection with a deadline for everything. A timeout for each read would let a peer that sends
/// a byte now and then occupy the connection forever.
pub(crate) struct Hurried<'a> {
    pub(crate) stream: &'a TcpStream,
    pub(crate) deadline: Instant,
}

impl Hurried<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Hurried<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

impl Write for Hurried<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_survive(kind in 0..10usize, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let kind = Kind::ALL[kind];
            let mut written = Vec::new();
            write(&mut written, kind, &bytes).expect("memory takes all");
            let mut out = Vec::new();
            prop_assert_eq!(read(&mut &written[..], 300, &mut out).expect("a frame"), kind);
            prop_assert_eq!(&out, &bytes);
            for cut in 0..written.len() {
                let error = read(&mut &written[..cut], 300, &mut Vec::new()).expect_err("a part of a frame");
                prop_assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            }
        }

        #[test]
        fn nonsense_is_refused_without_taking_memory(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut out = Vec::new();
            let _ = read(&mut &bytes[..], 16, &mut out);
            prop_assert!(out.len() <= 16);
        }
    }

    #[test]
    fn long_frames_are_refused() {
        let mut written = Vec::new();
        write(&mut written, Kind::Message, &[0; 17]).expect("memory takes all");
        let error = read(&mut &written[..], 16, &mut Vec::new()).expect_err("too long");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
