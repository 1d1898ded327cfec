//! Finds public specifications.

use std::path::{Path, PathBuf};

/// The folder with public specifications, if it exists.
pub(crate) fn folder() -> Option<PathBuf> {
    turnpike_corpus::open().map(|corpus| corpus.path(""))
}

/// All specifications in a folder and its subfolders, sorted by path.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "mcrl2") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// All public specifications with their texts; `None` if there is no such folder.
pub(crate) fn read() -> Option<Vec<(PathBuf, String)>> {
    let found = below(&folder()?.join("models/mcrl2"));
    assert!(!found.is_empty());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        (path, text)
    };
    Some(found.into_iter().map(read).collect())
}
