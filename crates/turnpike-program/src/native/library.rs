//! Functions of the C and C++ libraries that a program calls although it is not known what they do
//! with its memory.
//!
//! Instrumented code reports its accesses, and so do the library functions that the guest replaces.
//! Some of the others access no memory of the program, or only memory that no other thread can
//! reach; these are listed here. Every other function may read or write what threads share.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::{Object, ObjectSymbol, SymbolKind};
use turnpike_preload::LIBRARY;

use super::runtime::{self, Runtime};

/// Functions that do not access the program's memory: they compute, return information, end
/// something, or work on private data.
const HARMLESS: &str = "\
__assert __assert_fail __assert_perror_fail __chk_fail __ctype_b_loc __ctype_get_mb_cur_max \
__ctype_tolower_loc __ctype_toupper_loc __cxa_finalize __dynamic_cast __errno_location __fdelt_chk \
__gcc_personality_v0 __register_atfork \
__gmon_start__ __h_errno_location __libc_start_main __longjmp_chk __sched_cpualloc \
__sched_cpufree __stack_chk_fail __sysconf __tls_get_addr __uflow __overflow _exit _setjmp _longjmp \
__sigsetjmp abs alarm atexit at_quick_exit bsearch \
daemon div dl_iterate_phdr dladdr dlclose dlerror dlopen dlsym endpwent ffs ffsl ffsll \
fileno fsync getauxval getegid geteuid getgid getpagesize getpgid getpgrp getppid getpriority getsid \
getuid imaxabs isalnum isalpha isatty isascii isblank iscntrl isdigit isgraph islower isprint \
ispunct isspace isupper iswalpha iswdigit isxdigit kill labs ldiv listen llabs lldiv longjmp \
malloc_trim mlock mlockall msync munlock nice openlog pathconf popen posix_fadvise pclose prctl \
putchar putchar_unlocked raise sbrk setbuf setbuffer setjmp setlinebuf setpgid setpriority setsid \
setuid setvbuf siglongjmp sigaddset sigdelset sigemptyset sigfillset sigismember \
sigprocmask strerror strsignal sync sysconf tcgetattr tcsetattr toascii tolower toupper \
towlower towupper uname usleep vfork acos acosf acosh acosl asin asinf asinh \
asinl atan atan2 atan2f atanf atanh cbrt cbrtf ceil ceilf ceill copysign copysignf cos cosf cosh \
coshf cosl erf erfc erff exp exp2 exp2f expf expl expm1 fabs fabsf fabsl fdim floor floorf floorl \
fma fmaf fmax fmaxf fmin fminf fmod fmodf fmodl hypot hypotf ilogb ldexp ldexpf llrint \
llround log log10 log10f log1p log2 log2f logb logf logl lrint lrintf lround lroundf nearbyint nearbyintf \
nextafter nexttoward pow powf powl remainder rint rintf round roundeven roundevenf roundf roundl scalbln scalbn sin sinf \
sinh sinhf sinl sqrt sqrtf sqrtl tan tanf tanh tanhf tgamma trunc truncf __isinf __isnan __finite \
__signbit __fpclassify pthread_self pthread_equal __once_proxy";

/// Beginnings of names that are also harmless: exceptions, type information, threads and conditions
/// of C++ (which call what is replaced), and strings, whose functions that matter are replaced.
const HARMLESS_BEGINNINGS: [&str; 29] = [
    "_ITM_",
    "_Unwind_",
    "_ZGTt",
    "_ZNKSt3_V214error_category",
    "_ZNKSt5ctypeIcE",
    "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE",
    "_ZNKSt9exception",
    "_ZNKSt9type_info",
    "_ZNSaIcE",
    "_ZNSt10bad_",
    "_ZNSt11logic_error",
    "_ZNSt12out_of_range",
    "_ZNSt13__future_base",
    "_ZNSt13runtime_error",
    "_ZNSt12future_error",
    "_ZNSt15__exception_ptr",
    "_ZNSt16invalid_argument",
    "_ZNSt18condition_variable",
    "_ZNSt28__atomic_futex_unsigned_base",
    "_ZNSt6chrono",
    "_ZNSt3_V215system_category",
    "_ZNSt3_V216generic_category",
    "_ZNSt6thread",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE",
    "_ZNSt8ios_base4Init",
    "_ZNSt9exception",
    "_ZSt",
    "__cxa_",
    "__gxx_personality",
];

/// Beginnings of names that are not harmless, although they begin with `_ZSt`.
const TOUCHING: [&str; 9] = [
    "_ZSt18_Rb_tree",
    "_ZSt20_Rb_tree",
    "_ZSt21_Rb_tree",
    "_ZSt28_Rb_tree",
    "_ZSt29_Rb_tree",
    "_ZSt7getline",
    "_ZStrs",
    "_ZSt16__ostream",
    "_ZSt2ws",
];

/// Functions that write to streams. All threads may write to the standard ones, which need no
/// constructor.
const STREAMS: [&str; 6] =
    ["_ZNSo", "_ZStls", "_ZSt4endl", "_ZSt4ends", "_ZSt5flush", "_ZNSt9basic_iosIcSt11char_traitsIcEE5clear"];

/// Names of streams of other kinds.
const OTHER_STREAMS: [&str; 4] = ["stringstream", "fstream", "strstream", "stringbuf"];

/// The functions whose accesses are not known, of all that these files call and the libraries
/// define; sorted.
pub(super) fn unknown(program: &[u8], modules: &[PathBuf]) -> Vec<String> {
    let is_known = |path: &&PathBuf| super::opaque::is_known(&name(path));
    let mut called: BTreeSet<String> = BTreeSet::new();
    called_by(program, &mut called);
    for path in modules.iter().filter(|path| !is_known(path)) {
        if let Ok(bytes) = fs::read(path) {
            called_by(&bytes, &mut called);
        }
    }
    called.retain(|name| !is_harmless(name));
    let other_streams = called.iter().any(|name| OTHER_STREAMS.iter().any(|stream| name.contains(stream)));
    if !other_streams {
        called.retain(|name| !STREAMS.iter().any(|start| name.starts_with(start)));
    }
    if called.is_empty() {
        return Vec::new();
    }
    // Functions of other libraries do not count: these libraries are inspected or reported.
    let mut defined: BTreeSet<String> = BTreeSet::new();
    for path in modules.iter().filter(is_known) {
        if let Ok(bytes) = fs::read(path) {
            // Not `is_definition`: that leaves out functions with versions for several processors.
            symbols(&bytes, |symbol| !symbol.is_undefined(), &mut defined);
        }
    }
    called
        .into_iter()
        .filter(|name| defined.contains(name))
        .map(readable)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The functions that an instrumented file calls.
fn called_by(file: &[u8], called: &mut BTreeSet<String>) {
    if let Ok(file) = object::File::parse(file)
        && file.architecture() == object::Architecture::X86_64
        && let Some(runtime) = Runtime::find(&file)
    {
        runtime::called(&file, &runtime, called);
        return;
    }
    let mut names = BTreeSet::new();
    symbols(file, |symbol| symbol.is_undefined() && is_function(symbol), &mut names);
    if names.contains("__tsan_init") {
        called.append(&mut names);
    }
}

fn is_function(symbol: &object::Symbol<'_, '_>) -> bool {
    matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown)
}

fn symbols(file: &[u8], wanted: impl Fn(&object::Symbol<'_, '_>) -> bool, names: &mut BTreeSet<String>) {
    let Ok(file) = object::File::parse(file) else { return };
    let found = file.dynamic_symbols().filter(wanted);
    names.extend(found.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())));
}

fn is_harmless(name: &str) -> bool {
    static REPLACED: OnceLock<BTreeSet<String>> = OnceLock::new();
    let replaced = REPLACED.get_or_init(|| {
        let mut names = BTreeSet::new();
        symbols(LIBRARY, |symbol| symbol.is_definition(), &mut names);
        names
    });
    replaced.contains(name)
        || name.starts_with("__tsan_")
        || HARMLESS.split_ascii_whitespace().any(|known| known == name)
        || HARMLESS_BEGINNINGS.iter().any(|start| name.starts_with(start))
            && !TOUCHING.iter().chain(&STREAMS).any(|start| name.starts_with(start))
}

/// A readable name: of a C function its own, of a C++ function the demangled one. All functions of
/// streams are one.
fn readable(name: String) -> String {
    if !name.starts_with("_Z") {
        return name.strip_prefix("__isoc99_").unwrap_or(&name).to_owned();
    }
    if OTHER_STREAMS.iter().any(|stream| name.contains(stream))
        || name.starts_with("_ZNS") && name.contains("stream")
    {
        return "streams of C++".into();
    }
    format!("{} of libstdc++", super::symbols::readable(&name))
}

/// Why nothing is proved about a program that calls these functions; `None` if there are none.
pub(super) fn tell(functions: &[String]) -> Option<String> {
    const MOST: usize = 6;
    let (last, others) = functions.split_last()?;
    let list = match functions.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{} and {more} more", functions[..MOST].join(", ")),
        _ if others.is_empty() => last.clone(),
        _ => format!("{} and {last}", others.join(", ")),
    };
    let verb = if others.is_empty() { "does" } else { "do" };
    Some(format!("what {list} {verb} with memory that threads share is not visible"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_or_named() {
        for name in
            ["memcpy", "pthread_create", "exit", "__cxa_throw", "_ZSt9terminatev", "sqrt", "fread", "printf"]
        {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "strtok",
            "sscanf",
            "getline",
            "_ZNSo5writeEPKcl",
            "_ZSt7getlineIcSt11char",
            // Results in static memory of the C library, or state that it keeps between calls:
            "asctime",
            "ctime",
            "getopt",
            "getpwnam",
            "getrusage",
            "gmtime",
            "hcreate",
            "hsearch",
            "inet_ntoa",
            "initstate",
            "lcong48",
            "localeconv",
            "localtime",
            "readdir",
            "seed48",
            "setstate",
            "times",
            // Results in memory of the caller or in a variable of the library:
            "backtrace",
            "confstr",
            "lgamma",
            "tmpnam",
            "ttyname",
            "tzset",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }

    #[test]
    fn lists_are_told() {
        let told = |names: &[&str]| tell(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&["strtok"]).as_deref(),
            Some("what strtok does with memory that threads share is not visible")
        );
        let name = readable("_ZNSo5writeEPKcl".into());
        assert_eq!(name, "std::ostream::write(char const*, long) of libstdc++");
        assert!(told(&["a", "b"]).is_some_and(|text| text.starts_with("what a and b do with")));
        assert!(told(&["x"; 9]).is_some_and(|text| text.contains("x and 3 more do")));
    }
}
