//! Whatever a program does, and however turnpike ends: no process and no file of it remains.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

#[path = "it/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::command;

/// The variable by which processes that a test started are known.
const MARK: &str = "TURNPIKE_TEST_MARK";

/// Processes with this mark. Zombies have no environment any more, and are their parent's affair.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}\0");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("Linux has it").flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let variables = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if variables.windows(wanted.len()).any(|part| part == wanted.as_bytes()) {
            found.push(process);
        }
    }
    found
}

/// Zombies whose parent is this process.
fn zombies() -> usize {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let status = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let words = status.map(|status| {
        let rest = status.rsplit(')').next().unwrap_or_default().to_owned();
        rest.split_ascii_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    });
    words.filter(|words| *words == ["Z".to_owned(), own.clone()]).count()
}

struct Place {
    mark: String,
    folder: tempfile::TempDir,
}

impl Place {
    fn new(name: &str) -> Place {
        let mark = format!("{name}-{}", std::process::id());
        Place { mark, folder: tempfile::tempdir().expect("a folder") }
    }

    /// Compiles one of the programs that misbehave; `None`, with a message, if there is no compiler.
    fn compile(&self, name: &str) -> Option<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/programs/robust").join(name);
        let output = self.folder.path().join("guest");
        match Command::new("gcc").args(["-g", "-w", "-pthread"]).arg(source).arg("-o").arg(&output).status() {
            Ok(status) => {
                assert!(status.success(), "{name}");
                Some(output)
            }
            Err(why) => {
                eprintln!("skipped: gcc cannot be started ({why})");
                None
            }
        }
    }

    fn start(&self, program: &Path, more: &[&str]) -> Child {
        let temporary = self.folder.path().join("tmp");
        std::fs::create_dir_all(&temporary).expect("a folder");
        command(&["search", "--program", &program.display().to_string()])
            .args(more)
            .env(MARK, &self.mark)
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts")
    }

    /// Nothing is left, or will soon be.
    fn is_clean(&self) {
        let start = Instant::now();
        while !marked(&self.mark).is_empty() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(marked(&self.mark), Vec::<u32>::new(), "processes");
        let files = std::fs::read_dir(self.folder.path().join("tmp")).expect("the folder is there");
        assert_eq!(files.count(), 0, "files");
        assert_eq!(zombies(), 0);
    }
}

/// A search that ends by itself.
fn ends(name: &str, code: i32) {
    let place = Place::new(name);
    let Some(program) = place.compile(name) else { return };
    let status =
        place.start(&program, &["--max-time", "1s", "--guest-timeout", "200ms"]).wait().expect("ends");
    assert_eq!(status.code(), Some(code), "{name}");
    place.is_clean();
}

#[test]
fn after_programs_that_misbehave() {
    // All in one test, because zombies are counted for the whole process.
    for (name, code) in [
        ("segfault.c", 1),
        ("leave.c", 1),
        ("spin.c", 3),
        ("many_threads.c", 3),
        ("blocked_read.c", 1),
        ("close_all.c", 1),
    ] {
        ends(name, code);
    }
    for (signal, name) in
        [("-INT", "spin.c"), ("-KILL", "spin.c"), ("-INT", "many_threads.c"), ("-KILL", "many_threads.c")]
    {
        let place = Place::new(&format!("{name}{signal}"));
        let Some(program) = place.compile(name) else { return };
        // Hangs are waited for, and searched on.
        let mut child =
            place.start(&program, &["--guest-timeout", "20s", "--find", "race", "--strategy", "random"]);
        let start = Instant::now();
        // Turnpike, the program's first process, and an execution.
        while marked(&place.mark).len() < 3 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(15));
        }
        let status =
            Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
        if signal == "-INT" && name == "spin.c" {
            // The execution under way still has its time; whoever cannot wait asks again.
            std::thread::sleep(Duration::from_millis(200));
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
        }
        child.wait().expect("ends");
        place.is_clean();
    }
    copies_end();
}

/// Processes that wait for executions to go on from them.
fn copies_end() {
    for signal in ["-INT", "-KILL"] {
        let place = Place::new(&format!("copies{signal}"));
        let Some(program) = place.compile("early_steps.c") else { return };
        let mut child = place.start(&program, &["--strategy", "exhaustive", "--prefixes", "copy"]);
        let (start, mut processes) = (Instant::now(), 0);
        while processes < 6 && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(15));
            processes = marked(&place.mark).len();
        }
        assert!(processes >= 6, "no copies are made");
        // Whoever starts this test may have had it ignore interrupts, up to where turnpike listens to them.
        while child.try_wait().expect("it can be asked").is_none()
            && start.elapsed() < Duration::from_secs(90)
        {
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
            std::thread::sleep(Duration::from_millis(200));
        }
        place.is_clean();
    }
}
