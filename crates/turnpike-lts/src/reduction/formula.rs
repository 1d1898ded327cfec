//! Formulas that distinguish systems, printed as requirements of the modal mu-calculus (`.mcf`).

use std::fmt;

/// A closed formula. [`Display`](fmt::Display) writes it as text for an `.mcf` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Parts precede the parts that contain them; the last one is the formula. A part may be used
    /// more than once.
    nodes: Vec<Node>,
}

/// A part of a formula. Other parts are referred to by index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Always.
    True,
    /// Not.
    Not(u32),
    /// All of these.
    And(Vec<u32>),
    /// These labels are possible one after another, then the part holds; `weak`: with any number of
    /// `tau` around each.
    Can { labels: Vec<String>, weak: bool, then: u32 },
    /// `tau` steps through states where `stay` holds, then the label if there is one, then the part
    /// holds.
    Until { stay: u32, label: Option<String>, then: u32 },
    /// An endless run of `tau` through states where `stay` holds.
    Diverges { stay: u32 },
}

impl Node {
    /// The parts that it contains.
    pub(crate) fn parts(&self) -> Vec<u32> {
        match self {
            Node::True => Vec::new(),
            Node::Not(part) | Node::Can { then: part, .. } | Node::Diverges { stay: part } => vec![*part],
            Node::And(parts) => parts.clone(),
            Node::Until { stay, then, .. } => vec![*stay, *then],
        }
    }
}

/// Formulas that are too large to be read are not printed.
const MAX_SIZE: usize = 2000;
const MAX_DEPTH: usize = 200;

impl Formula {
    /// Extracts the part `root`; `None` if its text is too large.
    pub(crate) fn from_parts(all: &[Node], root: u32) -> Option<Formula> {
        let (mut size, mut depth) = (vec![0usize; all.len()], vec![0usize; all.len()]);
        for (at, node) in all.iter().enumerate() {
            let parts = node.parts();
            size[at] = parts.iter().fold(1, |sum, &part| size[part as usize].saturating_add(sum));
            depth[at] = parts.iter().map(|&part| depth[part as usize] + 1).max().unwrap_or(0);
        }
        let small = size[root as usize] <= MAX_SIZE && depth[root as usize] <= MAX_DEPTH;
        small.then(|| Formula { nodes: all[..=root as usize].to_vec() })
    }

    /// The parts; the last one is the formula.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, at: u32, binders: usize) -> fmt::Result {
        let is_true = |at: u32| self.nodes[at as usize] == Node::True;
        match &self.nodes[at as usize] {
            Node::True => f.write_str("true"),
            Node::Not(part) => match &self.nodes[*part as usize] {
                Node::True => f.write_str("false"),
                Node::Can { labels, weak, then } if is_true(*then) => {
                    f.write_str("[")?;
                    write_path(f, labels, *weak)?;
                    f.write_str("]false")
                }
                _ => {
                    f.write_str("!")?;
                    self.write(f, *part, binders)
                }
            },
            Node::And(parts) => {
                f.write_str("(")?;
                for (nth, part) in parts.iter().enumerate() {
                    f.write_str(if nth == 0 { "" } else { " && " })?;
                    self.write(f, *part, binders)?;
                }
                f.write_str(")")
            }
            Node::Can { labels, weak, then } => {
                f.write_str("<")?;
                write_path(f, labels, *weak)?;
                f.write_str(">")?;
                self.write(f, *then, binders)
            }
            Node::Until { stay, label, then } if is_true(*stay) => {
                match label {
                    Some(label) => write!(f, "<tau*.{label}>")?,
                    None => f.write_str("<tau*>")?,
                }
                self.write(f, *then, binders)
            }
            Node::Until { stay, label, then } => {
                write!(f, "(mu X{binders}. ")?;
                if let Some(label) = label {
                    self.write(f, *stay, binders + 1)?;
                    write!(f, " && (<{label}>")?;
                    self.write(f, *then, binders + 1)?;
                    write!(f, " || <tau>X{binders}))")
                } else {
                    self.write(f, *then, binders + 1)?;
                    f.write_str(" || (")?;
                    self.write(f, *stay, binders + 1)?;
                    write!(f, " && <tau>X{binders}))")
                }
            }
            Node::Diverges { stay } if is_true(*stay) => write!(f, "(nu X{binders}. <tau>X{binders})"),
            Node::Diverges { stay } => {
                write!(f, "(nu X{binders}. ")?;
                self.write(f, *stay, binders + 1)?;
                write!(f, " && <tau>X{binders})")
            }
        }
    }
}

/// Writes the labels as a regular formula.
fn write_path(f: &mut fmt::Formatter<'_>, labels: &[String], weak: bool) -> fmt::Result {
    let mut separator = "";
    for label in labels.iter().filter(|label| !weak || *label != turnpike_model::label::TAU) {
        write!(f, "{separator}{}{label}", if weak { "tau*." } else { "" })?;
        separator = ".";
    }
    if weak { write!(f, "{separator}tau*") } else { Ok(()) }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.nodes.len() as u32 - 1, 0)
    }
}

/// Formulas under construction, without duplicates.
#[derive(Default)]
pub(crate) struct Builder {
    nodes: indexmap::IndexSet<Node, rustc_hash::FxBuildHasher>,
}

impl Builder {
    pub(crate) fn add(&mut self, node: Node) -> u32 {
        self.nodes.insert_full(node).0 as u32
    }

    pub(crate) fn truth(&mut self) -> u32 {
        self.add(Node::True)
    }

    pub(crate) fn not(&mut self, part: u32) -> u32 {
        match self.negated(part) {
            Some(inner) => inner,
            None => self.add(Node::Not(part)),
        }
    }

    pub(crate) fn and(&mut self, mut parts: Vec<u32>) -> u32 {
        parts.sort_unstable();
        parts.dedup();
        match parts.as_slice() {
            [] => self.truth(),
            &[one] => one,
            _ => self.add(Node::And(parts)),
        }
    }

    /// One step with this label; with `weak`, up to `tau` steps.
    pub(crate) fn can(&mut self, label: &str, weak: bool, then: u32) -> u32 {
        self.add(Node::Can { labels: vec![label.to_owned()], weak, then })
    }

    /// The operand of a negation; `None` for any other part.
    pub(crate) fn negated(&self, part: u32) -> Option<u32> {
        match self.nodes[part as usize] {
            Node::Not(inner) => Some(inner),
            _ => None,
        }
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn finish(self, root: u32) -> Option<Formula> {
        let nodes: Vec<Node> = self.nodes.into_iter().collect();
        Formula::from_parts(&nodes, root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(build: impl Fn(&mut Builder) -> u32) -> String {
        let mut builder = Builder::default();
        let root = build(&mut builder);
        builder.finish(root).expect("small").to_string()
    }

    #[test]
    fn formulas_are_requirements() {
        let path = |labels: &[&str], weak| {
            print(|all| {
                let then = all.truth();
                all.add(Node::Can { labels: labels.iter().map(|&l| l.to_owned()).collect(), weak, then })
            })
        };
        assert_eq!(path(&["a", "b(1)|c"], false), "<a.b(1)|c>true");
        assert_eq!(path(&["a", "b"], true), "<tau*.a.tau*.b.tau*>true");
        assert_eq!(path(&["tau"], true), "<tau*>true");
        let refusal = print(|all| {
            let then = all.truth();
            let refused = ["b", "c"].map(|label| all.can(label, false, then)).map(|can| all.not(can));
            let both = all.and(refused.to_vec());
            let twice = all.can("a", false, both);
            let no = all.not(twice);
            all.not(no)
        });
        assert_eq!(refusal, "<a>([b]false && [c]false)");
        let until = |stay: bool, label: Option<&str>| {
            print(|all| {
                let then = all.truth();
                let stay = if stay { all.can("s", false, then) } else { then };
                let inner = all.add(Node::Diverges { stay: then });
                let last = all.add(Node::Until { stay, label: label.map(str::to_owned), then: inner });
                all.not(last)
            })
        };
        assert_eq!(until(false, Some("a")), "!<tau*.a>(nu X0. <tau>X0)");
        assert_eq!(until(false, None), "!<tau*>(nu X0. <tau>X0)");
        assert_eq!(until(true, Some("a")), "!(mu X0. <s>true && (<a>(nu X1. <tau>X1) || <tau>X0))");
        assert_eq!(until(true, None), "!(mu X0. (nu X1. <tau>X1) || (<s>true && <tau>X0))");
    }

    #[test]
    fn large_formulas_are_left_out() {
        let mut builder = Builder::default();
        let mut at = builder.truth();
        for nth in 0..60 {
            let (left, right) = (builder.can("a", false, at), builder.can(&nth.to_string(), false, at));
            at = builder.and(vec![left, right]);
        }
        assert_eq!(builder.finish(at), None);
    }
}
