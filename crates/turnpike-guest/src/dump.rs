//! Registers and stacks of threads as bytes, which follow the record of an execution. Compiled into
//! host and guest: the guest copies memory, and the host, which has debugging information, finds
//! the functions in it.

use alloc::vec::Vec;

/// Registers that are kept: the program counter, the stack pointer, and those that a called
/// function must preserve.
pub const REGISTERS: usize = 13;

/// The most bytes that are copied of one stack.
pub const DEEPEST: usize = 64 << 10;

/// A thread, as the guest left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// Its number.
    pub thread: u32,
    /// The program counter (a return address, or one past the start of an interrupted instruction)
    /// and the stack pointer. Then on x86-64 `rbx`, `rbp` and `r12` to `r15`, on AArch64 `x19` to
    /// `x29`.
    pub registers: [u64; REGISTERS],
    /// The contents of the stack from the stack pointer on.
    pub stack: Vec<u8>,
}

/// Reads what the guest wrote, up to the first thread that is incomplete.
pub fn read(mut bytes: &[u8]) -> Vec<Dump> {
    fn long(bytes: &mut &[u8]) -> Option<u64> {
        let (first, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*first))
    }
    fn dump(bytes: &mut &[u8]) -> Option<Dump> {
        let thread = long(bytes)? as u32;
        let mut registers = [0; REGISTERS];
        for register in &mut registers {
            *register = long(bytes)?;
        }
        let length = long(bytes)? as usize;
        let (stack, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(Dump { thread, registers, stack: stack.to_vec() })
    }
    let mut dumps = Vec::new();
    while let Some(dump) = dump(&mut bytes) {
        dumps.push(dump);
    }
    dumps
}

/// Writes one thread at the beginning of `out`. `copy` writes its stack and returns how many bytes
/// it copied. Returns how many bytes were written, or `None` if `length` bytes of stack do not fit.
pub fn write(
    thread: u32,
    registers: &[usize; REGISTERS],
    length: usize,
    out: &mut [u8],
    copy: impl FnOnce(&mut [u8]) -> usize,
) -> Option<usize> {
    let head = (1 + REGISTERS + 1) * 8;
    let room = out.get_mut(..head + length)?;
    let (words, stack) = room.split_at_mut(head);
    let copied = copy(stack);
    let registers = registers.iter().map(|&register| register as u64);
    let values = core::iter::once(u64::from(thread)).chain(registers).chain([copied as u64]);
    for (place, value) in words.chunks_exact_mut(8).zip(values) {
        place.copy_from_slice(&value.to_le_bytes());
    }
    Some(head + copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_come_back_from_bytes() {
        let mut out = [0u8; 1024];
        let registers = core::array::from_fn(|at| at + 1);
        let copy = |text: &'static [u8]| {
            move |room: &mut [u8]| {
                room[..text.len()].copy_from_slice(text);
                text.len()
            }
        };
        let first = write(0, &registers, 8, &mut out, copy(b"12345678")).unwrap();
        let second = write(3, &registers, 8, &mut out[first..], copy(b"12")).unwrap();
        let dumps = read(&out[..first + second]);
        assert_eq!(dumps.len(), 2);
        assert_eq!((dumps[0].thread, dumps[0].stack.as_slice()), (0, &b"12345678"[..]));
        assert_eq!((dumps[1].thread, dumps[1].stack.as_slice()), (3, &b"12"[..]));
        assert_eq!(dumps[1].registers[12], 13);
        assert_eq!(read(&out[..first + second - 1]), dumps[..1], "half a thread");
        assert_eq!(write(0, &registers, 8, &mut out[..100], copy(b"")), None);
    }
}
