use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

use turnpike_model::hash;
use turnpike_model::label::TAU;
use turnpike_model::{Diagnostic, IdTable, LabelId};

use super::syntax::{RawLabel, not_utf8, parse_header, parse_transition};
use super::{AutDialect, AutHeader, CADP_INTERNAL};
use crate::gzip;
use crate::system::{Lts, Transition, out_of_range};

/// End of transmission, which ends the input as in the mCRL2 tools.
const EOT: u8 = 4;
/// Longer lines are refused, so that a file without line ends cannot exhaust the memory.
const MAX_LINE: u64 = 1 << 24;
/// Far more distinct labels than fit into memory. Keeps the ids within an [`IdTable`].
const MAX_LABELS: usize = 1 << 30;

/// Reads an `.aut` file one transition at a time: memory holds one line and the distinct labels,
/// however long the file is.
///
/// [`new`](Self::new) reads the header, [`next_transition`](Self::next_transition) or iteration the
/// transitions. At the end of the input the number of transitions is compared with the header. A
/// reader has ended after an error.
///
/// ```
/// use turnpike_lts::{AutDialect, AutReader};
///
/// let text = "des (0,2,2)\n(0,\"a\",1)\n(1,i,0)\n";
/// let mut reader = AutReader::new(text.as_bytes(), AutDialect::Cadp)?;
/// assert_eq!(reader.header().states, 2);
/// while let Some(transition) = reader.next_transition()? {
///     assert!(transition.from < 2);
/// }
/// assert_eq!(reader.labels(), ["a", "tau"]);
/// # Ok::<(), turnpike_model::Diagnostic>(())
/// ```
///
/// # Format
/// Blanks may surround every token, lines may end with CR LF, blank lines are skipped and the last
/// line may lack its end. A quoted label is taken literally; a label without quotes loses its
/// blanks. Each transition has its own line.
#[derive(Debug)]
pub struct AutReader<R> {
    input: R,
    dialect: AutDialect,
    header: AutHeader,
    labels: Labels,
    line: Vec<u8>,
    line_number: u64,
    transitions: u64,
    /// Whether the input has no further lines.
    exhausted: bool,
    /// Whether the end or an error has been returned.
    ended: bool,
    /// Buffer for a label without its blanks.
    compact: Vec<u8>,
}

impl<R: BufRead> AutReader<R> {
    /// Reads the header. The input is plain text; for input that may be compressed see
    /// [`read_lts`].
    pub fn new(input: R, dialect: AutDialect) -> Result<Self, Diagnostic> {
        let mut reader = AutReader {
            input,
            dialect,
            header: AutHeader { initial: 0, transitions: 0, states: 0 },
            labels: Labels::default(),
            line: Vec::new(),
            line_number: 0,
            transitions: 0,
            exhausted: false,
            ended: false,
            compact: Vec::new(),
        };
        loop {
            if !reader.read_line()? {
                return Err(Diagnostic::error("the file is empty")
                    .help("an .aut file starts with the line `des (initial,transitions,states)`"));
            }
            // Skip a byte order mark.
            let line = reader.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&reader.line);
            if !line.trim_ascii().is_empty() {
                reader.header = parse_header(line).map_err(|error| error.on_line(reader.line_number))?;
                return Ok(reader);
            }
        }
    }

    /// The contents of the first line.
    pub fn header(&self) -> AutHeader {
        self.header
    }

    /// The distinct labels met so far; [`Transition::label`] is an index into them.
    pub fn labels(&self) -> &[String] {
        &self.labels.texts
    }

    /// Ends reading and returns the labels.
    pub fn into_labels(self) -> Vec<String> {
        self.labels.texts
    }

    /// The number of the last line read, counted from 1.
    pub fn line_number(&self) -> u64 {
        self.line_number
    }

    /// The next transition; `None` at the end, if the number of transitions is that of the header.
    #[inline]
    pub fn next_transition(&mut self) -> Result<Option<Transition>, Diagnostic> {
        if self.ended {
            return Ok(None);
        }
        let result = self.read_transition();
        self.ended = !matches!(result, Ok(Some(_)));
        result
    }

    fn read_transition(&mut self) -> Result<Option<Transition>, Diagnostic> {
        loop {
            if !self.read_line()? {
                if self.transitions < self.header.transitions {
                    return Err(self.too_few());
                }
                return Ok(None);
            }
            let line = self.line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let on_line = |error: Diagnostic| error.on_line(self.line_number);
            let raw = parse_transition(line).map_err(on_line)?;
            let label = match raw.label {
                RawLabel::Quoted(text) => text,
                RawLabel::Bare(text) if text.iter().any(u8::is_ascii_whitespace) => {
                    self.compact.clear();
                    self.compact.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()));
                    &self.compact
                }
                RawLabel::Bare(text) => text,
            };
            let label = match self.dialect {
                AutDialect::Cadp if label == CADP_INTERNAL.as_bytes() => TAU.as_bytes(),
                _ => label,
            };
            let states = self.header.states;
            if raw.from >= states {
                return Err(on_line(out_of_range("the source state", raw.from, states)));
            }
            if raw.to >= states {
                return Err(on_line(out_of_range("the target state", raw.to, states)));
            }
            if self.transitions == self.header.transitions {
                return Err(on_line(too_many(self.header.transitions)));
            }
            self.transitions += 1;
            let label = self.labels.intern(label).map_err(on_line)?;
            return Ok(Some(Transition { from: raw.from, label, to: raw.to }));
        }
    }

    /// Fills `self.line`; false at the end of the input.
    #[inline]
    fn read_line(&mut self) -> Result<bool, Diagnostic> {
        self.line.clear();
        if self.exhausted {
            return Ok(false);
        }
        let read = self
            .input
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| gzip::read_failed(&error).on_line(self.line_number + 1))?;
        if read == 0 {
            self.exhausted = true;
            return Ok(false);
        }
        self.line_number += 1;
        if read as u64 == MAX_LINE && self.line.last() != Some(&b'\n') {
            return Err(Diagnostic::error("the line is longer than 16 MiB")
                .help("an .aut file has one transition on each line")
                .on_line(self.line_number));
        }
        if self.line.contains(&EOT) {
            let end = self.line.iter().position(|&byte| byte == EOT).unwrap_or(self.line.len());
            self.line.truncate(end);
            self.exhausted = true;
        }
        Ok(true)
    }

    #[cold]
    fn too_few(&self) -> Diagnostic {
        Diagnostic::error(format!(
            "the header promises {}, but the file ends after {}",
            count(self.header.transitions),
            self.transitions
        ))
        .on_line(self.line_number)
        .help("the file was cut short, or its header is wrong")
    }
}

impl<R: BufRead> Iterator for AutReader<R> {
    type Item = Result<Transition, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_transition().transpose()
    }
}

#[cold]
fn too_many(promised: u64) -> Diagnostic {
    Diagnostic::error(format!("the header promises {}, but there are more", count(promised)))
        .help("the second number of the header must be the number of transition lines")
}

fn count(transitions: u64) -> String {
    if transitions == 1 { "1 transition".to_owned() } else { format!("{transitions} transitions") }
}

/// Distinct labels, found by their bytes.
#[derive(Debug, Default)]
struct Labels {
    texts: Vec<String>,
    index: IdTable,
}

impl Labels {
    #[inline]
    fn intern(&mut self, text: &[u8]) -> Result<LabelId, Diagnostic> {
        let hash = hash::bytes(text);
        match self.index.find(hash, |id| self.texts[id as usize].as_bytes() == text) {
            Some(id) => Ok(LabelId(id)),
            None => self.add(hash, text),
        }
    }

    #[cold]
    fn add(&mut self, hash: u64, text: &[u8]) -> Result<LabelId, Diagnostic> {
        let text = std::str::from_utf8(text).map_err(|_| not_utf8())?;
        if self.texts.len() >= MAX_LABELS {
            return Err(Diagnostic::error("there are more than 2^30 distinct labels"));
        }
        let texts = &self.texts;
        let (id, _) =
            self.index.find_or_insert(hash, |_| false, |id| hash::bytes(texts[id as usize].as_bytes()));
        self.texts.push(text.to_owned());
        Ok(LabelId(id))
    }
}

/// Reads a whole system, compressed or not: gzip is recognised by its first byte, so this works for
/// pipes, too.
pub fn read_lts(input: impl Read, dialect: AutDialect) -> Result<Lts, Diagnostic> {
    let input = gzip::decompressed(input).map_err(|error| gzip::read_failed(&error))?;
    let mut reader = AutReader::new(input, dialect)?;
    let AutHeader { initial, transitions: promised, states } = reader.header();
    // The header may claim anything: it is only used to avoid some reallocations.
    let mut transitions = Vec::with_capacity(promised.min(1 << 16) as usize);
    while let Some(transition) = reader.next_transition()? {
        transitions.push(transition);
    }
    transitions.shrink_to_fit();
    Ok(Lts { initial, states, labels: reader.into_labels(), transitions })
}

/// Reads a whole system from a file, compressed or not.
pub fn read_lts_file(path: impl AsRef<Path>, dialect: AutDialect) -> Result<Lts, Diagnostic> {
    let path = path.as_ref();
    let file = File::open(path)
        .map_err(|error| Diagnostic::error(format!("cannot open `{}`: {error}", path.display())))?;
    read_lts(file, dialect)
}

#[cfg(test)]
mod tests {
    use super::super::write_lts;
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::io::{BufReader, Write};

    fn read(text: &str) -> Result<Lts, Diagnostic> {
        read_lts(text.as_bytes(), AutDialect::Mcrl2)
    }

    fn refused(text: &str, line: u64, message: &str) {
        let error = read(text).expect_err(text);
        assert!(error.message.contains(message), "{text:?}: {error}");
        assert_eq!(error.line, Some(line), "{text:?}: {error}");
    }

    fn zip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    const PLAIN: &str = "des (0,2,3)\n(0,\"a\",1)\n(1,\"b c\",2)\n";

    #[test]
    fn accepts_every_spelling() {
        let expected = read(PLAIN).expect("reads");
        assert_eq!(expected.labels, ["a", "b c"]);
        for text in [
            "des (0,2,3)                                        \n(0,\"a\",1)\n(1,\"b c\",2)\n",
            "des (0,2,3)\r\n(0,\"a\",1)\r\n(1,\"b c\",2)\r\n",
            "des (0,2,3)\n(0,\"a\",1)\n(1,\"b c\",2)",
            "\u{feff}des(0,2,3)\n\n ( 0 ,\t\"a\" , 1 ) \n\n(1, \"b c\" ,2)\n\n",
            "des (0,2,3)\n(0,a,1)\n(1,\"b c\",2)\n\u{4}anything at all",
            "des (0,2,3)\n(0,a,1)\n(1,\"b c\",2)\u{4}",
            "\n\ndes (0,2,3)\n(0, a\t,1)\n(1,\"b c\",2)",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text:?}");
        }
        assert_eq!(read("des (0,1,1)\n(0,a b c,0)").expect("reads").labels, ["abc"]);
        assert_eq!(read("des (0,0,1)").expect("reads").transitions, []);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(read("").expect_err("empty").message.contains("empty"));
        assert!(read("\n \n").expect_err("blank").message.contains("empty"));
        refused("hello\n", 1, "starts with a header");
        refused("\ndes        \n(0,\"a\",1)\n", 2, "interrupted");
        refused("des (0,1,0)\n", 1, "at least one state");
        refused("des (0,1,99999999999)\n", 1, "does not fit in 32 bits");
        refused("des (0,1,2)\n\n(0,\"a\",2)\n", 3, "target state is 2, but the states are 0 to 1");
        refused("des (0,1,2)\n(5,\"a\",1)\n", 2, "source state is 5");
        refused("des (0,1,2)\n(0,\"a,1)\n", 2, "not closed");
        refused("des (0,1,2)\n(0,a\",1)\n", 2, "quote");
        refused(
            "des (0,3,2)\n(0,\"a\",1)\n(0,\"b\",1)\n",
            3,
            "promises 3 transitions, but the file ends after 2",
        );
        refused("des (0,1,2)\n(0,\"a\",1)\n(0,\"b\",1)\n", 3, "promises 1 transition, but there are more");
        refused("des (0,1,2)\n(0,\"a\",4294967296)\n", 2, "does not fit in 32 bits");
        refused("des (0,1,3)\n(0,\"a\",1 1/3 2)\n", 2, "probabilistic");
        refused("des (0,2,3)\n(0,\"a\",1)\n(0,\"b\u{4}\",2)\n", 3, "does not end with `)`");
    }

    #[test]
    fn refuses_bytes_that_are_no_text() {
        for bytes in
            [&b"des (0,1,2)\n(0,\"\xff\",1)\n"[..], b"des (0,1,2)\n(0,\xc3(,1)\n", b"des (0,1,2)\n\x80\n"]
        {
            let error = read_lts(bytes, AutDialect::Mcrl2).expect_err("not text");
            assert!(error.message.contains("UTF-8"), "{error}");
            assert_eq!(error.line, Some(2));
        }
    }

    #[test]
    fn promises_cost_nothing() {
        refused("des (0,18446744073709551615,4294967295)\n", 1, "promises 18446744073709551615");
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let endless = b"des (0,1,1)\n(0,\"".iter().copied().chain(std::iter::repeat_n(b'a', 1 << 25));
        let bytes: Vec<u8> = endless.collect();
        let error = read_lts(&bytes[..], AutDialect::Mcrl2).expect_err("too long");
        assert!(error.message.contains("16 MiB"), "{error}");
    }

    #[test]
    fn recognises_gzip_by_content() {
        let expected = read(PLAIN);
        let whole = zip(PLAIN.as_bytes());
        assert_eq!(read_lts(&whole[..], AutDialect::Mcrl2), expected);
        let mut members = zip(&PLAIN.as_bytes()[..12]);
        members.extend(zip(&PLAIN.as_bytes()[12..]));
        assert_eq!(read_lts(&members[..], AutDialect::Mcrl2), expected);
    }

    #[test]
    fn truncated_and_damaged_gzip_is_refused() {
        let whole = zip(PLAIN.as_bytes());
        for length in 1..whole.len() {
            let error = read_lts(&whole[..length], AutDialect::Mcrl2).expect_err("cut short");
            assert!(error.message.contains("ends too early"), "{length}: {error}");
        }
        let mut damaged = whole.clone();
        let checksum = damaged.len() - 6;
        damaged[checksum] ^= 1;
        let error = read_lts(&damaged[..], AutDialect::Mcrl2).expect_err("damaged");
        assert!(error.message.contains("damaged"), "{error}");
        assert!(
            read_lts(&b"\x1f is no text"[..], AutDialect::Mcrl2)
                .expect_err("damaged")
                .message
                .contains("damaged")
        );
    }

    #[test]
    fn dialects_agree_in_memory() {
        let text = "des (0,3,1)\n(0,i,0)\n(0,\"i\",0)\n(0,\"tau\",0)\n";
        assert_eq!(read_lts(text.as_bytes(), AutDialect::Cadp).expect("reads").labels, ["tau"]);
        assert_eq!(read(text).expect("reads").labels, ["i", "tau"]);
    }

    #[test]
    fn a_reader_ends_after_an_error() {
        let text = "des (0,2,1)\nnonsense\n(0,\"a\",0)\n(0,\"b\",0)\n";
        let mut reader = AutReader::new(text.as_bytes(), AutDialect::Mcrl2).expect("header");
        assert!(reader.next().expect("an item").is_err());
        assert!(reader.next().is_none());
        assert_eq!(reader.next_transition(), Ok(None));
        assert_eq!(reader.line_number(), 2);
    }

    #[test]
    fn missing_files_are_named() {
        let error = read_lts_file("no/such/file.aut", AutDialect::Mcrl2).expect_err("missing");
        assert!(error.message.contains("no/such/file.aut"), "{error}");
    }

    /// Labels with characters that are special in the format: quotes, commas, parentheses, blanks,
    /// digits, other alphabets.
    fn label() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{1,3}", r#"[ "',()0-9a|\\\t]{0,8}"#, "[^\n\u{4}]{0,6}"]
    }

    fn systems() -> impl Strategy<Value = Lts> {
        let edges = prop::collection::vec((0u32..50, 0usize..6, 0u32..50), 0..60);
        (1u32..50, prop::collection::vec(label(), 6), edges).prop_map(|(states, texts, edges)| {
            let mut lts = Lts { initial: states / 2, states, ..Lts::default() };
            for (from, text, to) in edges {
                let label = match lts.labels.iter().position(|known| *known == texts[text]) {
                    Some(label) => label,
                    None => {
                        lts.labels.push(texts[text].clone());
                        lts.labels.len() - 1
                    }
                };
                let label = LabelId(label as u32);
                lts.transitions.push(Transition { from: from % states, label, to: to % states });
            }
            lts
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(lts in systems(), small in 1usize..40) {
            let mut text = Vec::new();
            write_lts(&lts, &mut text, AutDialect::Mcrl2).expect("writable labels");
            prop_assert_eq!(&read_lts(&text[..], AutDialect::Mcrl2).expect("reads"), &lts);
            // The same with a small buffer, whose boundaries must not split lines.
            let reader = AutReader::new(BufReader::with_capacity(small, &text[..]), AutDialect::Mcrl2).expect("header");
            let transitions: Result<Vec<_>, _> = reader.collect();
            prop_assert_eq!(transitions.expect("reads"), lts.transitions);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_lts(&bytes[..], AutDialect::Mcrl2);
        }

        #[test]
        fn any_line_is_read_or_refused(lines in prop::collection::vec(r#"[(), "a0-9/i\t\r]{0,20}"#, 0..6)) {
            let text = format!("des (0,{},9)\n{}", lines.len(), lines.join("\n"));
            let _ = read(&text);
        }
    }
}
