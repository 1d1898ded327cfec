//! The specification that a formula is about.
//!
//! A formula can name it in a comment, `% model: ../abp.mcrl2`. Otherwise it is the only specification of
//! the nearest folder that has one, or among several the one with the name of a folder on the way.

use std::path::{Path, PathBuf};

/// Folders above that of the formula that are looked at.
const HIGHEST: usize = 3;

/// The specification of a formula in a file, if there is one.
pub(crate) fn specification_of(file: &Path, text: &str) -> Option<PathBuf> {
    let folder = file.parent()?;
    if let Some(named) = text.lines().find_map(named_in) {
        return Some(folder.join(named)).filter(|path| path.is_file());
    }
    let mut passed = Vec::new();
    for folder in folder.ancestors().take(HIGHEST + 1) {
        passed.extend(folder.file_name());
        let found = specifications(folder);
        let named = |path: &&PathBuf| path.file_stem().is_some_and(|stem| passed.contains(&stem));
        match &found[..] {
            [] => {}
            [only] => return Some(only.clone()),
            several => return several.iter().find(named).cloned(),
        }
    }
    None
}

/// The file that a line of a formula names.
fn named_in(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('%')?.trim_start().strip_prefix("model:")?;
    Some(rest.trim()).filter(|name| !name.is_empty())
}

fn specifications(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "mcrl2")).collect();
    found.sort();
    found
}

/// The file that an address names.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The address of a file.
pub(crate) fn uri_of(path: &Path) -> Option<lsp_types::Uri> {
    use std::fmt::Write as _;
    let mut uri = "file://".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_about_the_nearest_specification() {
        let root = std::env::temp_dir().join(format!("turnpike-related-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let write = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, "").expect("a file");
            path
        };
        let (abp, lift) = (write("abp.mcrl2"), write("lift.mcrl2"));
        let near = write("one/spec.mcrl2");
        let found = |file: &str, text: &str| specification_of(&root.join(file), text);
        assert_eq!(found("requirements/abp/1.mcf", ""), Some(abp.clone()), "by the name of a folder");
        assert_eq!(found("one/properties/two words.mcf", ""), Some(near), "the only one");
        write("several/a.mcrl2");
        write("several/b.mcrl2");
        write("several/empty/x.mcf");
        assert_eq!(found("several/empty/x.mcf", ""), None, "none of several, nor one from further up");
        assert_eq!(found("x.mcf", "% words\n%model: lift.mcrl2\ntrue"), Some(lift), "by a comment");
        assert_eq!(found("one/x.mcf", "% model: none.mcrl2"), None, "never another one than was named");
        std::fs::remove_dir_all(&root).expect("it was made");
    }

    #[test]
    fn addresses_name_files() {
        let path = Path::new("/a b/ü%.mcf");
        let uri = uri_of(path).expect("an address");
        assert_eq!(uri.as_str(), "file:///a%20b/%C3%BC%25.mcf");
        assert_eq!(path_of(uri.as_str()).as_deref(), Some(path));
        assert_eq!(path_of("untitled:1.mcf"), None);
        assert_eq!(path_of("file:///%zz"), None);
    }
}
