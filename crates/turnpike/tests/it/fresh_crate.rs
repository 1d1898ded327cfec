//! The chapters "Testing Rust code" and "Async" as written: their files become crates, their commands are run, and their
//! reports are what these print.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "tests say what they skip")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn chapter(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src");
    std::fs::read_to_string(Path::new(folder).join(name)).expect("the chapter")
}

/// The files that the chapter shows: blocks whose first line is a comment with a path.
fn files(page: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let Some((_, text)) = block.split_once('\n') else { continue };
        let Some((first, rest)) = text.split_once('\n') else { continue };
        let path = first.strip_prefix("// ").or_else(|| first.strip_prefix("# ")).unwrap_or_default();
        if path == "Cargo.toml" || path.ends_with(".rs") && path.contains('/') {
            files.push((path.to_owned(), format!("{rest}\n")));
        }
    }
    files
}

/// The crate, in a folder of its own. What it builds stays from run to run, because it builds all that turnpike is made of.
struct Fresh {
    folder: PathBuf,
    target: PathBuf,
}

impl Fresh {
    fn new(name: &str, files: &[(String, String)]) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let fresh = Fresh { folder: root.join(name), target: root.join("fresh-crate-target") };
        let _ = std::fs::remove_dir_all(&fresh.folder);
        for (path, text) in files {
            let path = fresh.folder.join(path);
            std::fs::create_dir_all(path.parent().expect("inside the crate")).expect("a folder");
            std::fs::write(path, text).expect("writes");
        }
        // The versions that this workspace uses, so that nothing has to be fetched.
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        std::fs::copy(lock, fresh.folder.join("Cargo.lock")).expect("the workspace's lock file");
        fresh
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        self.cargo_with(arguments, None)
    }

    /// Runs a command of cargo, replaying a schedule if there is one.
    fn cargo_with(&self, arguments: &[&str], schedule: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).current_dir(&self.folder).env("CARGO_NET_OFFLINE", "true");
        // Nothing of how this test is run shall matter.
        for (name, _) in std::env::vars() {
            let about_cargo =
                ["CARGO_PROFILE", "CARGO_BUILD", "CARGO_ENCODED", "CARGO_PKG", "NEXTEST", "TURNPIKE_"];
            if about_cargo.iter().any(|start| name.starts_with(start)) || name == "RUSTFLAGS" {
                command.env_remove(name);
            }
        }
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_TERM_COLOR", "never");
        // Building quickly matters more here than running quickly.
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "none");
        command.env("CARGO_INCREMENTAL", "0").env("RUST_BACKTRACE", "0");
        if let Some(schedule) = schedule {
            command.env("TURNPIKE_REPLAY", schedule);
        }
        command.output().expect("cargo starts")
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.folder.join(path), text).expect("writes");
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_chapter_works_as_written_in_a_fresh_crate() {
    let page = chapter("rust-programs.md");
    let mut files = files(&page);
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["Cargo.toml", "src/sync.rs", "src/lib.rs", "tests/accounts.rs"]);
    // Everything else is as written.
    let local = format!("path = \"{}\"", env!("CARGO_MANIFEST_DIR"));
    assert!(files[0].1.contains("turnpike = { version = \"0.1\", optional = true }"));
    files[0].1 = files[0].1.replace("version = \"0.1\", optional", &format!("{local}, optional"));
    // Debugging information for the crate alone: turnpike is built more quickly without.
    files[0].1.push_str("\n[workspace]\n\n[profile.dev.package.bank]\ndebug = \"line-tables-only\"\n");
    let fresh = Fresh::new("fresh-crate", &files);

    // The product: built and tested without turnpike, and without a warning.
    let release = fresh.cargo(&["build", "--release"]);
    assert!(release.status.success() && !text(&release).contains("warning"), "{}", text(&release));
    let tree = text(&fresh.cargo(&["tree", "--edges", "normal"]));
    assert!(tree.contains("bank") && !tree.contains("turnpike"), "{tree}");
    let library = std::fs::read(fresh.target.join("release/libbank.rlib")).expect("the library");
    assert!(!library.windows(8).any(|part| part == b"turnpike"), "a trace of turnpike in the release build");

    // The test finds the bug, and prints the report of the chapter.
    let test = fresh.cargo(&["test", "--features", "turnpike"]);
    let printed = text(&test);
    assert!(!test.status.success(), "{printed}");
    assert!(printed.contains("panicked at tests/accounts.rs:7:1"), "the user's line: {printed}");
    let start = page.find("panic: overdrawn").expect("the chapter has a report");
    let report = &page[start..start + page[start..].find("\n```").expect("and its end")];
    for line in report.lines() {
        assert!(printed.contains(line.trim_end()), "\n{line}\nis not printed:\n{printed}");
    }

    // The line that replays it does so.
    let schedule = report.split("TURNPIKE_REPLAY=").nth(1).and_then(|rest| rest.split(' ').next());
    let schedule = schedule.expect("a schedule");
    let exact = ["test", "--features", "turnpike", "--", "--exact", "nobody_overdraws", "--nocapture"];
    let replayed = fresh.cargo_with(&exact, Some(schedule));
    let printed = text(&replayed);
    assert!(!replayed.status.success() && printed.contains("overdrawn"), "{printed}");
    assert!(printed.contains("panicked at tests/accounts.rs:14:5"), "the assertion itself: {printed}");

    // With the lock held, it passes, and says on what that rests.
    let broken =
        files.iter().find(|(path, _)| path == "src/lib.rs").map(|(_, text)| text.clone()).expect("there");
    let fixed = broken.replace(
        "        if *self.balance.lock().unwrap() < amount {\n            return false;\n        }\n        *self.balance.lock().unwrap() -= amount;\n",
        "        let mut balance = self.balance.lock().unwrap();\n        if *balance < amount {\n            return false;\n        }\n        *balance -= amount;\n",
    );
    assert_ne!(fixed, broken);
    fresh.write("src/lib.rs", &fixed);
    let test = fresh.cargo(&["test", "--features", "turnpike", "--test", "accounts"]);
    assert!(test.status.success(), "{}", text(&test));
    if Command::new(env!("CARGO"))
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        let test = fresh.cargo(&["nextest", "run", "--features", "turnpike", "--no-capture"]);
        let printed = text(&test);
        assert!(test.status.success() && printed.contains("nobody_overdraws: proved: "), "{printed}");
    } else {
        eprintln!("skipped: cargo-nextest is not installed");
    }
}

#[test]
fn the_async_chapter_works_as_written_in_a_fresh_crate() {
    let page = chapter("async.md");
    let mut files = files(&page);
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["Cargo.toml", "src/rt.rs", "src/lib.rs", "tests/letters.rs"]);
    let local = format!("path = \"{}\"", env!("CARGO_MANIFEST_DIR"));
    assert!(files[0].1.contains("turnpike = { version = \"0.1\", optional = true }"));
    files[0].1 = files[0].1.replace("version = \"0.1\", optional", &format!("{local}, optional"));
    files[0].1.push_str("\n[workspace]\n");
    let fresh = Fresh::new("fresh-async-crate", &files);

    // Without the feature it is tokio.
    let product = fresh.cargo(&["build"]);
    assert!(product.status.success() && !text(&product).contains("warning"), "{}", text(&product));
    let tree = text(&fresh.cargo(&["tree"]));
    assert!(tree.contains("tokio v") && !tree.contains("turnpike"), "{tree}");

    let test = fresh.cargo(&["test", "--features", "turnpike", "--test", "letters"]);
    let printed = text(&test);
    assert!(!test.status.success(), "{printed}");
    let report = page.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next());
    for line in report.expect("a report").lines() {
        assert!(printed.contains(line), "{line:?} is not printed:\n{printed}");
    }

    let broken = files.iter().find(|(path, _)| path == "src/lib.rs").map(|(_, text)| text.as_str());
    let fixed = broken.expect("there").replace("notify_waiters", "notify_one");
    fresh.write("src/lib.rs", &fixed);
    let test = fresh.cargo(&["test", "--features", "turnpike", "--test", "letters", "--", "--nocapture"]);
    let printed = text(&test);
    assert!(test.status.success() && printed.contains("a_letter_arrives: proved: "), "{printed}");
}
