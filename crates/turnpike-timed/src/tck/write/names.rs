//! Legal names, and arrays formed from the cells of a network.

use rustc_hash::FxHashSet;

use crate::syntax::tck::{DECLARATION_WORDS, EXPRESSION_WORDS};

/// The use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Declarations only: dots are allowed.
    Declaration,
    /// A clock or variable.
    Variable,
    /// A local variable: `$` is allowed in front.
    Local,
    /// A clock or variable that no expression mentions if its name has dots.
    DottedVariable,
}

/// The names in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    used: FxHashSet<String>,
}

impl Names {
    /// The wanted name if it is legal and unused, otherwise a similar one.
    pub(super) fn pick(&mut self, wanted: &str, used_as: Use) -> String {
        let name = unused(wanted, used_as, |name| self.used.contains(name));
        self.used.insert(name.clone());
        name
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.used.contains(name)
    }
}

/// The wanted name if it is legal and not taken, otherwise a similar one.
pub(super) fn unused(wanted: &str, used_as: Use, taken: impl Fn(&str) -> bool) -> String {
    let base = legal(wanted, used_as);
    let mut name = base.clone();
    let mut number = 2u32;
    while taken(&name) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// Keeps letters, digits and `_`; replaces any run of other characters by one `_`, except at the
/// ends.
fn legal(wanted: &str, used_as: Use) -> String {
    let dots = matches!(used_as, Use::Declaration | Use::DottedVariable);
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || (dots && c == '.');
    let begins = wanted.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let mut name = String::new();
    let local = wanted.strip_prefix('$').filter(|_| used_as == Use::Local);
    if local.is_some_and(|rest| rest.chars().all(allowed)) || (begins && wanted.chars().all(allowed)) {
        wanted.clone_into(&mut name);
    } else {
        for c in wanted.chars() {
            if allowed(c) {
                name.push(c);
            } else if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
        }
        while name.ends_with('_') {
            name.pop();
        }
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
    }
    let reserved = used_as != Use::Declaration && EXPRESSION_WORDS.contains(&name.as_str());
    if reserved || DECLARATION_WORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Consecutive cells that are declared together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// First cell.
    pub(super) base: u32,
    /// Number of cells; 1 unless it is an array.
    pub(super) count: u32,
    /// The name before it is made legal.
    pub(super) wanted: String,
}

/// Splits cells into arrays and single cells. `regions` are the ranges that indices can reach
/// (first cell and length), which must be arrays; others become arrays if their names are `t[0]`,
/// `t[1]`, .... Cells of an array must have equal ranges and initial values. The result covers all
/// cells in order.
pub(super) fn groups(
    names: &[String],
    mut regions: Vec<(u32, u32)>,
    alike: impl Fn(usize, usize) -> bool,
) -> Vec<Group> {
    regions.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (base, count) in regions {
        match joined.last_mut() {
            Some((start, length)) if base < *start + *length => {
                *length = (*length).max((base - *start).saturating_add(count));
            }
            _ => joined.push((base, count)),
        }
    }
    let mut joined = joined.into_iter().peekable();
    let mut groups = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let mut count = 1;
        let mut wanted = names[at].clone();
        while joined.peek().is_some_and(|&(base, _)| (base as usize) < at) {
            joined.next();
        }
        if let Some(&(base, length)) = joined.peek()
            && base as usize == at
        {
            let end = names.len().min(at + length as usize);
            if (at..end).all(|cell| alike(at, cell)) {
                count = end - at;
                if let Some((prefix, _)) = wanted.split_once('[') {
                    wanted.truncate(prefix.len());
                }
            }
        } else if let Some(prefix) = names[at].strip_suffix("[0]") {
            let end = joined.peek().map_or(names.len(), |&(base, _)| names.len().min(base as usize));
            let is_next = |cell: usize| {
                let index = names[cell].strip_prefix(prefix).and_then(|rest| rest.strip_prefix('['));
                let index = index.and_then(|rest| rest.strip_suffix(']'));
                index.is_some_and(|index| index.parse() == Ok(cell - at) && !index.starts_with('+'))
            };
            while at + count < end && is_next(at + count) && alike(at, at + count) {
                count += 1;
            }
            // The next cell should belong to it but differs: then the cells are not alike, and none
            // becomes part of an array.
            if count > 1 && at + count < end && is_next(at + count) {
                count = 1;
            }
            if count > 1 {
                prefix.clone_into(&mut wanted);
            }
        }
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        groups.push(Group { base: number(at), count: number(count), wanted });
        at += count;
    }
    groups
}

/// The text of cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Every single cell: `n`, `t[2]`; empty while it has no name.
    pub(super) cells: Vec<String>,
    /// Arrays: first cell, length, name.
    pub(super) arrays: Vec<(u32, u32, String)>,
}

impl Layout {
    /// Names a group.
    pub(super) fn name(&mut self, group: &Group, name: &str) {
        let (base, count) = (group.base as usize, group.count as usize);
        if self.cells.len() < base + count {
            self.cells.resize(base + count, String::new());
        }
        if count == 1 {
            name.clone_into(&mut self.cells[base]);
        } else {
            for cell in 0..count {
                self.cells[base + cell] = format!("{name}[{cell}]");
            }
            self.arrays.push((group.base, group.count, name.to_owned()));
        }
    }

    /// The array that contains these cells, and their index in it.
    pub(super) fn array(&self, base: u32, count: u32) -> Option<(&str, u32, u32)> {
        let (start, length, name) = self
            .arrays
            .iter()
            .find(|&&(start, length, _)| start <= base && base + count <= start + length)?;
        Some((name, base - start, *length))
    }
}
