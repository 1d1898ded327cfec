//! Writes that read first, found in the machine code after the call that reports them.
//!
//! gcc changes a bit-field by reading its neighbours in the same bytes and writing all of them back, but
//! reports only the write. Without a disassembler: among the instructions up to the next call is one
//! that reads an operand in memory and a later one that writes the same operand, or one that does both.
//! Bytes that look so by chance cost a step more, and change nothing else: a write that does not read
//! replaces all that it reports.

/// How far code is looked through before and after the end of the call.
pub(crate) const BEFORE: usize = 16;
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
    /// So far from the end of the call.
    FromCall(i64),
    /// So far from the reported address.
    FromReported(i64),
    Unknown,
}

/// What the code after a call reads in memory before it writes there, if it does so.
pub(crate) fn first_read(before: &[u8], code: &[u8]) -> Option<FirstRead> {
    let code = &code[..(1..code.len()).find(|&at| is_call(code, at)).unwrap_or(code.len())];
    let at = |at| instruction(code, at);
    (0..code.len()).find_map(|first| {
        let Instruction { does, size, operand } = at(first)?;
        let writes = |later| {
            at(later).is_some_and(|other| {
                other.does == Does::Write && (other.size, &other.operand) == (size, &operand)
            })
        };
        let changes = match does {
            Does::Both => true,
            Does::Read => (first + 2..code.len()).any(writes),
            Does::Write => false,
        };
        changes.then(|| FirstRead { size, place: operand.place(before) })
    })
}

/// Whether a call may begin here, through a pointer or by a distance, which is not far in most programs. The
/// same byte often tells the registers of an instruction that begins before.
fn is_call(code: &[u8], at: usize) -> bool {
    /// `add`, `or`, `and`, `sub`, `xor` and `mov` from a register to a register.
    const BETWEEN_REGISTERS: [u8; 6] = [0x01, 0x09, 0x21, 0x29, 0x31, 0x89];
    const FAR: u32 = 1 << 20;
    let rest = &code[at..];
    let distance = rest[1..].first_chunk::<4>().map(|bytes| i32::from_le_bytes(*bytes));
    rest.starts_with(&[0xff, 0x15])
        || rest[0] == 0xe8
            && distance.is_none_or(|distance| distance.unsigned_abs() < FAR)
            && !BETWEEN_REGISTERS.contains(&code[at - 1])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Read,
    Write,
    Both,
}

struct Instruction {
    does: Does,
    size: u64,
    operand: Operand,
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
    /// The one that says where the next instruction is: distances are from the start of the code.
    Next,
    One(u8),
    /// Two, as they are combined.
    Two([u8; 2]),
}

impl Operand {
    /// Where it is, if the call before the code reports something at a distance from the same register.
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

/// The register that an argument comes from, and the distance from it, in code that ends with a call.
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

/// The instruction that may begin here: a move from or to memory, or `and`, `or` or `xor` of memory.
fn instruction(code: &[u8], mut at: usize) -> Option<Instruction> {
    let short = *code.get(at)? == 0x66;
    at += usize::from(short);
    let prefix = code.get(at).copied().filter(|byte| byte & 0xf0 == 0x40);
    at += usize::from(prefix.is_some());
    let prefix = prefix.unwrap_or(0);
    let number: u32 = if short { 2 } else { 4 };
    let word = if prefix & 8 != 0 { 8 } else { u64::from(number) };
    let opcode = *code.get(at)?;
    let kind = code.get(at + 1).map_or(0, |second| second >> 3 & 7);
    // What it does, with how many bytes; the length of the opcode, and of a number at the end.
    let (does, size, length, more) = match opcode {
        0x0f if code.get(at + 1) == Some(&0xb6) => (Does::Read, 1, 2, 0),
        0x0f if code.get(at + 1) == Some(&0xb7) => (Does::Read, 2, 2, 0),
        0x8a => (Does::Read, 1, 1, 0),
        0x8b => (Does::Read, word, 1, 0),
        0x88 => (Does::Write, 1, 1, 0),
        0x89 => (Does::Write, word, 1, 0),
        0x08 | 0x20 | 0x30 => (Does::Both, 1, 1, 0),
        0x09 | 0x21 | 0x31 => (Does::Both, word, 1, 0),
        0x80 if matches!(kind, 1 | 4 | 6) => (Does::Both, 1, 1, 1),
        0x81 if matches!(kind, 1 | 4 | 6) => (Does::Both, word, 1, number),
        0x83 if matches!(kind, 1 | 4 | 6) => (Does::Both, word, 1, 1),
        _ => return None,
    };
    let operand = operand(code, at + length, prefix, more)?;
    Some(Instruction { does, size, operand })
}

/// The operand in memory at this place, of an instruction with a prefix that ends with so many bytes more.
fn operand(code: &[u8], mut at: usize, prefix: u8, more: u32) -> Option<Operand> {
    let mode = *code.get(at)?;
    at += 1;
    let (width, base) = (mode >> 6, mode & 7);
    if width == 3 {
        return None;
    }
    let scaled = if base == 4 { *code.get(at)? } else { 0 };
    at += usize::from(base == 4);
    let next = base == 5 && width == 0;
    let far = width == 2 || next || base == 4 && scaled & 7 == 5 && width == 0;
    let distance = if far {
        let bytes = *code.get(at..)?.first_chunk::<4>()?;
        at += 4;
        i32::from_le_bytes(bytes).into()
    } else if width == 1 {
        at += 1;
        i8::from_le_bytes([*code.get(at - 1)?]).into()
    } else {
        0
    };
    let distance: i64 = distance + if next { at as i64 + i64::from(more) } else { 0 };
    let registers = match base {
        4 => Registers::Two([scaled, prefix & 3]),
        _ if next => Registers::Next,
        _ => Registers::One(base | (prefix & 1) << 3),
    };
    Some(Operand { registers, distance })
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
        // Shifts of a register have the byte of a call.
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
