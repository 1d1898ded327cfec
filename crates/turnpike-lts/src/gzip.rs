//! Input that may be compressed, independent of its name.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use turnpike_model::Diagnostic;

const BUFFER: usize = 1 << 16;

/// Decompresses input that starts with the first byte of gzip, which no text does. This also works
/// for pipes.
pub(crate) fn decompressed<'a>(input: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let first = loop {
        match input.fill_buf() {
            Ok(bytes) => break bytes.first().copied(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    Ok(if first == Some(0x1f) {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input)))
    } else {
        Box::new(input)
    })
}

/// A message about a failed read.
pub(crate) fn read_failed(error: &io::Error) -> Diagnostic {
    match error.kind() {
        ErrorKind::UnexpectedEof => Diagnostic::error("the compressed data ends too early")
            .help("the gzip file was cut short: compress or copy it again"),
        ErrorKind::InvalidData | ErrorKind::InvalidInput => {
            Diagnostic::error(format!("the compressed data is damaged: {error}"))
                .help("check the file with `gzip -t`, then compress or copy it again")
        }
        _ => Diagnostic::error(format!("cannot read the input: {error}")),
    }
}
