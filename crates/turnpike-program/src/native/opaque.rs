//! Code whose accesses cannot be seen: which parts of a program were not compiled with
//! `-fsanitize=thread`, and the messages about them.
//!
//! The guest reports the libraries. This module inspects the file itself: compilers put a
//! constructor for the sanitizer into every object file that they compile with the flag, and the
//! symbols of a file name the sources that its object files came from.

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind, SymbolScope};

/// Libraries whose synchronisation is replaced, as the guest knows them.
const KNOWN: [&str; 11] = [
    "ld",
    "ld-linux-aarch64",
    "ld-linux-x86-64",
    "libc",
    "libdl",
    "libgcc_s",
    "libm",
    "libpthread",
    "librt",
    "libstdc++",
    "libutil",
];

/// Whether a file is one of these libraries: `libc.so.6`, or `libc-2.31.so` as older ones are
/// called.
pub(super) fn is_known(name: &str) -> bool {
    let stem = name.split(".so").next().unwrap_or(name);
    let numbered = stem.rsplit_once('-').filter(|(_, version)| version.starts_with("2."));
    KNOWN.contains(&numbered.map_or(stem, |(stem, _)| stem))
}

/// The constructors that gcc and clang generate for the sanitizer.
const CONSTRUCTORS: [&str; 2] = ["_sub_I_00099", "tsan.module_ctor"];

/// The object files with which programs begin and end.
const FRAME: [&str; 7] = ["Scrt1.o", "crt1.o", "crtstuff.c", "elf-init.c", "gcrt1.o", "grcrt1.o", "rcrt1.o"];

/// Names of the first of them in older C libraries. In another place, such a name is the program's.
const FIRST: [&str; 3] = ["abi-note.S", "abi-note.c", "init.c"];

/// What the names of the sanitizer's own sources begin with.
const RUNTIME: [&str; 5] = ["interception_", "sancov_", "sanitizer_", "tsan_", "ubsan_"];

/// Whether a source is one of the sanitizer's runtime, if the runtime is part of the program.
pub(super) fn is_runtime_source(name: &str) -> bool {
    name.contains(".cpp") && RUNTIME.iter().any(|start| name.starts_with(start))
}

/// Source files of a program that were not compiled with the flag although others were; empty for
/// files without symbols.
pub(super) fn sources(file: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(file) else { return Vec::new() };
    let mut unseen: Vec<String> = Vec::new();
    let (mut seen, mut first) = (false, true);
    // The symbol of a source file comes before the local symbols of its object file.
    let mut current: Option<String> = None;
    let with_runtime =
        file.symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok("__tsan_init"));
    let is_runtime = |name: &str| name == "tsan_preinit.cpp" || with_runtime && is_runtime_source(name);
    for symbol in file.symbols() {
        let name = symbol.name().unwrap_or_default();
        if symbol.kind() == SymbolKind::File {
            unseen.extend(current.take());
            let frame = FRAME.contains(&name) || first && FIRST.contains(&name);
            first = false;
            current = (!name.is_empty() && !frame && !is_runtime(name)).then(|| name.to_owned());
        } else if symbol.scope() == SymbolScope::Compilation
            && CONSTRUCTORS.iter().any(|start| name.starts_with(start))
        {
            seen = true;
            current = None;
        }
    }
    unseen.extend(current);
    unseen.sort();
    unseen.dedup();
    if seen { unseen } else { Vec::new() }
}

/// Why nothing is proved about a program with these libraries and sources; `None` if there are
/// none.
pub(super) fn tell(parts: &[String]) -> Option<String> {
    /// The most that are listed; the others are counted.
    const MOST: usize = 8;
    let (last, others) = parts.split_last()?;
    if others.is_empty() {
        return Some(format!(
            "what threads share in {last} is not visible (it was not compiled with -fsanitize=thread)"
        ));
    }
    let list = match parts.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{} and {more} more", parts[..MOST].join(", ")),
        _ => format!("{} and {last}", others.join(", ")),
    };
    Some(format!(
        "what threads share in {list} is not visible (they were not compiled with -fsanitize=thread)"
    ))
}

/// Why nothing is proved about a program with Rust code that was not compiled with the flag: locks
/// of the standard library make no call unless they wait. `None` for other programs.
pub(super) fn tell_rust(file: &[u8]) -> Option<String> {
    let file = object::File::parse(file).ok()?;
    let comment = file.section_by_name(".comment")?.uncompressed_data().ok()?;
    let mark: &[u8] = b"rustc version";
    let is_seen =
        file.dynamic_symbols().any(|symbol| symbol.name().is_ok_and(|name| name.starts_with("__tsan_")));
    (!is_seen && comment.windows(mark.len()).any(|part| part == mark)).then(|| {
        "locks of Rust's standard library are visible only where they wait, unless a test calls turnpike::check"
            .to_owned()
    })
}

/// Why nothing is proved if these parts may make unreported system calls by themselves; `None` if
/// there are none.
pub(super) fn tell_callers(parts: &[String]) -> Option<String> {
    let list = parts.join(", ");
    (!parts.is_empty()).then(|| {
        format!(
            "system calls that {list} may make by the instruction itself are not visible (no filter for them is possible here)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_listed() {
        let told = |names: &[&str]| tell(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(told(&[]), None);
        assert!(told(&["a.so"]).is_some_and(|text| text.starts_with("what threads share in a.so is")));
        assert!(told(&["a", "b", "c"]).is_some_and(|text| text.contains("in a, b and c is")));
        assert!(told(&["x"; 10]).is_some_and(|text| text.contains("x, x and 2 more is")));
    }

    #[test]
    fn libraries_are_known_by_old_and_new_names() {
        for name in ["libc.so.6", "libc-2.31.so", "libstdc++.so.6.0.30", "ld-linux-x86-64.so.2", "ld-2.31.so"]
        {
            assert!(is_known(name), "{name}");
        }
        for name in ["libcounter.so", "libc++.so.1", "libm-mine.so", "ldap.so"] {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn a_program_without_the_flag_has_no_sources_to_tell() {
        let path = std::env::current_exe().expect("a path");
        let bytes = std::fs::read(path).expect("it can be read");
        assert_eq!(sources(&bytes), Vec::<String>::new());
        assert!(tell_rust(&bytes).is_some_and(|why| why.contains("turnpike::check")));
        assert_eq!(tell_rust(turnpike_preload::LIBRARY.get(..64).unwrap_or_default()), None);
        assert_eq!(sources(b"no program"), Vec::<String>::new());
        for length in [0, 16, 64, 1000, bytes.len() / 2] {
            let _ = sources(&bytes[..length]);
        }
    }
}
