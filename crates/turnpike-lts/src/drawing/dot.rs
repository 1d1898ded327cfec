use std::fmt::Write;

use turnpike_model::Diagnostic;

use super::Drawing;
use crate::system::Lts;

/// A small system in the language of GraphViz: an arrow marks the initial state, a double circle a
/// deadlock. Systems with more than [`MAX_DRAWN_STATES`](super::MAX_DRAWN_STATES) states or
/// [`MAX_DRAWN_TRANSITIONS`](super::MAX_DRAWN_TRANSITIONS) transitions are refused.
pub fn dot(lts: &Lts) -> Result<String, Diagnostic> {
    let drawing = Drawing::new(lts)?;
    let mut out = String::from("digraph lts {\n");
    out.push_str("  node [shape=circle, fontname=\"sans-serif\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    out.push_str("  start [shape=point, style=invis];\n");
    let _ = writeln!(out, "  start -> s{};", drawing.initial);
    for state in 0..drawing.deadlock.len() {
        let shape = if drawing.deadlock[state] { ", shape=doublecircle" } else { "" };
        let style = if drawing.reachable[state] { "" } else { ", style=dashed" };
        let title = drawing.title(state);
        let _ = writeln!(out, "  s{state} [label=\"{state}\", tooltip=\"{title}\"{shape}{style}];");
    }
    for ((from, to), labels) in &drawing.edges {
        for label in labels {
            let _ = writeln!(out, "  s{from} -> s{to} [label=\"{}\"];", escaped(label));
        }
    }
    out.push_str("}\n");
    Ok(out)
}

/// Escapes text for a quoted string, in which quotes, backslashes and HTML entities have a meaning.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aut::{AutDialect, read_lts};

    #[test]
    fn draws_states_and_labels() {
        let text = "des (1,2,3)\n(1,\"say \"a\\b\"\t&lt;\",0)\n(1,\"x\",1)\n";
        let lts = read_lts(text.as_bytes(), AutDialect::Mcrl2).expect("reads");
        let expected = r#"digraph lts {
  node [shape=circle, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
  start [shape=point, style=invis];
  start -> s1;
  s0 [label="0", tooltip="state 0, no outgoing transitions", shape=doublecircle];
  s1 [label="1", tooltip="state 1, initial"];
  s2 [label="2", tooltip="state 2, no outgoing transitions, not reachable", shape=doublecircle, style=dashed];
  s1 -> s0 [label="say \"a\\b\" &amp;lt;"];
  s1 -> s1 [label="x"];
}
"#;
        assert_eq!(dot(&lts), Ok(expected.to_owned()));
    }

    #[test]
    fn refuses_large_systems() {
        assert!(dot(&Lts { states: 10_000, ..Lts::default() }).is_err());
    }
}
