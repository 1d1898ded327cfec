//! The sanitizer's runtime inside a program: clang links it there, as does gcc with
//! `-static-libtsan`.
//!
//! The guest replaces its functions, so neither its code nor its variables are the program's.
//! Object files of the runtime lie next to each other, so a symbol of unknown origin belongs to the
//! runtime if its neighbours on both sides do.

use std::collections::{BTreeMap, BTreeSet};

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind, SymbolKind};

use super::opaque;

/// Beginnings of names that only the runtime defines.
const NAMES: [&str; 11] = [
    "__tsan_",
    "__sanitizer_",
    "__sancov_",
    "__ubsan_",
    "___interceptor_",
    "__interceptor_",
    "__cxa_guard_",
    "_ZN6__tsan",
    "_ZN11__sanitizer",
    "_ZN7__ubsan",
    "_ZN14__interception",
];

/// Functions of the runtime, in its last object file, that have the names of others.
const OTHERS: [&str; 4] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"];

/// Where the runtime is in a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runtime {
    /// Ranges of addresses, sorted.
    ranges: Vec<(u64, u64)>,
}

impl Runtime {
    /// The runtime inside a file, if there is one and the file has its symbols.
    pub(super) fn find(file: &object::File<'_>) -> Option<Runtime> {
        let inside =
            |symbol: object::Symbol<'_, '_>| symbol.is_definition() && symbol.name() == Ok("__tsan_init");
        if !file.symbols().any(inside) {
            return None;
        }
        // By section and address: whether a symbol is the runtime's, if that is known.
        let mut places: BTreeMap<(usize, u64), Option<bool>> = BTreeMap::new();
        // The linker lists symbols that it made local itself under an empty source name.
        let mut source_is_runtime = None;
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default();
            if symbol.kind() == SymbolKind::File {
                source_is_runtime = (!name.is_empty()).then(|| opaque::is_runtime_source(name));
                continue;
            }
            let Some(section) = symbol.section_index() else { continue };
            let runtime = if NAMES.iter().any(|start| name.starts_with(start)) || OTHERS.contains(&name) {
                Some(true)
            } else if symbol.is_local() {
                source_is_runtime
            } else {
                None
            };
            let known = places.entry((section.0, symbol.address())).or_default();
            // A function of the runtime has the name of what it replaces, too.
            *known = if *known == Some(true) { *known } else { runtime.or(*known) };
        }
        let mut ranges = Vec::new();
        for section in file.sections() {
            let end = section.address() + section.size();
            let number = section.index().0;
            let symbols = places.range((number, 0)..=(number, u64::MAX));
            let symbols = symbols.map(|(&(_, address), &known)| (address, known)).collect::<Vec<_>>();
            ranges.extend(ranges_of(&symbols, end));
        }
        ranges.sort_unstable();
        Some(Runtime { ranges })
    }

    /// Whether an address is in the runtime.
    pub(super) fn covers(&self, address: u64) -> bool {
        let after = self.ranges.partition_point(|&(start, _)| start <= address);
        after > 0 && address < self.ranges[after - 1].1
    }
}

/// The runtime's ranges in a section that ends at `end`, by its symbols in the order of addresses.
fn ranges_of(symbols: &[(u64, Option<bool>)], end: u64) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (at, &(start, known)) in symbols.iter().enumerate() {
        let beside = || {
            let before = symbols[..at].iter().rev().find_map(|&(_, known)| known);
            let after = symbols[at..].iter().find_map(|&(_, known)| known);
            before == Some(true) && after == Some(true)
        };
        if known.unwrap_or_else(beside) {
            let next = symbols.get(at + 1).map_or(end, |&(next, _)| next);
            match ranges.last_mut() {
                Some(last) if last.1 == start => last.1 = next,
                _ => ranges.push((start, next)),
            }
        }
    }
    ranges
}

/// Why nothing is proved about a program without symbols that has a runtime inside: which code
/// belongs to which of them is not known.
pub(super) fn tell(program: &[u8]) -> Option<String> {
    let file = object::File::parse(program).ok()?;
    let inside =
        |symbol: object::Symbol<'_, '_>| symbol.is_definition() && symbol.name() == Ok("__tsan_init");
    let unknown = file.dynamic_symbols().any(inside) && !file.symbols().any(inside);
    unknown.then(|| {
        "what the program calls is not visible (the sanitizer is a part of it, and it has no symbols)"
            .to_owned()
    })
}

/// Where the variables of the runtime inside a program are; empty if it has none.
pub(super) fn variables(program: &[u8]) -> Vec<(u64, u64)> {
    let Ok(file) = object::File::parse(program) else { return Vec::new() };
    let Some(runtime) = Runtime::find(&file) else { return Vec::new() };
    let data = |kind| matches!(kind, SectionKind::Data | SectionKind::UninitializedData);
    let sections: Vec<(u64, u64)> = file
        .sections()
        .filter(|section| data(section.kind()))
        .map(|section| (section.address(), section.address() + section.size()))
        .collect();
    let inside = |&(start, _): &(u64, u64)| sections.iter().any(|&(from, to)| (from..to).contains(&start));
    runtime.ranges.into_iter().filter(inside).collect()
}

/// The library functions that a program with a runtime inside calls. The runtime replaces many of
/// them and imports others for itself, so they are found in the program's code, not in its imports.
pub(super) fn called(file: &object::File<'_>, runtime: &Runtime, called: &mut BTreeSet<String>) {
    let names: BTreeMap<usize, &str> = file
        .dynamic_symbols()
        .filter(|symbol| matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown))
        .filter_map(|symbol| Some((symbol.index().0, symbol.name().ok()?)))
        .collect();
    // Pointers to functions that the loader sets.
    let mut slots: BTreeMap<u64, &str> = BTreeMap::new();
    for (place, relocation) in file.dynamic_relocations().into_iter().flatten() {
        if let RelocationTarget::Symbol(symbol) = relocation.target()
            && let Some(name) = names.get(&symbol.0)
        {
            slots.insert(place, name);
        }
    }
    let mut targets: BTreeMap<u64, String> = BTreeMap::new();
    for symbol in file.symbols() {
        if symbol.kind() == SymbolKind::Text && symbol.is_definition() && runtime.covers(symbol.address()) {
            let name = symbol.name().unwrap_or_default();
            let known = targets.entry(symbol.address()).or_insert_with(|| name.to_owned());
            // The shortest name is the one without the runtime's own prefix.
            if name.len() < known.len() {
                name.clone_into(known);
            }
        }
    }
    let in_table =
        |section: &object::Section<'_, '_>| section.name().is_ok_and(|name| name.starts_with(".plt"));
    for section in file.sections().filter(in_table) {
        let data = section.data().unwrap_or_default();
        for at in (0..data.len().saturating_sub(5)).filter(|&at| data[at..].starts_with(&[0xff, 0x25])) {
            let jump = section.address() + at as u64;
            if let Some(name) = slots.get(&relative(jump + 2, &data[at + 2..])) {
                // Stubs have sixteen bytes, or eight.
                for start in [jump & !15, jump & !7] {
                    targets.insert(start, (*name).to_owned());
                }
            }
        }
    }
    let in_code =
        |section: &object::Section<'_, '_>| section.name().is_ok_and(|name| name.starts_with(".text"));
    for section in file.sections().filter(in_code) {
        let data = section.data().unwrap_or_default();
        let mut at = 0;
        while at + 4 <= data.len() {
            let here = section.address() + at as u64;
            if !runtime.covers(here) {
                let to = relative(here, &data[at..]);
                called.extend(targets.get(&to).cloned());
                called.extend(slots.get(&to).map(|&name| name.to_owned()));
            }
            at += 1;
        }
    }
    // Tables of functions, and pointers to them.
    let imported = slots.iter().filter(|(place, _)| {
        !runtime.covers(**place)
            && file.sections().any(|section| {
                (section.address()..section.address() + section.size()).contains(*place)
                    && section.name().is_ok_and(|name| name.starts_with(".data"))
            })
    });
    called.extend(imported.map(|(_, name)| (*name).to_owned()));
}

/// The address at the distance that four bytes hold, from the end of these bytes.
fn relative(address: u64, distance: &[u8]) -> u64 {
    let distance = distance.first_chunk::<4>().map_or(0, |bytes| i32::from_le_bytes(*bytes));
    address.wrapping_add(4).wrapping_add_signed(distance.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_parts_of_the_runtime_is_its_own() {
        let (runtime, own) = (Some(true), Some(false));
        assert_eq!(ranges_of(&[(0, own), (8, runtime), (16, None), (24, runtime)], 40), [(8, 40)]);
        assert_eq!(ranges_of(&[(8, runtime), (16, None), (24, own), (32, None)], 40), [(8, 16)]);
        assert_eq!(ranges_of(&[(0, None), (8, runtime), (16, None)], 40), [(8, 16)]);
        assert_eq!(ranges_of(&[(0, None)], 40), []);
    }

    #[test]
    fn a_program_without_a_runtime_has_none() {
        let bytes = std::fs::read(std::env::current_exe().expect("a path")).expect("it can be read");
        assert_eq!(variables(&bytes), []);
        assert_eq!(tell(&bytes), None);
        for length in [0, 3, 64, 1000] {
            assert_eq!(variables(&bytes[..length]), []);
        }
    }
}
