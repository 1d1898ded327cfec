//! Public models explored with and without caches: the same successors in the same order.

use crate::pairs;

use std::path::{Path, PathBuf};

use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::query::Names;
use turnpike_timed::uppaal::Format;
use turnpike_timed::{tck, uppaal};

/// States per model.
const STATES: usize = 300;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn open(path: &Path, text: &str, options: &Options) -> Option<TimedModel> {
    let format = match path.extension()?.to_str()? {
        "tck" => None,
        "xml" => Some(Format::Xml),
        "xta" | "ta" => Some(Format::Xta),
        _ => return None,
    };
    let (network, names) = match format {
        None => {
            let (network, _) = tck::read(text).ok()?;
            let names = Names::of(&network);
            (network, names)
        }
        Some(format) => {
            let (network, names, _) = uppaal::read(text, format, &[]).ok()?;
            (network, names)
        }
    };
    TimedModel::new("model", text, network, names, options).ok().map(|(model, _)| model)
}

#[test]
fn public_models_have_the_same_successors_both_ways() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let mut found = Vec::new();
    files(&corpus.path("models/timed"), &mut found);
    let (mut checked, mut states, mut wide, mut wrong) = (0, 0, 0, Vec::new());
    for path in found {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Some(quick) = open(&path, &text, &Options::default()) else { continue };
        let plain = open(&path, &text, &Options { plain: true, ..Options::default() });
        let plain = plain.expect("it was opened before");
        let mut compare = |model: &TimedModel, most: usize| match pairs::compare(model, &plain, most) {
            Ok(count) => states += count,
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
        };
        compare(&quick, STATES);
        checked += 1;
        let forced = open(&path, &text, &Options { wide: true, ..Options::default() });
        if let Some(forced) = forced.filter(|forced| forced.is_wide() && !quick.is_wide()) {
            compare(&forced, STATES / 3);
            wide += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 100 && states > 10_000, "only {checked} models with {states} states were compared");
    assert!(wide > 20, "only {wide} models were explored as if they had many processes");
}
