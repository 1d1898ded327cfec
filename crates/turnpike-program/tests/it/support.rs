//! Compiling guests and running them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use turnpike_program::native::{NativeExecutor, NativeProgram};
use turnpike_scheduler::{Detail, End, Execution, Executor, Plan, Policy};

/// The folder that compiled guests go to: cargo's own for tests.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    std::fs::create_dir_all(&folder).expect("cargo's folder can be written");
    folder
}

/// Where a program should be, and where it is.
type Compiled = (PathBuf, Option<PathBuf>);

/// Compiles a source file, once per run of the tests; `None`, with a message, if there is no compiler.
pub(crate) fn compile(source: &Path, flags: &[&str]) -> Option<PathBuf> {
    static DONE: OnceLock<Mutex<Vec<Compiled>>> = OnceLock::new();
    let cpp = source.extension().is_some_and(|end| end == "cpp");
    let name = format!(
        "{}{}",
        source.file_name().unwrap().to_string_lossy(),
        flags.concat().replace(['/', ' '], "_")
    );
    let output = folder().join(name);
    let mut done = DONE.get_or_init(Mutex::default).lock().unwrap();
    if let Some((_, known)) = done.iter().find(|(path, _)| *path == output) {
        return known.clone();
    }
    let compiler = if cpp { "g++" } else { "gcc" };
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../turnpike-preload/include");
    // Tests may run in several processes at once: a program is there whole or not at all.
    let unfinished = output.with_added_extension(std::process::id().to_string());
    let result = Command::new(compiler)
        .args(["-g", "-O1", "-w", "-pthread"])
        .args(flags)
        .arg("-I")
        .arg(header)
        .arg("-o")
        .arg(&unfinished)
        .arg(source)
        .output();
    let compiled = match result {
        Err(why) => {
            eprintln!("skipped: {compiler} cannot be started ({why})");
            None
        }
        Ok(result) => {
            assert!(
                result.status.success(),
                "{}: {}",
                source.display(),
                String::from_utf8_lossy(&result.stderr)
            );
            std::fs::rename(&unfinished, &output).expect("cargo's folder can be written");
            Some(output.clone())
        }
    };
    done.push((output, compiled.clone()));
    compiled
}

/// A guest of our own that tells its memory accesses.
pub(crate) fn instrumented(name: &str) -> Option<NativeProgram> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name);
    compile(&source, &["-fsanitize=thread"]).map(NativeProgram::new)
}

/// A guest of our own, compiled with these flags.
pub(crate) fn guest_file(name: &str, flags: &[&str]) -> Option<NativeProgram> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name);
    compile(&source, flags).map(NativeProgram::new)
}

/// A guest of our own, compiled.
pub(crate) fn guest(name: &str) -> Option<NativeProgram> {
    guest_file(name, &[])
}

/// Starts a program.
pub(crate) fn launch(program: &NativeProgram) -> NativeExecutor {
    program.launch().unwrap_or_else(|why| panic!("{}: {why}", program.path.display()))
}

/// One execution with a policy.
pub(crate) fn run(executor: &mut NativeExecutor, policy: Policy<'_>) -> Execution {
    let mut out = Execution::default();
    let plan = Plan { policy, max_steps: 2_000, detail: Detail::Full, ..Plan::new(&[]) };
    executor.run(&plan, &mut out).unwrap_or_else(|why| panic!("{why}"));
    out
}

/// A word for how an execution ended.
pub(crate) fn word(end: &End) -> &'static str {
    use turnpike_scheduler::FailureKind::*;
    match end {
        End::Finished => "finished",
        End::Deadlock => "deadlock",
        End::Livelock => "livelock",
        End::Failed(failure) => match failure.kind {
            Assertion => "assertion",
            Crash => "crash",
            Heap => "heap",
            Misuse => "misuse",
            Panic => "panic",
        },
        End::StepLimit => "step limit",
        End::Stopped => "stopped",
        End::Asleep => "asleep",
        End::Diverged(_) => "diverged",
        End::Hung => "hung",
    }
}

/// Executions with random schedules: how often each end came.
pub(crate) fn ends(executor: &mut NativeExecutor, count: u64) -> Vec<(&'static str, u64)> {
    let mut counts: Vec<(&'static str, u64)> = Vec::new();
    for seed in 0..count {
        let end = word(&run(executor, Policy::Uniform { seed }).end);
        match counts.iter_mut().find(|(word, _)| *word == end) {
            Some((_, n)) => *n += 1,
            None => counts.push((end, 1)),
        }
    }
    counts.sort();
    counts
}
