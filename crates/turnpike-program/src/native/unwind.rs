//! Unwinds call stacks from registers and copies of stacks, by the tables that compilers write for
//! exceptions and debuggers.

use std::path::Path;

use addr2line::gimli::{
    BaseAddresses, CfaRule, EhFrame, EndianSlice, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection,
};
use object::{Object, ObjectSection};
use turnpike_preload::dump::Dump;

/// The limit on frames, because recursion may be endless.
const DEEPEST: usize = 256;

/// Registers by their numbers in the tables.
const COUNT: usize = 33;

/// Values of registers, as far as they are known.
pub(super) type Registers = [Option<u64>; COUNT];

#[cfg(target_arch = "x86_64")]
mod machine {
    /// The numbers of the registers in a dump: return address, stack pointer, and so on.
    pub(super) const KEPT: [usize; 8] = [16, 7, 3, 6, 12, 13, 14, 15];
    pub(super) const RETURN: usize = 16;
    pub(super) const STACK: usize = 7;
}

#[cfg(target_arch = "aarch64")]
mod machine {
    pub(super) const KEPT: [usize; 13] = [32, 31, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
    pub(super) const RETURN: usize = 30;
    pub(super) const STACK: usize = 31;
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod machine {
    pub(super) const KEPT: [usize; 0] = [];
    pub(super) const RETURN: usize = 0;
    pub(super) const STACK: usize = 0;
}

/// The tables of one file, loaded once.
pub(super) struct Tables {
    section: Vec<u8>,
    bases: BaseAddresses,
}

impl Tables {
    /// The tables of a file; empty if it has none.
    pub(super) fn of(path: &Path) -> Tables {
        // The preloaded library is a file in memory.
        let own = path.to_string_lossy().starts_with("/memfd:");
        let bytes =
            if own { turnpike_preload::LIBRARY.to_vec() } else { std::fs::read(path).unwrap_or_default() };
        Tables::parse(&bytes).unwrap_or(Tables { section: Vec::new(), bases: BaseAddresses::default() })
    }

    fn parse(bytes: &[u8]) -> Option<Tables> {
        let file = object::File::parse(bytes).ok()?;
        let section = file.section_by_name(".eh_frame")?;
        let mut bases = BaseAddresses::default().set_eh_frame(section.address());
        if let Some(text) = file.section_by_name(".text") {
            bases = bases.set_text(text.address());
        }
        if let Some(got) = file.section_by_name(".got") {
            bases = bases.set_got(got.address());
        }
        Some(Tables { section: section.data().ok()?.to_vec(), bases })
    }

    /// Replaces the registers of a function by those of its caller; `None` where that is not known.
    /// `address` is inside the call, as in the file.
    pub(super) fn step(&self, address: u64, registers: &mut Registers, stack: &Stack<'_>) -> Option<()> {
        let frames = EhFrame::from(EndianSlice::new(&self.section, LittleEndian));
        let mut context = UnwindContext::new();
        let row = frames
            .unwind_info_for_address(&self.bases, &mut context, address, EhFrame::cie_from_offset)
            .ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
        let base = registers.get(usize::from(register.0)).copied().flatten()?;
        let frame = base.wrapping_add_signed(*offset);
        let mut caller = *registers;
        // Without a rule, a register of the caller has the function's value, and the return address
        // is in its register.
        for (number, value) in caller.iter_mut().enumerate() {
            let register = Register(u16::try_from(number).ok()?);
            match row.register(register) {
                Some(RegisterRule::Offset(offset)) => *value = stack.word(frame.wrapping_add_signed(offset)),
                Some(RegisterRule::ValOffset(offset)) => *value = Some(frame.wrapping_add_signed(offset)),
                Some(RegisterRule::Register(other)) => {
                    *value = registers.get(usize::from(other.0)).copied().flatten();
                }
                Some(RegisterRule::SameValue) | None => {}
                _ => *value = None,
            }
        }
        caller[machine::STACK] = Some(frame);
        *registers = caller;
        Some(())
    }
}

/// A copy of a stack.
pub(super) struct Stack<'a> {
    low: u64,
    bytes: &'a [u8],
}

impl Stack<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.low)?).ok()?;
        let word = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    }
}

/// The return addresses of the calls that a thread is in, innermost first. `step` replaces the
/// registers of the function at an address by those of its caller.
pub(super) fn unwind(
    dump: &Dump,
    mut step: impl FnMut(u64, &mut Registers, &Stack<'_>) -> Option<()>,
) -> Vec<u64> {
    let mut registers = [None; COUNT];
    for (&number, &value) in machine::KEPT.iter().zip(&dump.registers) {
        registers[number] = Some(value);
    }
    let stack = Stack { low: dump.registers[1], bytes: &dump.stack };
    let mut address = dump.registers[0];
    let mut out = Vec::new();
    while address != 0 && out.len() < DEEPEST {
        out.push(address);
        let below = registers[machine::STACK];
        if step(address, &mut registers, &stack).is_none() {
            break;
        }
        address = match registers[machine::RETURN] {
            // A caller's frame is above; otherwise this is not a stack.
            Some(next) if registers[machine::STACK] >= below => next,
            _ => break,
        };
    }
    out
}
