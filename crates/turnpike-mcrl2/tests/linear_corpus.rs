//! Every specification of the corpus becomes a linear process, or an error says why not.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use turnpike_mcrl2::linear::linearise;
use turnpike_mcrl2::sorts::check_specification;
use turnpike_mcrl2::syntax::parse_specification;

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mcrl2") {
            found.push(path);
        }
    }
}

#[test]
fn the_corpus_is_linearised() {
    let Some(root) = std::env::var_os("TURNPIKE_CORPUS") else { return };
    let mut files = Vec::new();
    collect(&Path::new(&root).join("models"), &mut files);
    files.sort();
    assert!(!files.is_empty(), "no specification below {}", root.display());
    let mut rows: Vec<(Duration, String)> = Vec::new();
    let mut failures = String::new();
    for file in &files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let (specification, _) = parse_specification(&text);
        let (Some(program), _) = check_specification(&specification) else { continue };
        let start = Instant::now();
        let result = linearise(program);
        let time = start.elapsed();
        match result {
            Ok(process) => {
                let controls = process.initial.len();
                let (parameters, summands) = (process.parameters.len(), process.summands.len());
                rows.push((
                    time,
                    format!("{name}: {controls} components, {parameters} parameters, {summands} summands"),
                ));
            }
            Err(diagnostics) => {
                assert!(!diagnostics.is_empty(), "{name} fails without a word");
                let _ = writeln!(failures, "{name} ({time:?}): {}", diagnostics[0].message);
            }
        }
    }
    rows.sort_by(|left, right| right.cmp(left));
    eprintln!("{} of {} linearised; the slowest:", rows.len(), files.len());
    rows.iter().take(20).for_each(|(time, row)| eprintln!("{time:>12.1?}  {row}"));
    eprintln!("failures:\n{failures}");
    assert!(rows.len() * 10 >= files.len() * 9, "most specifications are linearised");
}
