//! The dependency graph keeps its direction: front-ends and engine meet only at the waist.

use crate::common::{read, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The workspace's crates and the workspace crates that each depends on, not counting what only tests need.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    packages
        .iter()
        .map(|package| {
            let own = package["dependencies"].as_array().expect("a list of dependencies");
            let own = own
                .iter()
                .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
                .map(|dependency| text(&dependency["name"]))
                .filter(|name| name.starts_with("turnpike"))
                .collect();
            (text(&package["name"]), own)
        })
        .collect()
}

#[test]
fn crates_depend_only_towards_the_waist() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("turnpike-scheduler", &[][..]),
        ("turnpike-runtime", &["turnpike-scheduler"]),
        ("turnpike-guest", &["turnpike-scheduler"]),
        ("turnpike-preload", &["turnpike-guest", "turnpike-scheduler"]),
        ("turnpike-macros", &[]),
        // Only tests depend on it.
        ("turnpike-corpus", &[]),
        ("turnpike-program", &["turnpike-model", "turnpike-preload", "turnpike-scheduler"]),
        ("turnpike-model", &[]),
        ("turnpike-builtin", &["turnpike-model"]),
        ("turnpike-formula", &["turnpike-games", "turnpike-model"]),
        ("turnpike-games", &["turnpike-model"]),
        ("turnpike-cluster", &["turnpike-model"]),
        ("turnpike-mcrl2", &["turnpike-model"]),
        ("turnpike-timed", &["turnpike-model"]),
        ("turnpike-explore", &["turnpike-lts", "turnpike-model", "turnpike-program", "turnpike-session"]),
        ("turnpike-lab", &["turnpike-lts", "turnpike-model", "turnpike-session"]),
        ("turnpike-lts", &["turnpike-model"]),
        // The book's example of a crate with a strategy of its own.
        ("own-strategy", &["turnpike-lab"]),
        ("turnpike-lsp", &["turnpike-mcrl2", "turnpike-model", "turnpike-timed"]),
        ("turnpike-search", &["turnpike-model"]),
        (
            "turnpike",
            &[
                "turnpike-lts",
                "turnpike-macros",
                "turnpike-model",
                "turnpike-program",
                "turnpike-runtime",
                "turnpike-scheduler",
                "turnpike-session",
            ],
        ),
        // The only one that sees the engine: whoever searches asks the session.
        (
            "turnpike-session",
            &[
                "turnpike-builtin",
                "turnpike-cluster",
                "turnpike-formula",
                "turnpike-lts",
                "turnpike-mcrl2",
                "turnpike-model",
                "turnpike-program",
                "turnpike-scheduler",
                "turnpike-search",
                "turnpike-timed",
            ],
        ),
        (
            "turnpike-cli",
            &[
                "turnpike-session",
                "turnpike-builtin",
                "turnpike-explore",
                "turnpike-lab",
                "turnpike-lsp",
                "turnpike-lts",
                "turnpike-mcrl2",
                "turnpike-timed",
                "turnpike-model",
                "turnpike-program",
                "turnpike-runtime",
                "turnpike-scheduler",
            ],
        ),
    ]);
    let found = dependencies();
    assert!(found.len() >= allowed.len());
    for (name, own) in found {
        let allowed =
            allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not in the table of this test"));
        for dependency in own {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

/// The picture of ARCHITECTURE.md, before its first section, names every crate.
#[test]
fn the_picture_has_every_crate() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let (picture, _) = text.split_once("\n## ").expect("a first section");
    // A name that is too wide for its box stands on two lines.
    let has = |name: &str| {
        let (_, last) = name.split_once('-').unwrap_or(("", name));
        picture.contains(name) || picture.split(|c: char| !c.is_alphanumeric()).any(|word| word == last)
    };
    for name in dependencies().keys().filter(|name| name.starts_with("turnpike")) {
        assert!(has(name), "ARCHITECTURE.md's picture lacks {name}");
    }
}

/// The waist has no threads, no clock and no random generator. Its tests may have them.
#[test]
fn the_waist_is_plain() {
    for path in sources(&root().join("crates/turnpike-model/src"), &["rs"]) {
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for word in ["std::thread", "std::time", "Instant::", "SystemTime", "rand::"] {
            let in_tests = path.iter().any(|part| part == "tests" || part == "tests.rs");
            assert!(in_tests || !code.contains(word), "{} uses {word}", path.display());
        }
    }
}

/// The engine is out of reach of clients; what the session passes on must not bring it back.
#[test]
fn only_the_session_builds_strategies() {
    let crates = root().join("crates");
    let building = ["turnpike_search", "SearchOptions", "Strategy::from(", "Strategy::by_name(", ".build(&"];
    for client in ["turnpike-cli", "turnpike-lab", "turnpike"] {
        for path in sources(&crates.join(client).join("src"), &["rs"]) {
            let text = read(&path);
            for word in building {
                assert!(!text.contains(word), "{} builds a strategy itself: {word}", path.display());
            }
        }
    }
}

/// A library says what an option means; how a client spells it is the client's to say. The lab is a client: its files hold
/// command lines.
#[test]
fn messages_of_libraries_name_no_flags() {
    let crates = root().join("crates");
    let libraries =
        ["builtin", "guest", "lts", "mcrl2", "model", "program", "runtime", "scheduler", "search", "timed"];
    for library in libraries {
        for path in sources(&crates.join(format!("turnpike-{library}")).join("src"), &["rs"]) {
            let in_tests = path.iter().any(|part| part == "tests" || part == "tests.rs");
            let text = read(&path);
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code.take_while(|line| !in_tests && *line != "#[cfg(test)]") {
                assert!(!names_a_flag(line), "{} names a flag of the command line: {line}", path.display());
            }
        }
    }
}

/// Whether a string of this line holds `--` before a letter, and is more than an argument for another program.
fn names_a_flag(line: &str) -> bool {
    line.split('"').skip(1).step_by(2).any(|text| {
        text.split([' ', '`', '\'', '(']).any(|word| {
            word != text && word.strip_prefix("--").is_some_and(|rest| rest.starts_with(char::is_alphabetic))
        })
    })
}
