//! Whether a caller uses what a function returned, by the instructions after the call.
//!
//! The answer `false` is certain, as far as compilers keep to the calling convention: on every path
//! the register with the result is overwritten, or a function is called, before anything reads it.
//! Whatever is not understood counts as a use.

/// The most instructions that are read.
const MOST: u32 = 48;
const PAGE: usize = 4096;
const RETURN: u8 = 0xc3;

/// What an instruction does to the register with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Nothing. It has this many bytes.
    Next(usize),
    /// It is overwritten without being read.
    Overwrites,
    /// It is read, or may be.
    Reads,
    /// Nothing. It has this many bytes and jumps this far from its end.
    Jump(usize, isize),
    /// Like `Jump`, if a condition holds.
    Branch(usize, isize),
}

/// Whether the caller may look at the result.
///
/// # Safety
/// `address` is where a call in the program's code returns to.
pub(crate) unsafe fn is_used(address: usize) -> bool {
    if !cfg!(target_arch = "x86_64") {
        return true;
    }
    let mut left = MOST;
    // SAFETY: promised by the caller. There is code after each instruction that neither returns nor
    // jumps, and where it jumps to. The next page need not exist, so it is not read: there a
    // return, which uses the result, is assumed.
    let read =
        |at: usize| unsafe { if at % PAGE > PAGE - 16 { [RETURN; 16] } else { *(at as *const [u8; 16]) } };
    may_read(address, &read, &mut left)
}

/// Whether the register may be read before it is overwritten, from an address on.
fn may_read(mut at: usize, code: &dyn Fn(usize) -> [u8; 16], left: &mut u32) -> bool {
    while *left > 0 {
        *left -= 1;
        match effect(&code(at)) {
            Effect::Next(length) => at += length,
            Effect::Overwrites => return false,
            Effect::Reads => return true,
            Effect::Jump(length, offset) => at = at.wrapping_add(length).wrapping_add_signed(offset),
            Effect::Branch(length, offset) => {
                let there = at.wrapping_add(length).wrapping_add_signed(offset);
                if may_read(there, code, left) {
                    return true;
                }
                at += length;
            }
        }
    }
    true
}

/// The operands of an instruction that has a register and a register or memory.
struct Operands {
    /// Its bytes, from the one that names the operands on.
    length: usize,
    /// The register, or what the operation is.
    register: u8,
    /// Whether `register` is the result's.
    in_register: bool,
    /// Whether the other operand is the result's register itself.
    in_other: bool,
    /// Whether the other operand's address is computed from the result.
    in_address: bool,
}

impl Operands {
    fn are_free(&self) -> bool {
        !self.in_register && !self.in_other && !self.in_address
    }
}

fn operands(bytes: &[u8], rex: u8) -> Operands {
    let modes = bytes[0];
    let (mode, register, other) = (modes >> 6, modes >> 3 & 7, modes & 7);
    let (extend_r, extend_x, extend_b) = (rex & 4 != 0, rex & 2 != 0, rex & 1 != 0);
    let mut length = 1;
    let in_register = register == 0 && !extend_r;
    let (mut in_other, mut in_address) = (false, false);
    if mode == 3 {
        in_other = other == 0 && !extend_b;
    } else {
        let mut base = other;
        if other == 4 {
            let scaled = bytes[1];
            length += 1;
            base = scaled & 7;
            in_address |= scaled >> 3 & 7 == 0 && !extend_x;
        }
        let no_base = mode == 0 && base == 5;
        in_address |= base == 0 && !extend_b;
        length += match mode {
            1 => 1,
            2 => 4,
            _ if no_base => 4,
            _ => 0,
        };
    }
    Operands { length, register, in_register, in_other, in_address }
}

fn offset8(byte: u8) -> isize {
    isize::from(byte as i8)
}

fn offset32(bytes: &[u8]) -> isize {
    i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as isize
}

/// What the first instruction in these bytes does.
///
/// Long, because it has an arm for each group of instructions.
fn effect(bytes: &[u8; 16]) -> Effect {
    let (mut at, mut rex, mut narrow) = (0, 0, false);
    while at < 4 {
        match bytes[at] {
            0x66 => narrow = true,
            0xf2 | 0xf3 | 0x64 | 0x65 | 0x2e | 0x3e => {}
            0x40..=0x4f => rex = bytes[at],
            _ => break,
        }
        at += 1;
    }
    let (operation, rest) = (bytes[at], &bytes[at + 1..]);
    let behind = |length: usize| at + 1 + length;
    let plain = |operands: &Operands, more: usize| {
        if operands.are_free() { Effect::Next(behind(operands.length + more)) } else { Effect::Reads }
    };
    // A register gets a value that does not depend on what it held.
    let loads = |operands: &Operands, more: usize| match () {
        () if operands.in_other || operands.in_address => Effect::Reads,
        () if operands.in_register && narrow => Effect::Reads,
        () if operands.in_register => Effect::Overwrites,
        () => Effect::Next(behind(operands.length + more)),
    };
    let immediate = if narrow { 2 } else { 4 };
    let named = operation & 7 == 0 && rex & 1 == 0;
    match operation {
        0x0f => effect_of_long(&bytes[at + 1..], rex, at + 2, narrow),
        // xor of a register with itself
        0x31 | 0x33 if operands(rest, rex).in_register && operands(rest, rex).in_other && !narrow => {
            Effect::Overwrites
        }
        0x00..=0x3f if operation & 7 < 4 => plain(&operands(rest, rex), 0),
        0x50..=0x57 if named => Effect::Reads,
        0x58..=0x5f if named => Effect::Overwrites,
        0x50..=0x5f | 0x90 | 0xc9 => Effect::Next(behind(0)),
        0x63 | 0x8b | 0x8d => loads(&operands(rest, rex), 0),
        0x70..=0x7f => Effect::Branch(behind(1), offset8(rest[0])),
        0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => operate(&operands(rest, rex), 1, behind(0)),
        0x81 => operate(&operands(rest, rex), immediate, behind(0)),
        0xc7 => {
            let operands = operands(rest, rex);
            if operands.in_other && !narrow {
                Effect::Overwrites
            } else {
                operate(&operands, immediate, behind(0))
            }
        }
        0xd0 | 0xd1 => operate(&operands(rest, rex), 0, behind(0)),
        0x84..=0x89 => plain(&operands(rest, rex), 0),
        0xb8..=0xbf if named && !narrow => Effect::Overwrites,
        0xb8..=0xbf if !named => Effect::Next(behind(if rex & 8 != 0 { 8 } else { immediate })),
        0xb1..=0xb7 => Effect::Next(behind(1)),
        // A function may use the register as it likes.
        0xe8 => Effect::Overwrites,
        0xe9 => Effect::Jump(behind(4), offset32(rest)),
        0xeb => Effect::Jump(behind(1), offset8(rest[0])),
        0xf6 | 0xf7 => {
            let operands = operands(rest, rex);
            let more = match operands.register {
                0 | 1 if operation == 0xf6 => 1,
                0 | 1 => immediate,
                2 | 3 => 0,
                _ => return Effect::Reads,
            };
            operate(&operands, more, behind(0))
        }
        0xff => {
            let operands = operands(rest, rex);
            match operands.register {
                _ if operands.in_other || operands.in_address => Effect::Reads,
                0 | 1 | 6 => Effect::Next(behind(operands.length)),
                2 => Effect::Overwrites,
                _ => Effect::Reads,
            }
        }
        _ => Effect::Reads,
    }
}

/// An operation on one operand, with `more` bytes after it.
fn operate(operands: &Operands, more: usize, behind: usize) -> Effect {
    if operands.in_other || operands.in_address {
        return Effect::Reads;
    }
    Effect::Next(behind + operands.length + more)
}

/// Instructions with an opcode of two bytes: `bytes` begins with the second, and `behind` is where
/// that ends.
fn effect_of_long(bytes: &[u8], rex: u8, behind: usize, narrow: bool) -> Effect {
    let rest = &bytes[1..];
    match bytes[0] {
        0x80..=0x8f => Effect::Branch(behind + 4, offset32(rest)),
        // No operation, with operands that are not used.
        0x1e | 0x1f => Effect::Next(behind + operands(rest, rex).length),
        // Moves between vector registers and memory.
        0x10 | 0x11 | 0x28 | 0x29 | 0x6f | 0x7f | 0xd6 | 0x57 | 0xef => {
            let operands = operands(rest, rex);
            if operands.in_address { Effect::Reads } else { Effect::Next(behind + operands.length) }
        }
        0xb6 | 0xb7 | 0xbe | 0xbf => {
            let operands = operands(rest, rex);
            match () {
                () if operands.in_other || operands.in_address => Effect::Reads,
                () if operands.in_register && narrow => Effect::Reads,
                () if operands.in_register => Effect::Overwrites,
                () => Effect::Next(behind + operands.length),
            }
        }
        _ => Effect::Reads,
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Whether code that begins like this, and then returns, reads the result.
    fn reads(code: &[u8]) -> bool {
        let mut bytes: Vec<u8> = code.to_vec();
        bytes.resize(code.len() + 64, 0xc3);
        let read = |at: usize| <[u8; 16]>::try_from(&bytes[at..at + 16]).unwrap_or([0xc3; 16]);
        may_read(0, &read, &mut 100)
    }

    #[test]
    fn a_result_that_is_overwritten_is_not_read() {
        // mov eax, 0
        assert!(!reads(&[0xb8, 0, 0, 0, 0]));
        // xor eax, eax
        assert!(!reads(&[0x31, 0xc0]));
        // mov eax, [rbp-4]
        assert!(!reads(&[0x8b, 0x45, 0xfc]));
        // lea rax, [rip+8]
        assert!(!reads(&[0x48, 0x8d, 0x05, 8, 0, 0, 0]));
        // mov dword [rbp-8], 0; jmp +2; ret; ret; movzx eax, byte [rbx]
        assert!(!reads(&[0xc7, 0x45, 0xf8, 0, 0, 0, 0, 0xeb, 2, 0xc3, 0xc3, 0x0f, 0xb6, 0x03]));
        // add ebx, 1; cmp ebx, 2; jne +5; call; mov eax, 1
        assert!(!reads(&[0x83, 0xc3, 1, 0x83, 0xfb, 2, 0x75, 5, 0xe8, 0, 0, 0, 0, 0xb8, 1, 0, 0, 0]));
        // mov rdi, rbx; call
        assert!(!reads(&[0x48, 0x89, 0xdf, 0xe8, 0, 0, 0, 0]));
    }

    #[test]
    fn a_result_that_may_be_read_counts_as_read() {
        // ret
        assert!(reads(&[]));
        // leave; ret
        assert!(reads(&[0xc9]));
        // mov [rbp-4], eax
        assert!(reads(&[0x89, 0x45, 0xfc]));
        // cmp eax, -1
        assert!(reads(&[0x83, 0xf8, 0xff]));
        // test eax, eax
        assert!(reads(&[0x85, 0xc0]));
        // mov ebx, eax
        assert!(reads(&[0x89, 0xc3]));
        // mov eax, [rax]; the address is the result
        assert!(reads(&[0x8b, 0x00]));
        // add eax, ebx; imul, which is not understood
        assert!(reads(&[0x01, 0xd8]));
        assert!(reads(&[0x0f, 0xaf, 0xc3]));
        // jne +5; mov eax, 1 on one way only
        assert!(reads(&[0x75, 5, 0xb8, 1, 0, 0, 0]));
        // push rax; mov al, 1 leaves the rest
        assert!(reads(&[0x50]));
        assert!(reads(&[0xb0, 1]));
        // mov ax, 1 leaves the rest
        assert!(reads(&[0x66, 0xb8, 1, 0]));
    }

    #[test]
    fn loops_end() {
        // jmp to itself; nothing is known then
        assert!(reads(&[0xeb, 0xfe]));
    }

    #[test]
    fn no_bytes_lead_astray() {
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut bytes = [0; 16];
            for byte in &mut bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (seed >> 56) as u8;
            }
            if let Effect::Next(length) | Effect::Jump(length, _) | Effect::Branch(length, _) = effect(&bytes)
            {
                assert!((1..=15).contains(&length), "{bytes:x?}");
            }
        }
    }
}
