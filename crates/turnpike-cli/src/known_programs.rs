//! The programs that this user searched. A trace can come from anyone, and naming a program in it is easy: on
//! the word of a trace alone only these are executed.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use turnpike_model::Diagnostic;
use turnpike_session::{Location, ProgramSource, Source, quote_word};

use crate::failure::{Failure, Outcome};

/// Programs that are remembered; the oldest are forgotten.
const MOST_PROGRAMS: usize = 4096;

/// Remembers a program that the user named. What cannot be written down has to be named again.
pub(crate) fn remember(source: &Source) {
    if let (Source::Program(program), Some(list)) = (source, list_path()) {
        let _ = add(&list, program);
    }
}

/// Refuses to do what a trace asks for alone: to execute a program that the user did not search before, or
/// to read what is not a file. `instead` is the command that names the program.
pub(crate) fn check(source: &Source, trace: &str, instead: &str) -> Outcome<()> {
    let program = match source {
        Source::Program(program) => program,
        Source::Model { location: Location::File(path), .. } => return check_file(path, trace),
        Source::Model { .. } => return Ok(()),
    };
    if list_path().is_some_and(|list| contains(&list, program)) {
        return Ok(());
    }
    let words = std::iter::once(program.path.as_os_str()).chain(program.arguments.iter().map(AsRef::as_ref));
    let words: Vec<String> = words.map(|word| quote_word(&word.to_string_lossy())).collect();
    let message =
        format!("{trace} asks to execute a program that you have not searched here: {}", words.join(" "));
    let help = format!("only if you trust it, name the program: {instead}");
    Err(Diagnostic::error(message).help(help).into())
}

/// A device or a pipe could be read without end.
fn check_file(path: &str, trace: &str) -> Outcome<()> {
    match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => {
            Err(Failure::usage(format!("{trace} names {path} as its model, which is not a regular file")))
        }
        _ => Ok(()),
    }
}

/// Where the list is, if the user has a place for such things.
fn list_path() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("turnpike").join("programs"))
}

/// A program with its arguments. It cannot be read back: arguments may be secret.
fn digest(program: &ProgramSource) -> Option<String> {
    let path = program.path.canonicalize().ok()?;
    let mut hasher = Sha256::new();
    for word in std::iter::once(path.as_os_str()).chain(program.arguments.iter().map(AsRef::as_ref)) {
        // Words cannot contain zero bytes, so no two lists of words look the same.
        hasher.update(word.as_bytes());
        hasher.update([0]);
    }
    Some(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn contains(list: &Path, program: &ProgramSource) -> bool {
    let known = std::fs::read_to_string(list).unwrap_or_default();
    digest(program).is_some_and(|digest| known.lines().any(|line| line == digest))
}

fn add(list: &Path, program: &ProgramSource) -> std::io::Result<()> {
    let Some(digest) = digest(program) else { return Ok(()) };
    let known = std::fs::read_to_string(list).unwrap_or_default();
    let mut lines: Vec<&str> = known.lines().collect();
    if lines.contains(&digest.as_str()) {
        return Ok(());
    }
    if let Some(folder) = list.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let is_full = lines.len() >= MOST_PROGRAMS;
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    if is_full {
        lines.drain(..MOST_PROGRAMS / 2);
        let kept: String = lines.iter().map(|line| format!("{line}\n")).collect();
        return options
            .write(true)
            .truncate(true)
            .open(list)?
            .write_all(format!("{kept}{digest}\n").as_bytes());
    }
    // One write at the end of the file: searches at the same time do not disturb each other.
    options.append(true).open(list)?.write_all(format!("{digest}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &Path, arguments: &[&str]) -> ProgramSource {
        let arguments = arguments.iter().map(Into::into).collect();
        ProgramSource { path: path.to_owned(), arguments, ..ProgramSource::default() }
    }

    #[test]
    fn programs_are_known_with_their_arguments() {
        let folder = tempfile::tempdir().expect("a folder");
        let (list, file) = (folder.path().join("state/turnpike/programs"), folder.path().join("bank"));
        std::fs::write(&file, "").expect("writes");
        assert!(!contains(&list, &program(&file, &["1", "2"])));
        add(&list, &program(&file, &["1", "2"])).expect("writes");
        add(&list, &program(&folder.path().join("./bank"), &["1", "2"])).expect("writes");
        assert!(contains(&list, &program(&file, &["1", "2"])));
        for other in [&["1"][..], &["12"], &["1", "2", ""], &[]] {
            assert!(!contains(&list, &program(&file, other)), "{other:?}");
        }
        assert!(!contains(&list, &program(&folder.path().join("other"), &["1", "2"])));
        assert_eq!(std::fs::read_to_string(&list).expect("reads").lines().count(), 1);
    }

    #[test]
    fn the_oldest_programs_are_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let (list, file) = (folder.path().join("programs"), folder.path().join("bank"));
        std::fs::write(&file, "").expect("writes");
        add(&list, &program(&file, &["first"])).expect("writes");
        let first = std::fs::read_to_string(&list).expect("reads");
        let others: String = (1..MOST_PROGRAMS).map(|number| format!("{number}\n")).collect();
        std::fs::write(&list, format!("{first}{others}")).expect("writes");
        assert!(contains(&list, &program(&file, &["first"])));
        add(&list, &program(&file, &["last"])).expect("writes");
        assert!(contains(&list, &program(&file, &["last"])) && !contains(&list, &program(&file, &["first"])));
    }
}
