//! The readers on the corpora of the fuzz targets: there is no panic, and accepted files can be
//! written and read again.

use std::fs;
use std::path::{Path, PathBuf};

use turnpike_lts::{AutDialect, LtsModel, read_lts, trace, write_lts};
use turnpike_model::{Diagnostic, Model, Successors};

/// The files of a corpus, sorted by name. An empty corpus is an error.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 40, "{} has only {} files", folder.display(), paths.len());
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).expect("readable"))).collect()
}

fn is_friendly(name: &str, error: &Diagnostic) {
    assert!(!error.message.is_empty(), "{name}");
    assert!(!error.message.ends_with('.'), "{name}: {error}");
    assert!(!error.message.contains('\n'), "{name}: {error}");
}

#[test]
fn aut_files() {
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in corpus("aut_reader") {
        for dialect in [AutDialect::Mcrl2, AutDialect::Cadp] {
            let lts = match read_lts(&bytes[..], dialect) {
                Ok(lts) => lts,
                Err(error) => {
                    is_friendly(&name, &error);
                    refused += 1;
                    continue;
                }
            };
            read += 1;
            lts.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut written = Vec::new();
            write_lts(&lts, &mut written, dialect).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(read_lts(&written[..], dialect).as_ref(), Ok(&lts), "{name}");

            let model = LtsModel::new(name.clone(), lts).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut explorer = model.explorer();
            let (mut state, mut successors) = (Vec::new(), Successors::new(1));
            explorer.initial(&mut state).expect("an initial state");
            explorer.successors(&state, &mut successors).expect("successors");
        }
    }
    assert!(read >= 20 && refused >= 20, "{read} read, {refused} refused");
}

#[test]
fn traces() {
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in corpus("trace_reader") {
        let trace = match trace::read(&bytes[..]) {
            Ok(trace) => trace,
            Err(error) => {
                is_friendly(&name, &error);
                refused += 1;
                continue;
            }
        };
        read += 1;
        let mut json = Vec::new();
        trace.write_json(&mut json).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(trace::read(&json[..]).as_ref(), Ok(&trace), "{name}");
        let (mut text, mut path) = (Vec::new(), Vec::new());
        let written = [trace.write_text(&mut text), trace::write_aut(&trace, &mut path)];
        for (out, written) in [text, path].iter().zip(written) {
            match written {
                Ok(()) => {
                    let again = trace::read(&out[..]).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert!(again.labels().eq(trace.labels()), "{name}");
                }
                Err(error) => is_friendly(&name, &error),
            }
        }
    }
    assert!(read >= 15 && refused >= 15, "{read} read, {refused} refused");
}
