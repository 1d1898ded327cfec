use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use turnpike_model::Diagnostic;
use turnpike_model::label::TAU;

use super::{AutDialect, AutHeader, CADP_INTERNAL};
use crate::system::{Lts, no_states, out_of_range};

/// The length of a header whose numbers are filled in at the end. The mCRL2 tools reserve the same
/// space; the longest header needs 48 characters.
const RESERVED: usize = 51;
const BUFFER: usize = 1 << 16;
/// Transition lines are so repetitive that the fast level takes an eighth more space and a quarter
/// of the time.
fn level() -> Compression {
    Compression::fast()
}

/// Writes an `.aut` file whose counts are known before the first transition, to any output.
///
/// ```
/// use turnpike_lts::{AutDialect, AutHeader, AutWriter};
///
/// let header = AutHeader { initial: 0, transitions: 1, states: 2 };
/// let mut writer = AutWriter::new(Vec::new(), header, AutDialect::Mcrl2)?;
/// writer.transition(0, "a(1)", 1)?;
/// assert_eq!(writer.finish()?, b"des (0,1,2)\n(0,\"a(1)\",1)\n");
/// # Ok::<(), turnpike_model::Diagnostic>(())
/// ```
///
/// The output should be buffered. If the counts are not known in advance, use [`AutFileWriter`].
#[derive(Debug)]
#[must_use = "the file is complete only after `finish`"]
pub struct AutWriter<W: Write> {
    lines: Lines<W>,
    header: AutHeader,
}

impl<W: Write> AutWriter<W> {
    /// Writes the header.
    pub fn new(mut out: W, header: AutHeader, dialect: AutDialect) -> Result<Self, Diagnostic> {
        check_header(header)?;
        writeln!(out, "{}", header_text(header)).map_err(write_failed)?;
        Ok(AutWriter { lines: Lines::new(out, dialect), header })
    }

    /// Writes one transition.
    #[inline]
    pub fn transition(&mut self, from: u32, label: &str, to: u32) -> Result<(), Diagnostic> {
        self.lines.write(from, label, to)
    }

    /// Checks that the header was correct, and returns the flushed output.
    pub fn finish(mut self) -> Result<W, Diagnostic> {
        self.lines.check(self.header)?;
        if self.lines.written != self.header.transitions {
            return Err(Diagnostic::error(format!(
                "the header promises {} transitions, but {} were written",
                self.header.transitions, self.lines.written
            )));
        }
        self.lines.out.flush().map_err(write_failed)?;
        Ok(self.lines.out)
    }
}

/// Writes an `.aut` file whose counts are known only at the end: space for the header is reserved
/// and filled in by [`finish`](Self::finish). An unfinished file starts with `des` and blanks,
/// which readers report.
///
/// The header of compressed files is also filled in: it is a gzip member of its own, stored without
/// compression, so its size does not depend on the numbers. `gzip` and every reader that accepts
/// concatenated members read one text.
///
/// ```
/// use std::io::Cursor;
/// use turnpike_lts::{AutDialect, AutFileWriter};
///
/// let mut writer = AutFileWriter::new(Cursor::new(Vec::new()), false, AutDialect::Mcrl2)?;
/// writer.transition(0, "a", 1)?;
/// let (header, out) = writer.finish(0, 2)?;
/// assert_eq!(header.transitions, 1);
/// let text = String::from_utf8(out.into_inner()).unwrap();
/// assert_eq!(text.lines().next().unwrap().trim_end(), "des (0,1,2)");
/// # Ok::<(), turnpike_model::Diagnostic>(())
/// ```
#[derive(Debug)]
#[must_use = "the header is written only by `finish`"]
pub struct AutFileWriter<W: Write + Seek = File> {
    lines: Lines<Sink<W>>,
    /// The position of the header, and the number of bytes it takes in the output.
    start: u64,
    reserved: usize,
    gzip: bool,
}

/// The body of the file.
#[derive(Debug)]
enum Sink<W: Write> {
    Plain(BufWriter<W>),
    Gzip(GzEncoder<BufWriter<W>>),
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(out) => out.write(bytes),
            Sink::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(out) => out.flush(),
            Sink::Gzip(out) => out.flush(),
        }
    }
}

impl AutFileWriter<File> {
    /// Creates a file, compressed if its name ends in `.gz`. An existing file is replaced.
    pub fn create(path: impl AsRef<Path>, dialect: AutDialect) -> Result<Self, Diagnostic> {
        let path = path.as_ref();
        Self::new(create(path)?, is_gzip_name(path), dialect)
    }
}

impl<W: Write + Seek> AutFileWriter<W> {
    /// Reserves the header at the current position of `out`, which must be able to seek and is
    /// buffered here.
    pub fn new(mut out: W, gzip: bool, dialect: AutDialect) -> Result<Self, Diagnostic> {
        let start = out.stream_position().map_err(|error| {
            Diagnostic::error(format!("cannot go back to fill in the header: {error}"))
                .help("write to an ordinary file, not to a pipe or a terminal")
        })?;
        let header = reserved_bytes("des", gzip).map_err(write_failed)?;
        let mut out = BufWriter::with_capacity(BUFFER, out);
        out.write_all(&header).map_err(write_failed)?;
        let sink = if gzip { Sink::Gzip(GzEncoder::new(out, level())) } else { Sink::Plain(out) };
        Ok(AutFileWriter { lines: Lines::new(sink, dialect), start, reserved: header.len(), gzip })
    }

    /// Writes one transition.
    #[inline]
    pub fn transition(&mut self, from: u32, label: &str, to: u32) -> Result<(), Diagnostic> {
        self.lines.write(from, label, to)
    }

    /// The number of transitions written so far.
    pub fn transitions(&self) -> u64 {
        self.lines.written
    }

    /// Fills in the header, flushes, and returns the header and the output.
    pub fn finish(self, initial: u32, states: u32) -> Result<(AutHeader, W), Diagnostic> {
        let header = AutHeader { initial, transitions: self.lines.written, states };
        check_header(header)?;
        self.lines.check(header)?;
        let out = match self.lines.out {
            Sink::Plain(out) => out,
            Sink::Gzip(out) => out.finish().map_err(write_failed)?,
        };
        let mut out = out.into_inner().map_err(|error| write_failed(error.into_error()))?;
        let bytes = reserved_bytes(&header_text(header), self.gzip).map_err(write_failed)?;
        debug_assert_eq!(bytes.len(), self.reserved, "stored data has a fixed size");
        let mut patch = || {
            out.seek(SeekFrom::Start(self.start))?;
            out.write_all(&bytes)?;
            out.seek(SeekFrom::End(0))?;
            out.flush()
        };
        patch().map_err(write_failed)?;
        Ok((header, out))
    }
}

/// Writes a whole system.
pub fn write_lts(lts: &Lts, out: impl Write, dialect: AutDialect) -> Result<(), Diagnostic> {
    lts.check()?;
    let mut writer = AutWriter::new(BufWriter::with_capacity(BUFFER, out), lts.header(), dialect)?;
    for transition in &lts.transitions {
        writer.transition(transition.from, lts.label(transition.label), transition.to)?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes a whole system to a file, compressed if its name ends in `.gz`. An existing file is
/// replaced.
pub fn write_lts_file(lts: &Lts, path: impl AsRef<Path>, dialect: AutDialect) -> Result<(), Diagnostic> {
    let path = path.as_ref();
    let file = create(path)?;
    if is_gzip_name(path) {
        let mut encoder = GzEncoder::new(BufWriter::with_capacity(BUFFER, file), level());
        write_lts(lts, &mut encoder, dialect)?;
        encoder.finish().and_then(|mut out| out.flush()).map_err(write_failed)
    } else {
        write_lts(lts, file, dialect)
    }
}

/// Writes transition lines.
#[derive(Debug)]
struct Lines<W> {
    out: W,
    dialect: AutDialect,
    written: u64,
    largest: u32,
    line: Vec<u8>,
}

impl<W: Write> Lines<W> {
    fn new(out: W, dialect: AutDialect) -> Self {
        Lines { out, dialect, written: 0, largest: 0, line: Vec::new() }
    }

    #[inline]
    fn write(&mut self, from: u32, label: &str, to: u32) -> Result<(), Diagnostic> {
        if label.bytes().any(|byte| matches!(byte, b'\n' | 4)) {
            return Err(Diagnostic::error(format!("the label {label:?} cannot be written to an .aut file"))
                .help("a label must not contain a line end or an end-of-transmission character"));
        }
        let label = match self.dialect {
            AutDialect::Cadp if label == TAU => CADP_INTERNAL,
            AutDialect::Cadp if label == CADP_INTERNAL => return Err(visible_i()),
            _ => label,
        };
        self.largest = self.largest.max(from).max(to);
        let line = &mut self.line;
        line.clear();
        line.push(b'(');
        push_number(line, from);
        line.extend_from_slice(b",\"");
        line.extend_from_slice(label.as_bytes());
        line.extend_from_slice(b"\",");
        push_number(line, to);
        line.extend_from_slice(b")\n");
        self.out.write_all(line).map_err(write_failed)?;
        self.written += 1;
        Ok(())
    }

    fn check(&self, header: AutHeader) -> Result<(), Diagnostic> {
        if self.written > 0 && self.largest >= header.states {
            return Err(out_of_range("the largest state written", self.largest, header.states));
        }
        Ok(())
    }
}

/// Appends decimal digits, faster than with `format!`.
#[inline]
fn push_number(line: &mut Vec<u8>, mut value: u32) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

fn header_text(header: AutHeader) -> String {
    format!("des ({},{},{})", header.initial, header.transitions, header.states)
}

/// The header line, padded to its reserved space, as bytes of the output.
fn reserved_bytes(text: &str, gzip: bool) -> io::Result<Vec<u8>> {
    let line = format!("{text:<RESERVED$}\n");
    if !gzip {
        return Ok(line.into_bytes());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(line.as_bytes())?;
    encoder.finish()
}

fn check_header(header: AutHeader) -> Result<(), Diagnostic> {
    if header.states == 0 {
        return Err(no_states());
    }
    if header.initial >= header.states {
        return Err(out_of_range("the initial state", header.initial, header.states));
    }
    Ok(())
}

fn is_gzip_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

fn create(path: &Path) -> Result<File, Diagnostic> {
    File::create(path)
        .map_err(|error| Diagnostic::error(format!("cannot create `{}`: {error}", path.display())))
}

#[cold]
fn visible_i() -> Diagnostic {
    Diagnostic::error("the visible label `i` cannot be written for CADP, where `i` is the internal action")
        .help("rename the action, or write the file in the mCRL2 dialect")
}

#[cold]
fn write_failed(error: io::Error) -> Diagnostic {
    Diagnostic::error(format!("cannot write the output: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::{read_lts, read_lts_file};
    use super::*;
    use crate::system::Transition;
    use std::io::Cursor;
    use turnpike_model::LabelId;

    fn sample() -> Lts {
        let labels = ["tau", "a(1,[2])", "say \"hi\",3)"].map(str::to_owned).to_vec();
        let step = |from, label, to| Transition { from, label: LabelId(label), to };
        Lts { initial: 1, states: 3, labels, transitions: vec![step(0, 0, 1), step(1, 1, 2), step(2, 2, 0)] }
    }

    #[test]
    fn writes_what_the_mcrl2_tools_write() {
        let mut out = Vec::new();
        write_lts(&sample(), &mut out, AutDialect::Mcrl2).expect("writes");
        let expected = "des (1,3,3)\n(0,\"tau\",1)\n(1,\"a(1,[2])\",2)\n(2,\"say \"hi\",3)\",0)\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn the_internal_action_follows_the_dialect() {
        let mut out = Vec::new();
        write_lts(&sample(), &mut out, AutDialect::Cadp).expect("writes");
        assert!(String::from_utf8_lossy(&out).contains("(0,\"i\",1)"));
        assert_eq!(read_lts(&out[..], AutDialect::Cadp), Ok(sample()));
        let mut visible = sample();
        visible.labels[1] = "i".to_owned();
        let error = write_lts(&visible, Vec::new(), AutDialect::Cadp).expect_err("ambiguous");
        assert!(error.message.contains("`i`"));
        write_lts(&visible, Vec::new(), AutDialect::Mcrl2).expect("an ordinary action there");
    }

    #[test]
    fn patched_headers_have_the_usual_padding() {
        let mut writer = AutFileWriter::new(Cursor::new(Vec::new()), false, AutDialect::Mcrl2).expect("room");
        writer.transition(0, "a", 4).expect("writes");
        let (header, out) = writer.finish(0, 5).expect("patches");
        assert_eq!(header, AutHeader { initial: 0, transitions: 1, states: 5 });
        assert_eq!(
            String::from_utf8(out.into_inner()).expect("text"),
            format!("{:<51}\n(0,\"a\",4)\n", "des (0,1,5)")
        );
        let largest = AutHeader { initial: u32::MAX - 1, transitions: u64::MAX, states: u32::MAX };
        assert!(header_text(largest).len() <= RESERVED);
    }

    #[test]
    fn compressed_headers_are_patched_too() {
        for header in ["des", "des (4294967294,18446744073709551615,4294967295)"] {
            assert_eq!(
                reserved_bytes(header, true).expect("compresses").len(),
                reserved_bytes("", true).unwrap().len()
            );
        }
        let mut writer = AutFileWriter::new(Cursor::new(Vec::new()), true, AutDialect::Mcrl2).expect("room");
        for state in 0..1000 {
            writer.transition(state, "a", state + 1).expect("writes");
        }
        assert_eq!(writer.transitions(), 1000);
        let (_, out) = writer.finish(0, 1001).expect("patches");
        let lts = read_lts(&out.into_inner()[..], AutDialect::Mcrl2).expect("reads");
        assert_eq!((lts.states, lts.transitions.len()), (1001, 1000));
    }

    #[test]
    fn files_are_compressed_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["x.aut", "x.aut.gz"] {
            let path = folder.path().join(name);
            write_lts_file(&sample(), &path, AutDialect::Mcrl2).expect("writes");
            let first = std::fs::read(&path).expect("bytes")[0];
            assert_eq!(first == 0x1f, name.ends_with("gz"));
            assert_eq!(read_lts_file(&path, AutDialect::Mcrl2), Ok(sample()));

            let mut writer = AutFileWriter::create(&path, AutDialect::Mcrl2).expect("creates");
            for transition in &sample().transitions {
                writer
                    .transition(transition.from, sample().label(transition.label), transition.to)
                    .expect("writes");
            }
            writer.finish(1, 3).expect("patches");
            assert_eq!(read_lts_file(&path, AutDialect::Mcrl2), Ok(sample()));
        }
        let error = AutFileWriter::create(folder.path().join("no/such/folder.aut"), AutDialect::Mcrl2);
        assert!(error.expect_err("no folder").message.contains("cannot create"));
    }

    #[test]
    fn an_unfinished_file_reads_as_interrupted() {
        let mut out = Cursor::new(Vec::new());
        let mut writer = AutFileWriter::new(&mut out, false, AutDialect::Mcrl2).expect("room");
        writer.transition(0, "a", 0).expect("writes");
        drop(writer);
        let error = read_lts(&out.into_inner()[..], AutDialect::Mcrl2).expect_err("unfinished");
        assert!(error.message.contains("interrupted"));
    }

    #[test]
    fn refuses_what_could_not_be_read_back() {
        let header = AutHeader { initial: 0, transitions: 1, states: 1 };
        let writer = || AutWriter::new(Vec::new(), header, AutDialect::Mcrl2).expect("header");
        let mut broken = writer();
        assert!(broken.transition(0, "a\nb", 0).is_err());
        assert!(broken.transition(0, "a\u{4}b", 0).is_err());
        assert!(broken.finish().expect_err("too few").message.contains("promises 1"));
        let mut far = writer();
        far.transition(0, "a", 1).expect("checked at the end");
        assert!(far.finish().expect_err("out of range").message.contains("state written is 1"));
        assert!(AutWriter::new(Vec::new(), AutHeader { states: 0, ..header }, AutDialect::Mcrl2).is_err());
        assert!(AutWriter::new(Vec::new(), AutHeader { initial: 1, ..header }, AutDialect::Mcrl2).is_err());
        assert!(
            AutFileWriter::new(Cursor::new(Vec::new()), false, AutDialect::Mcrl2)
                .unwrap()
                .finish(1, 1)
                .is_err()
        );
    }
}
