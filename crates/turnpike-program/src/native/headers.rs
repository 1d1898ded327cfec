//! Code of a program that the user did not write: functions of C++ headers and of Rust's libraries,
//! which the compiler puts into the program itself.

use object::{Object, ObjectSymbol, SymbolKind};
use turnpike_scheduler::Origin;

use super::symbols::readable;
use crate::stack::origin_of_function;

/// The first address in the file and the one after the last of each such function; sorted, and
/// joined where they touch.
pub(super) fn ranges(program: &[u8]) -> Vec<[u64; 2]> {
    let Ok(file) = object::File::parse(program) else { return Vec::new() };
    let mut ranges: Vec<[u64; 2]> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .filter(|symbol| symbol.name().is_ok_and(is_library))
        .map(|symbol| [symbol.address(), symbol.address() + symbol.size()])
        .collect();
    ranges.sort_unstable();
    let mut joined: Vec<[u64; 2]> = Vec::new();
    for [start, end] in ranges {
        match joined.last_mut() {
            Some(last) if start <= last[1] => last[1] = last[1].max(end),
            _ => joined.push([start, end]),
        }
    }
    joined
}

/// The functions of a name, which may be mangled or as in the source without arguments: where each
/// begins, and the address after it. If there is none, the names of all functions.
pub(super) fn functions(program: &[u8], name: &str) -> Result<Vec<[u64; 2]>, Vec<String>> {
    let Ok(file) = object::File::parse(program) else { return Err(Vec::new()) };
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    for symbol in functions {
        let Ok(spelt) = symbol.name() else { continue };
        let plain = readable(spelt);
        let plain = plain.split('(').next().unwrap_or(&plain);
        if spelt == name || plain == name {
            found.push([symbol.address(), symbol.address() + symbol.size()]);
        } else if !is_library(spelt) {
            others.push(plain.to_owned());
        }
    }
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { Err(others) } else { Ok(found) }
}

/// Whether a symbol is a function of a library. Names are only demangled where necessary, because
/// programs have many.
fn is_library(name: &str) -> bool {
    match name.strip_prefix("_Z") {
        Some(rest) => {
            // Nested names, qualifiers, and things inside functions come first.
            let rest = rest.trim_start_matches(['N', 'K', 'V', 'Z', 'L']);
            let library = ["St", "Sa", "Ss", "9__gnu_cxx", "3std", "4core", "5alloc"];
            library.iter().any(|start| rest.starts_with(start)) || rest.contains("__gthread")
        }
        None if name.starts_with("_R") => origin_of_function(&readable(name)) != Origin::User,
        None => name.starts_with("__gthread"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_libraries_are_known() {
        for (name, expected) in [
            ("_ZNSt5mutex4lockEv", true),
            ("_ZNKSt6thread8joinableEv", true),
            ("_ZL20__gthread_mutex_lockP15pthread_mutex_t", true),
            ("_ZSt8__invokeIZ4mainEUlvE_JEE", true),
            ("_ZN9__gnu_cxx13new_allocatorIiED2Ev", true),
            ("_ZN3std6thread5spawn17h0123456789abcdefE", true),
            ("__gthread_active_p", true),
            ("_ZN4Bank8withdrawEi", false),
            ("_ZZ4mainENKUlvE_clEv", false),
            ("_Z8transferR7AccountS0_", false),
            ("main", false),
        ] {
            assert_eq!(is_library(name), expected, "{name}");
        }
    }
}
