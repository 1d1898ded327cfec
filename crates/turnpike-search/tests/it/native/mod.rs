//! C and C++ programs for tests of searches.
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use turnpike_program::native::NativeProgram;
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::Executor;
use turnpike_search::{RunReport, SearchOptions, Strategy};

/// Compiles a program that tells its memory accesses, once per run of the tests; `None`, with a message, if there is no
/// compiler.
pub(crate) fn compile(source: &Path, flags: &[&str]) -> Option<PathBuf> {
    static BUSY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("searched");
    std::fs::create_dir_all(&folder).expect("cargo's folder can be written");
    let name = source.file_name()?.to_string_lossy().into_owned() + &flags.concat().replace('/', "_");
    let output = folder.join(format!("{name}-{}", std::process::id()));
    let mut done = BUSY.lock().unwrap();
    if done.contains(&output) {
        return Some(output);
    }
    let compiler = if source.extension().is_some_and(|end| end == "cpp") { "g++" } else { "gcc" };
    let standard = if compiler == "g++" { "-std=c++20" } else { "-std=gnu11" };
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../turnpike-preload/include");
    let result = Command::new(compiler)
        .args([standard, "-g", "-O1", "-w", "-pthread", "-fsanitize=thread"])
        .args(flags)
        .arg("-I")
        .arg(include)
        .arg("-o")
        .arg(&output)
        .arg(source)
        .output();
    match result {
        Err(why) => {
            eprintln!("skipped: {compiler} cannot be started ({why})");
            None
        }
        Ok(result) => {
            let why = String::from_utf8_lossy(&result.stderr);
            assert!(result.status.success(), "{}: {why}", source.display());
            done.push(output.clone());
            Some(output)
        }
    }
}

/// A program of these tests.
pub(crate) fn guest(name: &str) -> Option<PathBuf> {
    compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name), &[])
}

/// A program with arguments as a model.
pub(crate) fn model(path: &Path, arguments: &[&str], options: ProgramOptions) -> ProgramModel {
    let mut program = NativeProgram::new(path);
    program.arguments = arguments.iter().map(Into::into).collect();
    let launch = move || Ok(Box::new(program.launch()?) as Box<dyn Executor>);
    ProgramModel::new("guest", 1, Box::new(launch), options).unwrap_or_else(|why| panic!("{why}"))
}

/// One search for errors.
pub(crate) fn search(model: &ProgramModel, strategy: Strategy, executions: u64) -> RunReport {
    let mut options = SearchOptions::new(strategy);
    options.objectives.push("any-error".parse().unwrap());
    options.limits.executions = Some(executions);
    options.shorten = false;
    super::scripts::one(model, &options)
}

/// How the found execution ends.
pub(crate) fn end(report: &RunReport) -> String {
    let schedule = report.witness.as_ref().and_then(|witness| witness.schedule.as_ref());
    schedule.map(|schedule| schedule.end.clone()).unwrap_or_default()
}
