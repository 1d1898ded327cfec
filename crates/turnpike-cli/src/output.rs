//! Where everything is printed: results to standard output, diagnostics and progress to standard error.

pub(crate) mod ci;
pub(crate) mod interrupt;
pub(crate) mod progress;
pub(crate) mod repeat;
pub(crate) mod schema;

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use turnpike_model::{Diagnostic, Severity};
pub(crate) use turnpike_session::values::write_bytes as bytes;

use crate::options::spell_all;

/// The version in every report.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Standard output was closed, or cannot be written.
static CLOSED: AtomicBool = AtomicBool::new(false);
/// Output is lost that a reader may wait for.
static LOST: AtomicBool = AtomicBool::new(false);

/// Another process prints the results.
static MUTE: AtomicBool = AtomicBool::new(false);

/// From now on only errors are printed.
pub(crate) fn mute() {
    MUTE.store(true, Ordering::Relaxed);
}

/// Whether only errors are printed.
pub(crate) fn is_mute() -> bool {
    MUTE.load(Ordering::Relaxed)
}

/// Prints again, because what comes is an error. Whether only errors were printed.
pub(crate) fn unmute() -> bool {
    MUTE.swap(false, Ordering::Relaxed)
}

/// Writes a line to standard output. When the reader went away, as `| head` does, the rest is
/// dropped quietly and the exit code still gives the verdict; any other failure is reported once.
pub(crate) fn line(text: &str) {
    if closed() || is_mute() {
        return;
    }
    let mut out = std::io::stdout().lock();
    let text = escape_controls(text);
    let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) else { return };
    CLOSED.store(true, Ordering::Relaxed);
    if error.kind() != ErrorKind::BrokenPipe {
        LOST.store(true, Ordering::Relaxed);
        note(&format!("error: cannot write the output: {error}"));
    }
}

/// What programs print and what models are called must not reach a terminal as commands: control characters but
/// line breaks and tabs are written as `\x1b`, and what reverses the direction of text as `\u{202e}`.
pub(crate) fn escape_controls(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| match u32::from(c) {
        _ if !is_harmful(c) => c.to_string(),
        code @ ..=0xff => format!("\\x{code:02x}"),
        code => format!("\\u{{{code:x}}}"),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Whether printing has become pointless.
pub(crate) fn closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Whether something could not be printed that should have been.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Standard output for data of any size. A reader that went away ends the program quietly here too.
pub(crate) struct Standard;

impl Write for Standard {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        match std::io::stdout().lock().write(data) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
            outcome => outcome,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match std::io::stdout().lock().flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
            outcome => outcome,
        }
    }
}

/// Writes a line to standard error.
pub(crate) fn note(text: &str) {
    if !is_mute() {
        error_note(text);
    }
}

/// The same for what concerns this process, even if another one prints the results.
pub(crate) fn error_note(text: &str) {
    // Nowhere left to complain to.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes the one JSON object of a command.
pub(crate) fn json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(&text),
        Err(error) => note(&format!("error: cannot write JSON: {error}")),
    }
}

/// Characters of a line, where neither a terminal nor the environment says otherwise.
const WIDTH: usize = 110;
/// With fewer characters, columns are no longer readable, and lines break instead.
const NARROWEST: usize = 40;
/// Longer lines are hard to read, however wide a terminal is.
const WIDEST: usize = 160;

/// How many characters fit into a line of the results: what `COLUMNS` says, or the width of the
/// terminal.
pub(crate) fn width() -> usize {
    stated_width().unwrap_or(WIDTH)
}

fn stated_width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into());
    let columns = given.filter(|&columns: &usize| columns > 0).or_else(terminal)?;
    Some(columns.clamp(NARROWEST, WIDEST))
}

/// Writes a line of a summary, such as `counted: …`. If it is longer than the terminal is wide, it is
/// broken between words. Steps have columns of their own, and commands must stay whole to be pasted.
pub(crate) fn summary(text: &str) {
    let is_summary = text.split_once(": ").is_some_and(|(head, _)| {
        head != "repeat" && head.chars().all(|c| c.is_ascii_lowercase() || c == ' ') && !head.starts_with(' ')
    });
    match stated_width() {
        Some(width) if is_summary => break_words(text, width).iter().for_each(|text| line(text)),
        _ => line(text),
    }
}

/// Breaks a text between words into lines of at most this many characters, indented after the first.
/// A longer word stays whole.
fn break_words(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(format!("  {word}"));
        } else {
            let gap = if length == 0 { "" } else { " " };
            lines[last].push_str(&format!("{gap}{word}"));
        }
    }
    lines
}

/// Draws a diagnostic with its source, where there is one.
pub(crate) fn diagnostic(origin: &str, source: Option<&str>, diagnostic: &Diagnostic) {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = String::new();
    if let (false, Some(line)) = (origin.is_empty(), diagnostic.line) {
        title.push_str(&format!("{origin}:{line}: "));
    } else if !origin.is_empty() && source.is_none() && !diagnostic.message.contains(origin) {
        title.push_str(&format!("{origin}: "));
    } else if let Some(line) = diagnostic.line {
        title.push_str(&format!("line {line}: "));
    }
    title.push_str(&spell_all(&diagnostic.message));
    let mut group = Group::with_title(level.primary_title(title));
    if let (Some(source), Some(span)) = (source, &diagnostic.span) {
        let end = span.range.end.min(source.len());
        let start = span.range.start.min(end);
        let annotation = AnnotationKind::Primary.span(start..end).label(span.note.as_str());
        let snippet =
            Snippet::source(source).path((!origin.is_empty()).then_some(origin)).annotation(annotation);
        group = group.element(snippet);
    }
    let colour =
        std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none();
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    note(&renderer.render(&[group]));
    if let Some(help) = &diagnostic.help {
        note(&renderer.render(&[Group::with_title(Level::HELP.secondary_title(spell_all(help)))]));
    }
}

/// A number with thousands separated: 12,481,003.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A line about warnings of a model's text that are not shown here, if there are any.
pub(crate) fn remark(model: &str, warnings: usize) -> Option<String> {
    let what = match warnings {
        0 => return None,
        1 => "1 warning".to_owned(),
        many => format!("{many} warnings"),
    };
    Some(format!("note: {what} in {model}; run `turnpike check {model}`"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_for_people() {
        assert_eq!(super::grouped(0), "0");
        assert_eq!(super::grouped(999), "999");
        assert_eq!(super::grouped(12_481_003), "12,481,003");
        assert_eq!(super::bytes(4 << 30), "4.0 GiB");
        assert_eq!(super::bytes(12), "12 B");
        assert_eq!(super::remark("a.xta", 0), None);
    }
}
