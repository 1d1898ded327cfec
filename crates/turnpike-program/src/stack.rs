//! Readable call stacks: functions with their source positions, and which of them are the user's.

use std::path::Path;

pub use turnpike_scheduler::{Frame, Origin, SourceLine};

/// The frames from the innermost function of the user to the outermost one, without those of
/// libraries at both ends. All frames if none is the user's.
pub fn user_part(frames: &[Frame]) -> &[Frame] {
    let first = frames.iter().position(Frame::is_user);
    let last = frames.iter().rposition(Frame::is_user);
    match (first, last) {
        (Some(first), Some(last)) => &frames[first..=last],
        _ => frames,
    }
}

/// The function that the innermost function of the user calls, if it calls one. Without functions
/// of the user, the one that turnpike called.
pub fn called_by_user(frames: &[Frame]) -> Option<&Frame> {
    let turnpike = |frame: &Frame| frame.origin == Origin::Turnpike;
    let first = frames.iter().position(Frame::is_user).or_else(|| frames.iter().position(turnpike))?;
    frames.get(first.checked_sub(1)?)
}

/// The longest function name, in characters, that is shown in full.
const LONG_NAME: usize = 72;

/// A function's name. A long one loses the lists of types that compilers add to templates.
pub fn brief_name(function: &str) -> String {
    if function.chars().count() <= LONG_NAME {
        return function.to_owned();
    }
    let mut out = String::new();
    let mut rest = function;
    while let Some(first) = rest.chars().next() {
        let follows = |one: char| one.is_alphanumeric() || matches!(one, '_' | '>' | ')' | '}' | ']');
        let is_operator = out.ends_with("operator");
        let length = match first {
            '(' if is_operator => rest.find(')').map_or(1, |end| end + 1),
            // A list after a name, but not `<Account as Drop>::drop` or `(anonymous namespace)`.
            '<' | '(' if !is_operator && out.ends_with(follows) => {
                let length = bracketed(rest);
                let close = if first == '<' { '>' } else { ')' };
                if length > 2 {
                    out.extend([first, '…', close]);
                    rest = &rest[length..];
                    continue;
                }
                length
            }
            _ => first.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The length of the bracketed part at the beginning of a text, with the brackets.
fn bracketed(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, one) in text.char_indices() {
        match one {
            '<' | '(' | '[' | '{' => depth += 1,
            // This is the end of `->`.
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + one.len_utf8();
        }
        before = one;
    }
    text.len()
}

/// The frames at return addresses of this process, innermost first.
pub fn resolve(stack: &[u64]) -> Vec<Frame> {
    let mut here = ThisProcess::default();
    stack.iter().flat_map(|&address| here.frames(address)).collect()
}

/// The functions of this process.
#[cfg(target_os = "linux")]
#[derive(Default)]
pub(crate) struct ThisProcess(Option<crate::native::Symbols>);

#[cfg(target_os = "linux")]
impl ThisProcess {
    /// The functions at an address, inlined ones first.
    pub(crate) fn frames(&mut self, address: u64) -> Vec<Frame> {
        let load = || crate::native::Symbols::of_process(std::process::id());
        self.0.get_or_insert_with(load).frames(address).to_vec()
    }
}

/// On other platforms addresses are not resolved.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(crate) struct ThisProcess;

#[cfg(not(target_os = "linux"))]
impl ThisProcess {
    pub(crate) fn frames(&mut self, _address: u64) -> Vec<Frame> {
        Vec::new()
    }
}

/// Whose function a frame is, by its name, its source file, and the file that was loaded there.
pub(crate) fn origin(function: Option<&str>, file: Option<&str>, loaded: &Path) -> Origin {
    const LIBRARIES: [&str; 8] = [
        "/usr/include/",
        "/usr/lib/",
        "/include/c++/",
        "/rustc/",
        "/rustlib/src/",
        "/.cargo/registry/",
        "/.cargo/git/",
        "/csu/",
    ];
    let by_name = function.map_or(Origin::User, origin_of_function);
    // Inlined functions have short names, which do not say whose they are.
    if file.is_some_and(is_own_source) {
        return Origin::Turnpike;
    }
    let header =
        file.is_some_and(|file| Path::new(file).file_name().is_some_and(|name| name == "turnpike.h"));
    if by_name == Origin::Turnpike || header || loaded.to_string_lossy().starts_with("/memfd:") {
        return Origin::Turnpike;
    }
    let foreign = file.is_some_and(|file| LIBRARIES.iter().any(|part| file.contains(part)));
    if foreign || is_system(loaded) { Origin::Library } else { by_name }
}

/// Whether a source file is one of turnpike's own.
fn is_own_source(file: &str) -> bool {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let inside = crates.and_then(|crates| Path::new(file).strip_prefix(crates).ok());
    let mut parts = inside.into_iter().flat_map(Path::components).map(|part| part.as_os_str());
    parts.next().is_some_and(|name| name.to_string_lossy().starts_with("turnpike"))
        && parts.next().is_some_and(|folder| folder == "src")
}

/// Whether a file belongs to the system.
fn is_system(loaded: &Path) -> bool {
    ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"]
        .iter()
        .any(|start| loaded.to_string_lossy().starts_with(start))
}

/// Whose function this is, by its name alone.
pub(crate) fn origin_of_function(function: &str) -> Origin {
    const OURS: [&str; 8] = [
        "turnpike",
        "turnpike_runtime",
        "turnpike_scheduler",
        "turnpike_program",
        "turnpike_model",
        "turnpike_search",
        "turnpike_session",
        "corosensei",
    ];
    const OWNERS: [&str; 7] = ["std", "core", "alloc", "test", "__rustc", "__gnu_cxx", "__cxxabiv1"];
    const PLAIN: [&str; 9] = [
        "__gthread",
        "_start",
        "__libc_",
        "_Unwind_",
        "clone3",
        "__clone",
        "start_thread",
        "__rust_",
        "__tsan_",
    ];
    match owner(function) {
        Some(owner) if OURS.contains(&owner) => Origin::Turnpike,
        Some(owner) if OWNERS.contains(&owner) => Origin::Library,
        Some(_) => Origin::User,
        // The first function of a coroutine.
        None if function == "stack_init_trampoline" => Origin::Turnpike,
        None if PLAIN.iter().any(|start| function.starts_with(start)) => Origin::Library,
        None => Origin::User,
    }
}

/// The crate or the outermost namespace of a function; `None` for functions of C.
fn owner(function: &str) -> Option<&str> {
    let path = match function.strip_prefix('<') {
        // `<bank::Account as core::ops::Drop>::drop`
        Some(inner) => {
            let (own_type, own_trait) = type_and_trait(function, inner);
            // `<usize as core::slice::SliceIndex<[T]>>::index`: the type has no owner.
            return named_owner(without_prefixes(own_type)).or_else(|| named_owner(own_trait?));
        }
        // `void std::__invoke_impl<…>(…)`
        None => {
            let end = function.find(['<', '(']).unwrap_or(function.len());
            function[..end].rsplit(' ').next().unwrap_or_default()
        }
    };
    named_owner(path)
}

/// The first part of a path, if it has several.
fn named_owner(path: &str) -> Option<&str> {
    let (owner, _) = path.split_once("::")?;
    owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(owner)
}

/// The parts of `<type as trait>::…`, where `inner` is what follows the first bracket of
/// `function`.
fn type_and_trait<'a>(function: &str, inner: &'a str) -> (&'a str, Option<&'a str>) {
    let inner = &inner[..bracketed(function).saturating_sub(2).min(inner.len())];
    let outside = |at: &usize| {
        let before = inner[..*at].replace("->", "");
        before.matches(['<', '(', '[']).count() == before.matches(['>', ')', ']']).count()
    };
    match inner.match_indices(" as ").map(|(at, _)| at).find(outside) {
        Some(at) => (&inner[..at], Some(&inner[at + " as ".len()..])),
        None => (inner, None),
    }
}

/// A type without what comes before the first path in it.
fn without_prefixes(mut path: &str) -> &str {
    loop {
        let before = path;
        for start in ["&", "*", "[", "(", "<", "dyn ", "mut ", "const "] {
            path = path.strip_prefix(start).unwrap_or(path);
        }
        if path.len() == before.len() {
            return path;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_owners() {
        for (function, expected) in [
            ("bank::Account::withdraw", Some("bank")),
            ("<bank::Account as core::ops::Drop>::drop", Some("bank")),
            ("<&mut dyn core::ops::Fn<()> as core::ops::FnOnce>::call_once", Some("core")),
            ("<usize as core::slice::index::SliceIndex<[T]>>::index", Some("core")),
            ("<[bank::Account] as alloc::slice::Join<T>>::join", Some("bank")),
            ("<[T] as alloc::slice::Concat<T>>::concat", Some("alloc")),
            ("<fn() -> core::result::Result<(), u8> as core::ops::FnOnce<()>>::call_once", Some("core")),
            ("<T as bank::Open>::open", Some("bank")),
            ("std::sync::mutex::Mutex<bank::Account>::lock", Some("std")),
            ("void std::__invoke_impl<void, void (*)()>(std::__invoke_other, void (*&&)())", Some("std")),
            ("main::{lambda()#1}::operator()() const", Some("main")),
            ("std::thread::join()", Some("std")),
            ("main", None),
            ("take_fork(int)", None),
        ] {
            assert_eq!(owner(function), expected, "{function}");
        }
    }

    #[test]
    fn frames_of_the_user_are_told_apart() {
        use Origin::{Library, Turnpike, User};
        let program = Path::new("/home/me/bank");
        for (function, file, loaded, expected) in [
            (Some("main"), Some("/home/me/bank.c"), program, User),
            (Some("main"), None, program, User),
            (None, None, program, User),
            (Some("_start"), None, program, Library),
            (Some("__gthread_mutex_lock"), Some("/usr/include/x86_64/gthr-default.h"), program, Library),
            (Some("__gthread_mutex_lock(int*)"), None, program, Library),
            (Some("std::mutex::lock()"), None, program, Library),
            (Some("read"), None, Path::new("/usr/lib/libc.so.6"), Library),
            (Some("tp_toss"), Some("/home/me/turnpike.h"), program, Turnpike),
            (None, None, Path::new("/memfd:turnpike (deleted)"), Turnpike),
            (Some("turnpike_runtime::sync::Mutex<T>::lock"), Some("/home/me/t/mutex.rs"), program, Turnpike),
            (Some("std::sync::Mutex<T>::lock"), Some("/rustc/1234/library/std/m.rs"), program, Library),
            (Some("serde::de"), Some("/home/me/.cargo/registry/src/x/serde/de.rs"), program, Library),
        ] {
            assert_eq!(origin(function, file, loaded), expected, "{function:?} {file:?}");
        }
        // A path that the compiler wrote down, and the short name of an inlined function.
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../turnpike-runtime/src/runtime.rs");
        let own = own.replace("turnpike-program/../", "");
        assert_eq!(origin(Some("step"), Some(&own), program), Turnpike, "{own}");
        let test = own.replace("/src/", "/tests/");
        assert_eq!(origin(Some("step"), Some(&test), program), User, "{test}");
    }

    #[test]
    fn long_names_lose_their_lists_of_types() {
        let short = "move_money(Account&, Account&)::{lambda(int&)#1}::operator()(int&) const";
        assert_eq!(brief_name(short), short);
        for (long, brief) in [
            (
                "auto Box<int>::with<move_money(Account&, Account&)::{lambda(int&)#1}>(\
                 move_money(Account&, Account&)::{lambda(int&)#1})",
                "auto Box<…>::with<…>(…)",
            ),
            (
                "move_money(Account&, Account&)::{lambda(int&)#1}::operator()(int&, std::vector<int>) const",
                "move_money(…)::{lambda(…)#1}::operator()(…) const",
            ),
            (
                "<bank::Account<alloc::string::String, alloc::string::String> as core::ops::drop::Drop>::drop",
                "<bank::Account<…> as core::ops::drop::Drop>::drop",
            ),
            (
                "(anonymous namespace)::merge(std::map<std::string, std::vector<std::string>> const&, int)",
                "(anonymous namespace)::merge(…)",
            ),
            (
                "bank::accounts::transfer_and_report::transfer_between_all_accounts::{{closure}}()::deep",
                "bank::accounts::transfer_and_report::transfer_between_all_accounts::{{closure}}()::deep",
            ),
            (
                "bool operator< <std::string, std::string>(std::pair<std::string> const&, int const&, long)",
                "bool operator< <std::string, std::string>(…)",
            ),
            (
                "void broken_name_that_never_ends<std::vector<std::string, std::allocator<std::string",
                "void broken_name_that_never_ends<…>",
            ),
        ] {
            assert_eq!(brief_name(long), brief);
        }
    }

    #[test]
    fn what_the_user_called_and_the_users_part_are_found() {
        let frame = |function: &str, origin| Frame {
            function: Some(function.to_owned()),
            place: Some("a.rs:1".to_owned()),
            source: None,
            code: "a+0x10".to_owned(),
            origin,
        };
        let frames = [
            frame("futex_wait", Origin::Library),
            frame("Mutex::lock", Origin::Library),
            frame("work", Origin::User),
            frame("run", Origin::User),
            frame("turnpike::check", Origin::Turnpike),
        ];
        let called = |frames: &[Frame]| called_by_user(frames).and_then(|frame| frame.function.clone());
        assert_eq!(called(&frames).as_deref(), Some("Mutex::lock"));
        assert_eq!(user_part(&frames), &frames[2..4]);
        assert_eq!(user_part(&frames[..2]), &frames[..2]);
        assert_eq!(called(&frames[2..]), None);
        assert_eq!(called(&frames[..2]), None);
        let inlined = [frames[0].clone(), frames[4].clone()];
        assert_eq!(called(&inlined).as_deref(), Some("futex_wait"), "the user's code was inlined");
    }
}
