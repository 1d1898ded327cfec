//! The one gate to the public corpus: models and what other tools say of them, which are not part of the project.
//!
//! `TURNPIKE_CORPUS` names the folder. Without it, a test that needs it says that it is skipped. With it, every file
//! that a test asks for must be there: a test never passes because its data is missing.

use std::path::{Path, PathBuf};

/// The corpus, when there is one.
#[derive(Clone, Debug)]
pub struct Corpus {
    root: PathBuf,
}

/// Opens the corpus; without one, says once that the running test is skipped.
#[allow(clippy::print_stderr, reason = "a skipped test must say so")]
pub fn open() -> Option<Corpus> {
    let root = std::env::var_os("TURNPIKE_CORPUS").map(PathBuf::from);
    if root.is_none() {
        let thread = std::thread::current();
        eprintln!("skipped: {}: TURNPIKE_CORPUS is not set", thread.name().unwrap_or("a test"));
    }
    root.map(|root| Corpus { root })
}

impl Corpus {
    /// A file or folder of the corpus.
    ///
    /// # Panics
    /// When it is missing.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        let path = self.root.join(below);
        assert!(path.exists(), "{} is missing from the corpus", path.display());
        path
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When it is missing or cannot be read.
    pub fn read(&self, below: impl AsRef<Path>) -> String {
        let path = self.path(below);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// All files below a folder whose names end in one of these extensions, in the order of their paths.
    ///
    /// # Panics
    /// When there are none.
    pub fn files(&self, below: impl AsRef<Path>, extensions: &[&str]) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.path(below.as_ref())]);
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder);
            for entry in entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten() {
                let path = entry.path();
                let extension = path.extension().and_then(|extension| extension.to_str());
                if path.is_dir() {
                    folders.push(path);
                } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                    found.push(path);
                }
            }
        }
        found.sort();
        assert!(!found.is_empty(), "no {extensions:?} below {} in the corpus", below.as_ref().display());
        found
    }
}
