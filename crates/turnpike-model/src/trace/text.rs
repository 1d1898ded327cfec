//! The text format: one label per line.

use std::io::Write;

use super::{Step, Trace, write_failed};
use crate::diagnostic::Diagnostic;

pub(super) fn write(trace: &Trace, mut out: impl Write) -> Result<(), Diagnostic> {
    for (index, step) in trace.steps.iter().enumerate() {
        if let Some(reason) = unreadable(&step.label) {
            return Err(Diagnostic::error(format!(
                "step {} cannot be written as text: its label {:?} {reason}",
                index + 1,
                step.label
            ))
            .help("write the trace as .json instead"));
        }
    }
    let mut lines = || {
        writeln!(out, "# turnpike trace, one label a line")?;
        for (name, value) in
            [("model", &trace.model), ("objective", &trace.objective), ("strategy", &trace.strategy)]
        {
            if !value.is_empty() {
                writeln!(out, "# {name}: {}", one_line(value))?;
            }
        }
        if let Some(seed) = trace.seed {
            writeln!(out, "# seed: {seed:#x}")?;
        }
        if let Some(index) = trace.loop_start {
            writeln!(out, "# loop: the last step returns to the state after step {index}")?;
        }
        for step in &trace.steps {
            out.write_all(step.label.as_bytes())?;
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    lines().map_err(write_failed)
}

/// The reason why a label cannot be read back.
fn unreadable(label: &str) -> Option<&'static str> {
    if label.trim().is_empty() {
        Some("is blank")
    } else if label.contains('\n') {
        Some("has several lines")
    } else if label.contains('\0') {
        Some("has a character that no text has")
    } else if label.trim() != label {
        Some("has blanks at its ends")
    } else if label.starts_with('#') {
        Some("starts like a comment")
    } else {
        None
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Any text is a trace. Blank lines and comments are skipped.
pub(super) fn read(text: &str) -> Result<Trace, Diagnostic> {
    let mut steps = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.contains('\0') {
            return Err(Diagnostic::error("the trace is a binary file")
                .on_line(index as u64 + 1)
                .help("binary .trc files must be converted to text first, one label a line"));
        }
        steps.push(Step::new(line));
    }
    Ok(Trace { steps, ..Trace::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(labels: &[&str]) -> Vec<Step> {
        labels.iter().map(|&label| Step::new(label)).collect()
    }

    #[test]
    fn reads_what_other_tools_print() {
        let trace = Trace::parse(b"# a comment\r\na(0)\r\n\r\n  b|c(1, 2) \n#another\nd").expect("reads");
        assert_eq!(trace.steps, steps(&["a(0)", "b|c(1, 2)", "d"]));
        assert_eq!(Trace::parse(b""), Ok(Trace::default()));
        assert_eq!(Trace::parse(b"describe\ndes(1)\n").expect("reads").steps, steps(&["describe", "des(1)"]));
        assert_eq!(Trace::parse(b"des(1)\n").expect("reads").steps, steps(&["des(1)"]));
        assert_eq!(Trace::parse(b"des\nb\n").expect("reads").steps, steps(&["des", "b"]));
    }

    #[test]
    fn says_where_a_trace_comes_from() {
        let trace = Trace {
            model: "two\nlines".to_owned(),
            seed: Some(10),
            loop_start: Some(0),
            steps: steps(&["a"]),
            ..Trace::default()
        };
        let mut out = Vec::new();
        trace.write_text(&mut out).expect("memory");
        let expected = "# turnpike trace, one label a line\n# model: two lines\n# seed: 0xa\n\
                        # loop: the last step returns to the state after step 0\na\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn refuses_labels_that_would_change() {
        for label in ["", " ", " a", "a\t", "a\nb", "# a", "\u{a0}a", "a\0b"] {
            let error = Trace { steps: steps(&["ok", label]), ..Trace::default() }.write_text(Vec::new());
            assert!(error.expect_err(label).message.contains("step 2"));
        }
    }

    #[test]
    fn binary_files_are_refused() {
        let error = Trace::parse(b"a\n\x00\x8b\xaf").expect_err("not text");
        assert_eq!(error.line, Some(2));
        let error = Trace::parse(b"a\nb\n\x00c").expect_err("not text");
        assert_eq!((error.line, error.message.contains("binary")), (Some(3), true));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(labels in prop::collection::vec(r#"[!-~]([ -~é]{0,9}[!-~])?"#, 0..20)) {
            let trace = Trace { steps: labels.iter().map(Step::new).collect(), ..Trace::default() };
            let mut out = Vec::new();
            match trace.write_text(&mut out) {
                Ok(()) => prop_assert_eq!(Trace::parse(&out).expect("reads"), trace),
                Err(_) => prop_assert!(labels.iter().any(|label| label.starts_with('#'))),
            }
        }
    }
}
