//! Writes that read first, found in the machine code after the call that reports them.
//!
//! gcc changes a bit-field by reading its neighbours in the same bytes and writing all of them
//! back, but reports only the write. Among the instructions up to the next call is one that reads
//! an operand in memory and a later one that writes the same operand, or one that does both. A
//! write that is wrongly taken for one costs one more step, and changes nothing else, because it
//! replaces all that it reports.

use alloc::vec::Vec;

/// Bytes of code before the end of the call that are searched.
pub(crate) const BEFORE: usize = 16;
/// Bytes of code after the call that are searched.
pub(crate) const REACH: usize = 64;

/// What code reads before it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstRead {
    /// How many bytes.
    pub(crate) size: u64,
    pub(crate) place: Place,
}

/// Where a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At this distance from the end of the call.
    FromCall(i64),
    /// At this distance from the reported address.
    FromReported(i64),
    Unknown,
}

/// What the code after a call reads in memory before it writes there, if it does so.
pub(crate) fn first_read(before: &[u8], code: &[u8]) -> Option<FirstRead> {
    let accesses = accesses(code);
    accesses.iter().enumerate().find_map(|(at, access)| {
        let writes = |later: &Access| later.does == Does::Write && later.covers(access);
        let changes = match access.does {
            Does::Both => true,
            Does::Read => accesses[at + 1..].iter().any(writes),
            Does::Write => false,
        };
        changes.then(|| FirstRead { size: access.size, place: access.operand.place(before) })
    })
}

/// Accesses to memory, up to the next call or jump, or the first instruction that is not known.
fn accesses(code: &[u8]) -> Vec<Access> {
    let mut accesses = Vec::new();
    let mut at = 0;
    while let Some(instruction) = Instruction::read(code, at) {
        accesses.extend(instruction.access(code));
        at = instruction.end;
    }
    accesses
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Read,
    Write,
    Both,
}

/// What an instruction does to memory.
struct Access {
    does: Does,
    size: u64,
    operand: Operand,
}

impl Access {
    /// Whether its bytes include the other one's, which may be fewer: of a field of three bytes,
    /// only the fourth is read before.
    fn covers(&self, other: &Access) -> bool {
        let end = |access: &Access| access.operand.distance.saturating_add_unsigned(access.size);
        self.operand.registers == other.operand.registers
            && self.operand.distance <= other.operand.distance
            && end(other) <= end(self)
    }
}

/// Where an operand in memory is.
#[derive(PartialEq, Eq)]
struct Operand {
    registers: Registers,
    /// The distance from them.
    distance: i64,
}

#[derive(PartialEq, Eq)]
enum Registers {
    /// The instruction pointer; distances are from the start of the code.
    Next,
    One(u8),
    /// Two, with how they are combined.
    Two([u8; 2]),
}

impl Operand {
    /// Where it is, if the call before the code reports something at a distance from the same
    /// register.
    fn place(&self, before: &[u8]) -> Place {
        match self.registers {
            Registers::Next => Place::FromCall(self.distance),
            Registers::One(register) => argument(before)
                .filter(|&(reported, _)| reported == register)
                .map_or(Place::Unknown, |(_, distance)| Place::FromReported(self.distance - distance)),
            Registers::Two(_) => Place::Unknown,
        }
    }
}

/// The register that an argument comes from, and the distance from it, in code that ends with a
/// call.
fn argument(before: &[u8]) -> Option<(u8, i64)> {
    let before = before.strip_suffix(before.last_chunk::<5>().filter(|call| call[0] == 0xe8)?)?;
    let far = |register: u8, extended: u8| (register & 7) | (extended & 1) << 3;
    match *before {
        // lea rdi, [register + distance], of one byte or of four
        [.., rex @ 0x48..=0x49, 0x8d, mode, near] if mode & 0xf8 == 0x78 && mode & 7 != 4 => {
            Some((far(mode, rex), i8::from_le_bytes([near]).into()))
        }
        [.., rex @ 0x48..=0x49, 0x8d, mode, a, b, c, d] if mode & 0xf8 == 0xb8 && mode & 7 != 4 => {
            Some((far(mode, rex), i32::from_le_bytes([a, b, c, d]).into()))
        }
        // mov rdi, register, perhaps after add register, distance
        [ref rest @ .., rex @ (0x48 | 0x4c), 0x89, mode] if mode & 0xc7 == 0xc7 => {
            let register = far(mode >> 3, rex >> 2);
            match *rest {
                [.., rex @ 0x48..=0x49, 0x83, to, distance]
                    if to & 0xf8 == 0xc0 && far(to, rex) == register =>
                {
                    Some((register, i8::from_le_bytes([distance]).into()))
                }
                _ => Some((register, 0)),
            }
        }
        _ => None,
    }
}

/// The parts of an instruction of 64-bit code.
struct Instruction {
    /// It has the prefix for operands of two bytes.
    short: bool,
    /// The prefix with bits of registers, or 0.
    rex: u8,
    /// One byte, or 0x0f00 more for those of two.
    opcode: u16,
    /// Where its operand is described, if it has one.
    mode: Option<usize>,
    end: usize,
}

impl Instruction {
    /// The instruction at this place, unless it calls, jumps or returns, or is not known.
    fn read(code: &[u8], mut at: usize) -> Option<Instruction> {
        let mut short = false;
        while let 0x66 | 0xf2 | 0xf3 | 0x64 = *code.get(at)? {
            short |= code[at] == 0x66;
            at += 1;
        }
        let rex = Some(code[at]).filter(|byte| byte & 0xf0 == 0x40).unwrap_or(0);
        at += usize::from(rex != 0);
        let mut opcode = u16::from(*code.get(at)?);
        if opcode == 0x0f {
            at += 1;
            opcode = 0x0f00 | u16::from(*code.get(at)?);
        }
        at += 1;
        let kind = code.get(at).map_or(0, |mode| mode >> 3 & 7);
        let word = if short { 2 } else { 4 };
        // Whether it has an operand, and the length of a number at its end.
        let (operand, number) = match opcode {
            0x00..=0x3f if opcode & 7 < 4 => (true, 0),
            0x00..=0x3f if opcode & 7 == 4 => (false, 1),
            0x00..=0x3f if opcode & 7 == 5 => (false, word),
            0x50..=0x5f | 0x90..=0x99 | 0xc9 => (false, 0),
            0x63 | 0x84..=0x8b | 0x8d | 0xd0..=0xd3 | 0xfe => (true, 0),
            0x68 | 0xa9 => (false, word),
            0x6a | 0x70..=0x7f | 0xa8 | 0xb0..=0xb7 => (false, 1),
            0x69 | 0x81 | 0xc7 => (true, word),
            0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => (true, 1),
            0xb8..=0xbf if rex & 8 != 0 => (false, 8),
            0xb8..=0xbf => (false, word),
            0xf6 => (true, usize::from(kind < 2)),
            0xf7 => (true, if kind < 2 { word } else { 0 }),
            0xff if !matches!(kind, 2..=5) => (true, 0),
            0x0f80..=0x0f8f => (false, 4),
            0x0f70..=0x0f73 | 0x0fa4 | 0x0fac | 0x0fba | 0x0fc2 | 0x0fc6 => (true, 1),
            0x0f10..=0x0f17 | 0x0f1e..=0x0f1f | 0x0f28..=0x0f2f | 0x0f40..=0x0f7f => (true, 0),
            0x0f90..=0x0f9f | 0x0fa3 | 0x0faf | 0x0fb6..=0x0fb7 | 0x0fbc..=0x0fbf | 0x0fd0..=0x0fff => {
                (true, 0)
            }
            _ => return None,
        };
        let mode = operand.then_some(at);
        let after = if operand { operand_at(code, at)?.1 } else { at };
        let end = after + number;
        (end <= code.len()).then_some(Instruction { short, rex, opcode, mode, end })
    }

    /// What it does to memory, if it moves from or to it, or is `and`, `or` or `xor` of it.
    fn access(&self, code: &[u8]) -> Option<Access> {
        let mode = self.mode?;
        let word = match (self.rex & 8 != 0, self.short) {
            (true, _) => 8,
            (false, true) => 2,
            (false, false) => 4,
        };
        let logic = matches!(code[mode] >> 3 & 7, 1 | 4 | 6);
        let (does, size) = match self.opcode {
            0x0fb6 | 0x8a | 0x0a | 0x22 | 0x32 => (Does::Read, 1),
            0x0fb7 => (Does::Read, 2),
            0x8b | 0x0b | 0x23 | 0x33 => (Does::Read, word),
            0x88 => (Does::Write, 1),
            0x89 => (Does::Write, word),
            0x08 | 0x20 | 0x30 => (Does::Both, 1),
            0x09 | 0x21 | 0x31 => (Does::Both, word),
            0x80 if logic => (Does::Both, 1),
            0x81 | 0x83 if logic => (Does::Both, word),
            _ => return None,
        };
        let (mut operand, _) = operand_at(code, mode).filter(|_| code[mode] >> 6 != 3)?;
        match &mut operand.registers {
            Registers::Next => operand.distance += self.end as i64,
            Registers::One(register) => *register |= (self.rex & 1) << 3,
            Registers::Two(registers) => registers[1] = self.rex & 3,
        }
        Some(Access { does, size, operand })
    }
}

/// The operand that is described here, without the bits of registers in the prefix, and where its
/// description ends.
fn operand_at(code: &[u8], mut at: usize) -> Option<(Operand, usize)> {
    let mode = *code.get(at)?;
    at += 1;
    let (width, base) = (mode >> 6, mode & 7);
    if width == 3 {
        return Some((Operand { registers: Registers::One(base), distance: 0 }, at));
    }
    let scaled = if base == 4 { *code.get(at)? } else { 0 };
    at += usize::from(base == 4);
    let next = base == 5 && width == 0;
    let far = width == 2 || next || base == 4 && scaled & 7 == 5 && width == 0;
    let distance = if far {
        at += 4;
        i32::from_le_bytes(*code.get(at - 4..)?.first_chunk::<4>()?).into()
    } else if width == 1 {
        at += 1;
        i8::from_le_bytes([*code.get(at - 1)?]).into()
    } else {
        0
    };
    let registers = match base {
        4 => Registers::Two([scaled, 0]),
        _ if next => Registers::Next,
        _ => Registers::One(base),
    };
    Some((Operand { registers, distance }, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: &[u8]) -> Option<(u64, Place)> {
        first_read(&[], code).map(|read| (read.size, read.place))
    }

    #[test]
    fn changes_of_bit_fields_are_found() {
        // movzx eax, [rip + 7]; and eax, ~15; or eax, 1; mov [rip - 5], al; call
        let byte = [
            0x0f, 0xb6, 0x05, 0x07, 0, 0, 0, 0x83, 0xe0, 0xf0, 0x83, 0xc8, 0x01, 0x88, 0x05, 0xfb, 0xff,
            0xff, 0xff, 0xe8, 0, 0, 0, 0,
        ];
        assert_eq!(read(&byte), Some((1, Place::FromCall(14))));
        // Also after shr eax, 4.
        let mut shifted = byte[..13].to_vec();
        shifted.extend([0xc1, 0xe8, 0x04, 0x88, 0x05, 0xf8, 0xff, 0xff, 0xff]);
        assert_eq!(read(&shifted), Some((1, Place::FromCall(14))));
        // The same with another place written.
        let mut other = byte;
        other[15] = 0xfa;
        assert_eq!(read(&other), None);
        // movzx edx, word [rax]; and dx, 0xe00f; or edx, ecx; mov [rax], dx
        let word =
            [0x0f, 0xb7, 0x10, 0x66, 0x81, 0xe2, 0x0f, 0xe0, 0x09, 0xca, 0x66, 0x89, 0x10, 0xe8, 0, 0, 0, 0];
        assert_eq!(read(&word), Some((2, Place::Unknown)));
        // or byte [rbx + 8], 1; and dword [rip], -17; xor [r12], rax
        assert_eq!(read(&[0x80, 0x4b, 0x08, 0x01]), Some((1, Place::Unknown)));
        assert_eq!(read(&[0x83, 0x25, 0, 0, 0, 0, 0xef]), Some((4, Place::FromCall(7))));
        assert_eq!(read(&[0x49, 0x31, 0x04, 0x24]), Some((8, Place::Unknown)));
        // and rdx, [rip + 16]; or rdx, rax; mov [rip + 6], rdx
        let combined =
            [0x48, 0x23, 0x15, 0x10, 0, 0, 0, 0x48, 0x09, 0xc2, 0x48, 0x89, 0x15, 0x06, 0, 0, 0, 0xc3];
        assert_eq!(read(&combined), Some((8, Place::FromCall(23))));
        // movzx eax, byte [rbx + 4]; or ah, 0x4d; mov [rbx + 4], eax
        let larger = [0x0f, 0xb6, 0x43, 0x04, 0x80, 0xcc, 0x4d, 0x89, 0x43, 0x04, 0xc3];
        assert_eq!(read(&larger), Some((1, Place::Unknown)));
        // mov rax, [rsp + 8]; mov [rsp + 8], rcx
        let stack = [0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x89, 0x4c, 0x24, 0x08];
        assert_eq!(read(&stack), Some((8, Place::Unknown)));
    }

    #[test]
    fn places_follow_from_what_was_reported() {
        // or byte [rbx + 9], 1
        let code = [0x80, 0x4b, 0x09, 0x01];
        let place = |before: &[u8]| first_read(before, &code).map(|read| read.place);
        let call = [0xe8, 1, 2, 3, 4];
        // lea rdi, [rbx + 8], by a byte and by four
        assert_eq!(place(&[&[0x48, 0x8d, 0x7b, 8][..], &call].concat()), Some(Place::FromReported(1)));
        let far = [&[0x48, 0x8d, 0xbb, 8, 0, 0, 0][..], &call].concat();
        assert_eq!(place(&far), Some(Place::FromReported(1)));
        // mov rdi, rbx, also after add rbx, 7
        assert_eq!(place(&[&[0x48, 0x89, 0xdf][..], &call].concat()), Some(Place::FromReported(9)));
        let added = [&[0x48, 0x83, 0xc3, 7, 0x48, 0x89, 0xdf][..], &call].concat();
        assert_eq!(place(&added), Some(Place::FromReported(2)));
        // mov rdi, rbp; mov rdi, r11: another register.
        assert_eq!(place(&[&[0x48, 0x89, 0xef][..], &call].concat()), Some(Place::Unknown));
        assert_eq!(place(&[&[0x4c, 0x89, 0xdf][..], &call].concat()), Some(Place::Unknown));
    }

    #[test]
    fn other_writes_are_not() {
        // mov dword [rip], 5; call
        assert_eq!(read(&[0xc7, 0x05, 0, 0, 0, 0, 5, 0, 0, 0, 0xe8, 0, 0, 0, 0]), None);
        // mov [rax], dl; movzx eax, [rax]: in the other order.
        assert_eq!(read(&[0x88, 0x10, 0x0f, 0xb6, 0x00, 0xc3]), None);
        // mov eax, [rdi]; mov [rsi], eax
        assert_eq!(read(&[0x8b, 0x07, 0x89, 0x06, 0xc3]), None);
        // mov eax, [rdi]; call; mov [rdi], eax
        assert_eq!(read(&[0x8b, 0x07, 0xe8, 0, 0, 0, 0, 0x89, 0x07]), None);
        // mov [rip + 1], ebp; call; add rsp, 8; pop rbx; pop rbp: bytes of an `or` between two
        // instructions.
        let end = [0x89, 0x2d, 0, 0, 0, 1, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0x5d];
        assert_eq!(read(&end), None);
        // Registers alone: or eax, 1; and cl, dl
        assert_eq!(read(&[0x83, 0xc8, 0x01, 0x20, 0xd1]), None);
    }

    #[test]
    fn any_bytes_are_code() {
        let mut state = 1_u64;
        for length in 0..REACH {
            let mut code = [0_u8; REACH];
            for byte in &mut code {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (state >> 56) as u8;
            }
            let _ = first_read(&code[length..], &code[..length]);
        }
    }
}
