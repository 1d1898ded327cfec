//! What the documents name exists, and what exists is listed.

use crate::common::{read, root, sources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// ARCHITECTURE.md without its picture and other blocks, and its paragraphs joined.
fn architecture() -> Vec<String> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let outside = text.split("```").step_by(2);
    outside.flat_map(|part| part.split("\n\n")).map(str::to_owned).collect()
}

/// What stands in backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_name(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) && text.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
}

static TREE: LazyLock<Tree> = LazyLock::new(Tree::read);

/// The names that the sources give to functions, modules and types.
struct Tree {
    /// Files and folders below the root, files of Rust without their ending, `x/mod.rs` as `x`.
    paths: BTreeSet<String>,
    defined: BTreeSet<String>,
}

impl Tree {
    fn read() -> Self {
        let (root, mut paths, mut defined) = (root(), BTreeSet::new(), BTreeSet::new());
        for path in sources(&root, &["rs", "js", "md", "toml"]) {
            let within = path.strip_prefix(&root).expect("below the root");
            paths.extend(within.ancestors().map(shown));
            paths.insert(shown(&within.with_extension("")));
            if path.extension().is_some_and(|extension| extension == "rs") {
                defined.extend(definitions(&read(&path)));
            }
        }
        Self { paths, defined }
    }

    /// Whether a file or folder is called so, from the name of its crate on or from some folder on.
    fn has_path(&self, name: &str) -> bool {
        let name = name.trim_end_matches("/*").trim_end_matches('/');
        self.paths.iter().any(|path| {
            path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with(['/', '-']))
        })
    }

    fn has(&self, name: &str) -> bool {
        match name.split_once("::") {
            Some((owner, rest)) => self.has(owner) && self.has(rest),
            None => self.has_path(name) || self.defined.contains(name),
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn definitions(text: &str) -> impl Iterator<Item = String> {
    let keywords = ["fn", "struct", "enum", "trait", "type", "mod", "static", "const"];
    text.lines().filter_map(move |line| {
        let mut words =
            line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.find(|word| keywords.contains(word))?;
        words.next().map(str::to_owned)
    })
}

#[test]
fn architecture_names_what_exists() {
    let tree = &*TREE;
    let mut missing = Vec::new();
    for paragraph in architecture() {
        let checked = |name: &&str| match name.contains('/') {
            true => !name.contains(' '),
            false => name.split("::").all(is_name),
        };
        missing.extend(names(&paragraph).filter(checked).filter(|name| !tree.has(name)).map(str::to_owned));
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names what does not exist: {}", missing.join(", "));
}

/// A table is about the crate that its heading or its first row names last.
#[test]
fn tables_of_modules_name_modules_of_their_crate() {
    let tree = &*TREE;
    let mut of_crate = String::new();
    let mut checked = 0;
    for line in architecture().iter().flat_map(|paragraph| paragraph.lines()) {
        if line.starts_with('#') || line.starts_with("| module of") {
            of_crate = names(line).last().unwrap_or_default().to_owned();
        } else if let Some(row) = line.strip_prefix("| `") {
            let (modules, _) = row.split_once(" |").expect("two columns");
            for module in names(&format!("`{modules}")) {
                let path = format!("{of_crate}/src/{module}");
                assert!(tree.has_path(&path), "ARCHITECTURE.md names {path}, which does not exist");
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "only {checked} modules");
}

/// An invariant stands on a test or a type: its paragraph names one.
#[test]
fn invariants_name_what_enforces_them() {
    let tree = &*TREE;
    let enforces = |name: &str| match name.contains('/') {
        true => name.contains("tests") && tree.has_path(name),
        false => tree.defined.contains(name.split("::").next().unwrap_or_default()),
    };
    for paragraph in architecture() {
        for invariant in paragraph.split("**Invariant").skip(1) {
            assert!(names(invariant).any(enforces), "nothing enforces the invariant{invariant}");
        }
    }
}

#[test]
fn every_decision_and_every_chapter_is_listed() {
    for (folder, list) in [("docs/decisions", "README.md"), ("docs/book/src", "SUMMARY.md")] {
        let folder = root().join(folder);
        let text = read(&folder.join(list));
        let pages = sources(&folder, &["md"]);
        assert!(pages.len() > 20, "only {} pages", pages.len());
        for page in pages {
            let name = shown(page.strip_prefix(&folder).expect("below it"));
            assert!(name == list || text.contains(&format!("({name})")), "{list} does not list {name}");
        }
    }
}

/// Links between the documents lead somewhere.
/// The first hours of new users fit on two screens.
#[test]
fn stories_are_short() {
    let folder = root().join("docs/book/src");
    let stories: Vec<PathBuf> =
        sources(&folder, &["md"]).into_iter().filter(|path| shown(path).contains("story-")).collect();
    assert_eq!(stories.len(), 4);
    for story in stories {
        let lines = read(&story).lines().count();
        assert!(lines <= 100, "{} has {lines} lines", shown(&story));
    }
}

#[test]
fn links_lead_to_files() {
    let mut checked = 0;
    for page in sources(&root(), &["md"]) {
        let text = read(&page);
        // Blocks of code hold brackets of their own.
        for part in text.split("```").step_by(2) {
            for link in part.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
            {
                let file = link.split('#').next().unwrap_or_default();
                if file.is_empty() || file.contains(':') || file.contains(char::is_whitespace) {
                    continue;
                }
                let target = page.parent().expect("a folder").join(file);
                assert!(target.exists(), "{} links to {file}, which does not exist", page.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "only {checked} links");
}
