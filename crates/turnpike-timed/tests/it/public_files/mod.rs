//! The TChecker files of a folder.

use std::path::{Path, PathBuf};

/// All `.tck` files in a folder and below it, in order of their names.
pub(crate) fn tck_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() {
            files.append(&mut tck_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "tck") {
            files.push(path);
        }
    }
    files
}
