//! Source files and functions stay small enough to read at one sitting.

use crate::common::{read, root, sources};

/// The longest source file, in lines.
const FILE: usize = 700;
/// The longest function that needs no reason, in lines.
const FUNCTION: usize = 80;

#[test]
fn source_files_are_short() {
    let files = sources(&root(), &["rs", "c", "cpp", "h", "js"]);
    assert!(files.len() > 1000, "only {} files", files.len());
    let long: Vec<String> = files
        .iter()
        .map(|path| (path, read(path).lines().count()))
        .filter(|&(_, lines)| lines > FILE)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "files of more than {FILE} lines:\n{}", long.join("\n"));
}

/// A function that must be longer has a comment above it that says `long`, and why.
#[test]
fn long_functions_give_a_reason() {
    let mut long = Vec::new();
    for path in sources(&root(), &["rs"]) {
        let text = read(&path);
        for function in functions(&text) {
            if function.lines > FUNCTION && !function.reason {
                let Function { name, line, lines, .. } = function;
                long.push(format!("{}:{line}: {name} has {lines} lines", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "functions of more than {FUNCTION} lines:\n{}", long.join("\n"));
}

struct Function<'a> {
    name: &'a str,
    /// Where it begins, counted from 1.
    line: usize,
    lines: usize,
    /// Whether a comment above it speaks of its length.
    reason: bool,
}

/// The functions with a body. Formatted code closes a body by a brace in the column where the
/// function begins, so that no parser is needed.
fn functions(text: &str) -> Vec<Function<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = function_name(code) else { continue };
        let indent = &line[..line.len() - code.len()];
        let closes = |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with('}'));
        let declares = |line: &&str| {
            line.strip_prefix(indent).is_some_and(|rest| !rest.starts_with(' ') && rest.ends_with(';'))
        };
        let Some(end) = lines[start..].iter().position(|line| closes(line) || declares(line)) else {
            continue;
        };
        // A body on one line ends where it begins.
        let end = if code.ends_with('}') { 0 } else { end };
        let above = lines[..start].iter().rev().map(|line| line.trim_start());
        let reason = above
            .take_while(|line| line.starts_with("//") || line.starts_with("#["))
            .any(|line| line.starts_with("//") && line.to_lowercase().contains("long"));
        found.push(Function { name, line: start + 1, lines: end + 1, reason });
    }
    found
}

/// The name of the function whose declaration this line begins.
fn function_name(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("fn ")?;
    let known = ["const", "async", "unsafe", "default", "extern", "\"C\"", "\"C-unwind\""];
    let modifier = |word: &str| word.starts_with("pub") || word.ends_with(')') || known.contains(&word);
    before.split_whitespace().all(modifier).then_some(())?;
    after.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[test]
fn functions_are_measured() {
    let text = "/// Long, because.\n#[inline]\npub(crate) unsafe fn a(\n    x: u8,\n) {\n    {\n    }\n}\n\
                trait T {\n    fn b(&self);\n    fn c(&self) -> u8 { 1 }\n    // A note.\n    fn d() {\n        let x = 1;\n    }\n}\n";
    let found: Vec<_> = functions(text).iter().map(|f| (f.name, f.line, f.lines, f.reason)).collect();
    assert_eq!(found, [("a", 3, 6, true), ("b", 10, 1, false), ("c", 11, 1, false), ("d", 13, 3, false)]);
}
