//! Functions that access variables without reporting it, although the rest of their source reports
//! its accesses: what threads share there is invisible. Either the sanitizer leaves the whole
//! function out (`no_sanitize("thread")`, assembler), or compilers expand a call in place (`strcmp`
//! with a constant, a short `memcmp`).
//!
//! This needs no disassembler. Whatever an x86-64 function does to a variable of its own file by
//! name is an instruction with a distance from the next one, and other bytes would have to hit a
//! variable by chance. A function that reports its accesses calls the sanitizer, with an address
//! that it computes from that of the variable. Accesses through pointers are not found.

use std::collections::{BTreeMap, BTreeSet};

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};

use super::runtime::Runtime;

/// Functions that become part of programs when they are linked, and one of `turnpike.h`.
const FRAME: [&str; 13] = [
    "__do_global_dtors_aux",
    "__libc_csu_fini",
    "__libc_csu_init",
    "__pthread_atfork",
    "_dl_relocate_static_pie",
    "_start",
    "at_quick_exit",
    "atexit",
    "deregister_tm_clones",
    "frame_dummy",
    "pthread_atfork",
    "register_tm_clones",
    "tp_controlled",
];

/// What is needed of a file.
struct Image<'a> {
    /// Sections with their bytes.
    sections: Vec<(u64, &'a [u8])>,
    /// Where variables are.
    variables: Vec<(u64, u64)>,
    /// Start and end of each variable that has a symbol.
    named: BTreeMap<u64, u64>,
    /// Where the sanitizer's functions are, or pointers to them.
    hooks: BTreeSet<u64>,
}

impl<'a> Image<'a> {
    fn read(file: &object::File<'a>) -> Image<'a> {
        let is_hook = |name: &str| name.starts_with("__tsan_");
        let mut hooks: BTreeSet<u64> = BTreeSet::new();
        let named: BTreeMap<usize, String> = file
            .dynamic_symbols()
            .filter_map(|symbol| Some((symbol.index().0, symbol.name().ok()?.to_owned())))
            .collect();
        for (slot, relocation) in file.dynamic_relocations().into_iter().flatten() {
            if let RelocationTarget::Symbol(symbol) = relocation.target()
                && named.get(&symbol.0).is_some_and(|name| is_hook(name))
            {
                hooks.insert(slot);
            }
        }
        for symbol in file.symbols() {
            if symbol.is_definition() && symbol.name().is_ok_and(is_hook) {
                hooks.insert(symbol.address());
            }
        }
        let variables = file
            .sections()
            .filter(|section| matches!(section.name(), Ok(".data" | ".bss")))
            .map(|section| (section.address(), section.address() + section.size()))
            .collect();
        let sections = file
            .sections()
            .filter(|section| {
                section.name().is_ok_and(|name| name.starts_with(".text") || name.starts_with(".plt"))
            })
            .filter_map(|section| Some((section.address(), section.data().ok()?)))
            .collect();
        let named = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0)
            .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
            .collect();
        Image { sections, variables, named, hooks }
    }

    fn bytes(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        self.sections.iter().find_map(|&(start, data)| {
            let from = usize::try_from(address.checked_sub(start)?).ok()?;
            data.get(from..from.checked_add(usize::try_from(size).ok()?)?)
        })
    }

    /// Whether a call of this address reaches the sanitizer, perhaps by a jump through a pointer.
    fn is_hook(&self, address: u64) -> bool {
        if self.hooks.contains(&address) {
            return true;
        }
        // `endbr64` and a prefix may come before the jump.
        (0..8).any(|skipped| {
            let at = address.wrapping_add(skipped);
            let jump = self.bytes(at, 6).filter(|bytes| bytes.starts_with(&[0xff, 0x25]));
            jump.is_some_and(|bytes| self.hooks.contains(&target(at + 2, &bytes[2..])))
        })
    }

    fn is_variable(&self, address: u64) -> bool {
        self.variables.iter().any(|&(start, end)| (start..end).contains(&address))
    }

    /// The variable with a symbol that an address lies in.
    fn variable(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.named.range(..=address).next_back()?;
        (address < end && self.is_variable(address)).then_some((start, end))
    }

    /// Whether code accesses a variable by its name without reporting it: it does not call the
    /// sanitizer, or does not contain the address of that variable.
    fn hides(&self, start: u64, code: &[u8]) -> bool {
        let mut accesses = false;
        let mut reports = false;
        let (mut accessed, mut addresses) = (BTreeSet::new(), BTreeSet::new());
        for at in 1..code.len().saturating_sub(3) {
            let here = start + at as u64;
            let to = target(here, &code[at..]);
            let (before, earlier) = (code[at - 1], at.checked_sub(2).map_or(0, |at| code[at]));
            // call, jmp; call through a pointer.
            reports |= matches!(before, 0xe8 | 0xe9) && self.is_hook(to)
                || earlier == 0xff && matches!(before, 0x15 | 0x25) && self.hooks.contains(&to);
            // Addresses may be numbers in programs that are loaded at a fixed place.
            let number = target(0, &code[at..]).wrapping_sub(4);
            addresses.extend(self.variable(number));
            if before & 0xc7 != 0x05 {
                continue;
            }
            // An operand at a distance, after which a number of up to four bytes may follow. `lea`
            // only computes its address.
            if earlier == 0x8d {
                addresses.extend(self.variable(to));
                continue;
            }
            let operands = [0, 1, 2, 4].map(|more| to.wrapping_add(more));
            accesses |= operands.iter().any(|&operand| self.is_variable(operand));
            // Only for common instructions, because the code has many other bytes.
            if READS.contains(&earlier) {
                accessed.extend(self.variable(to));
            } else if let Some(more) = immediate(earlier, at.checked_sub(3).map_or(0, |at| code[at])) {
                accessed.extend(self.variable(to.wrapping_add(more)));
            }
        }
        if reports { !accessed.is_subset(&addresses) } else { accesses }
    }
}

/// Instructions that read memory: `mov`, `movzx` and `movsx`, moves of vectors, arithmetic and
/// comparisons.
const READS: [u8; 24] = [
    0x8b, 0x8a, 0xb6, 0xb7, 0xbe, 0xbf, 0x63, 0x10, 0x28, 0x6f, 0x7e, 0x03, 0x0b, 0x23, 0x2b, 0x33, 0x38,
    0x39, 0x3a, 0x3b, 0x84, 0x85, 0x2a, 0x02,
];

/// How many bytes follow the operand of an instruction that compares it with a number. A prefix may
/// make the number shorter.
fn immediate(opcode: u8, prefix: u8) -> Option<u64> {
    match opcode {
        0x80 | 0x83 => Some(1),
        0x81 if prefix == 0x66 => Some(2),
        0x81 => Some(4),
        _ => None,
    }
}

/// The address at the distance that four bytes hold, from the end of these bytes.
fn target(address: u64, distance: &[u8]) -> u64 {
    let distance = distance.first_chunk::<4>().map_or(0, |bytes| i32::from_le_bytes(*bytes));
    address.wrapping_add(4).wrapping_add_signed(distance.into())
}

/// The functions of a program, compiled with the flag, that access its variables without reporting
/// it; empty for files without symbols.
pub(super) fn functions(file: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(file) else { return Vec::new() };
    let is_instrumented =
        file.dynamic_symbols().chain(file.symbols()).any(|one| one.name() == Ok("__tsan_init"));
    if file.architecture() != object::Architecture::X86_64 || !is_instrumented {
        return Vec::new();
    }
    let image = Image::read(&file);
    let runtime = Runtime::find(&file).unwrap_or_default();
    let mut hidden = BTreeSet::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let name = symbol.name().unwrap_or_default();
        let part = name.contains(".cold") || FRAME.contains(&name);
        if !part
            && !runtime.covers(symbol.address())
            && image
                .bytes(symbol.address(), symbol.size())
                .is_some_and(|code| image.hides(symbol.address(), code))
        {
            hidden.insert(name.to_owned());
        }
    }
    hidden.into_iter().collect()
}

/// Why nothing is proved about a program with these functions; `None` if there are none.
pub(super) fn tell(functions: &[String]) -> Option<String> {
    /// The most that are listed; the others are counted.
    const MOST: usize = 6;
    let (last, others) = functions.split_last()?;
    let list = match functions.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{} and {more} more", functions[..MOST].join(", ")),
        _ if others.is_empty() => last.clone(),
        _ => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("accesses to memory in {list} are not visible (the sanitizer leaves them out)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_of_the_sanitizer_hides_nothing() {
        let bytes = std::fs::read(std::env::current_exe().expect("a path")).expect("it can be read");
        assert_eq!(functions(&bytes), Vec::<String>::new());
        for length in [0, 3, 64, 1000, bytes.len() / 2] {
            assert_eq!(functions(&bytes[..length]), Vec::<String>::new());
        }
    }

    #[test]
    fn accesses_by_name_are_told_from_addresses_and_calls() {
        // A stub at 0x100 that jumps by the pointer at 0x900, which is the sanitizer's.
        let stub = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x07, 0, 0];
        let image = Image {
            sections: vec![(0x100, &stub)],
            variables: vec![(0x2000, 0x2100)],
            named: BTreeMap::from([(0x2000, 0x2010), (0x2010, 0x2020)]),
            hooks: BTreeSet::from([0x900]),
        };
        assert!(image.is_hook(0x100) && !image.is_hook(0x110));
        // mov eax, [rip + 0xffa]; ret
        assert!(image.hides(0x1000, &[0x8b, 0x05, 0xfa, 0x0f, 0, 0, 0xc3]));
        // lea rax, [rip + 0xff9]
        assert!(!image.hides(0x1000, &[0x48, 0x8d, 0x05, 0xf9, 0x0f, 0, 0, 0xc3]));
        // mov dword [rip + 0xffa], 7
        assert!(image.hides(0x1000, &[0xc7, 0x05, 0xf6, 0x0f, 0, 0, 7, 0, 0, 0]));
        // lea rdi, [rip + 0xff9]; call 0x100
        let mut code = vec![0x48, 0x8d, 0x3d, 0xf9, 0x0f, 0, 0, 0xe8, 0xf4, 0xf0, 0xff, 0xff];
        // cmp byte [rip + 0xff0], 'a': 0x2003, a part of the variable that was reported; then
        // another one.
        code.extend([0x80, 0x3d, 0xf0, 0x0f, 0, 0, 0x61]);
        assert!(!image.hides(0x1000, &code));
        code.extend([0x80, 0x3d, 0xf6, 0x0f, 0, 0, 0x61]);
        assert!(image.hides(0x1000, &code));
    }

    #[test]
    fn functions_are_listed() {
        let told = |names: &[&str]| tell(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(told(&[]), None);
        assert!(told(&["f"]).is_some_and(|text| text.starts_with("accesses to memory in f are not visible")));
        assert!(told(&["f", "g", "h"]).is_some_and(|text| text.contains("in f, g and h are")));
        assert!(told(&["f"; 9]).is_some_and(|text| text.contains("f and 3 more are")));
    }
}
