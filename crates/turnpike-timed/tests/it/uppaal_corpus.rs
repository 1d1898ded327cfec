//! Public UPPAAL models are lowered, and their queries resolve their names. `TURNPIKE_CORPUS` is a
//! folder that contains `models/timed`.

#![allow(clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};

use turnpike_timed::uppaal::{self, Format};

/// Models that are rejected, and a part of the message.
const REFUSED: &[(&str, &str)] = &[
    // Channels with and without a direction.
    ("utot-rejects/err-12.xta", "cannot be mixed"),
    // Type errors: a parameter that is not `const` determines a process.
    ("utot-rejects/err-01.xta", "`pid` must be known"),
    ("utot-rejects/err-02.xta", "`pid` must be known"),
    // Channels and clocks that are not references.
    ("utot-rejects/err-04.xta", "passed as references"),
    ("utot-rejects/err-05.xta", "passed as references"),
    ("utot-rejects/err-07.xta", "passed as references"),
    // Clocks with initial values.
    ("utot-rejects/err-08.xta", "clocks have no initial value"),
    // Free parameters that cannot be enumerated: a channel, an integer without a range.
    ("utot-rejects/err-11.xta", "`Processes` needs arguments"),
    ("utot-rejects/tmpl-partial-03.xta", "`Q3` needs arguments"),
    // Channels and constants that do not exist.
    ("utot-rejects/err-14.xta", "index 3 is out of range"),
    ("utot-rejects/tmpl-partial-06.xta", "index 2 is out of range"),
    // Initial values that depend on the argument of a reference.
    ("utot-rejects/tmpl-binding-02.xta", "`i` must be known"),
    ("utot-rejects/tmpl-binding-03.xta", "`i` must be known"),
    // Beyond timed automata.
    ("demos/lsc_example.xml", "live sequence charts"),
    ("utap-tests/external_fn.xml", "external libraries"),
    // A stray character.
    ("suite/critical/critical-2-25-50.xta", "expected the name of a location"),
];

/// Valid models that another translator rejects: it does not support assigned parameters, indices
/// that depend on variables, and constant structs.
const NOT_REFUSED: [&str; 3] = ["decl-04.xta", "err-15.xta", "struct-cst-01.xta"];

/// Queries that are rejected: the end of the model's path, and a part of the message.
const REFUSED_QUERIES: &[(&str, &str)] = &[
    ("utap-tests/function_calls.xml", "simulation queries"),
    ("utap-tests/simpleHandshakeSystem.xml", "simulation queries"),
    // The process has another name.
    ("utap-tests/channel_priorities.xml", "there is no name `Process`"),
];

fn files(root: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(root).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files(&entry, found);
        } else {
            found.push(entry);
        }
    }
}

#[test]
fn public_models_are_lowered() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let root = corpus.path("models/timed");
    let mut all = Vec::new();
    files(&root, &mut all);
    let mut wrong = Vec::new();
    let (mut models, mut queries) = (0, 0);
    for path in &all {
        let name = path.strip_prefix(&root).expect("inside").to_string_lossy().replace('\\', "/");
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("xml") => Format::Xml,
            Some("xta" | "ta") => Format::Xta,
            _ => continue,
        };
        let text = String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned();
        let outcome = uppaal::read(&text, format, &[]);
        let refused = REFUSED.iter().find(|(file, _)| name.ends_with(file));
        let (network, names) = match (outcome, refused) {
            (Err(errors), refused) => {
                let listed = refused.is_some_and(|(_, reason)| errors[0].to_string().contains(reason));
                if !listed || errors[0].span.is_none() {
                    wrong.push(format!("{name}: {errors:?}"));
                }
                continue;
            }
            (Ok(_), Some(_)) => {
                wrong.push(format!("{name}: accepted"));
                continue;
            }
            (Ok((network, names, _)), None) => (network, names),
        };
        assert!(
            !name.contains("utot-rejects") || NOT_REFUSED.iter().any(|file| name.ends_with(file)),
            "{name}"
        );
        models += 1;
        let mut texts: Vec<String> = network.queries.iter().map(|query| query.text.clone()).collect();
        for file in all.iter().filter(|file| file.parent() == path.parent()) {
            let whole_folder =
                file.with_extension("") == path.with_extension("") || !shares_folder(&all, file);
            if file.extension().is_some_and(|extension| extension == "q") && whole_folder {
                let text = fs::read_to_string(file).expect("a file");
                texts.extend(uppaal::query_file(&text).expect("queries").into_iter().map(|query| query.text));
            }
        }
        for text in texts {
            queries += 1;
            if let Err(error) = names.query(&network, &text)
                && !REFUSED_QUERIES
                    .iter()
                    .any(|(file, reason)| name.ends_with(file) && error.to_string().contains(reason))
            {
                wrong.push(format!("{name}: {text}: {error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(models >= 117 && queries >= 134, "{models} models and {queries} queries");
}

/// Whether a query file belongs to one of several models in a folder.
fn shares_folder(all: &[PathBuf], file: &Path) -> bool {
    all.iter().any(|other| {
        other.with_extension("") == file.with_extension("")
            && other.extension().is_some_and(|extension| extension != "q")
    })
}
