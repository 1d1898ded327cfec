//! Where public specifications are found.

use std::path::{Path, PathBuf};

/// The folder with everything about public specifications, if there is one.
pub(crate) fn folder() -> Option<PathBuf> {
    turnpike_corpus::open().map(|corpus| corpus.path(""))
}

/// All specifications below a folder, in the order of their paths.
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

/// All public specifications with their texts; `None` where there is no folder of public data.
pub(crate) fn read() -> Option<Vec<(PathBuf, String)>> {
    let found = below(&folder()?.join("models/mcrl2"));
    assert!(!found.is_empty());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        (path, text)
    };
    Some(found.into_iter().map(read).collect())
}
