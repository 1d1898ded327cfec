//! A text to parse, with a map back to the file it comes from.
//!
//! In XML files, entities, CDATA marks and line ends differ from the text that they represent; a
//! passage maps each byte of the text to bytes of the file.

use std::ops::Range;

/// A text, and the positions of its bytes in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Passage {
    /// The text for the parser.
    pub(super) text: String,
    /// Consecutive pieces that cover the text.
    pieces: Vec<Piece>,
    /// The place to report if the text is empty.
    whole: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
struct Piece {
    text: Range<usize>,
    file: Range<usize>,
    /// Whether bytes correspond one to one; otherwise the piece represents the range of the file as
    /// a whole.
    verbatim: bool,
}

impl Passage {
    /// The passage of a plain file.
    pub(super) fn verbatim(text: &str) -> Self {
        Passage::verbatim_behind(text, 0)
    }

    /// The same for a text whose offsets start at some byte.
    pub(super) fn verbatim_behind(text: &str, start: usize) -> Self {
        let whole = start..start + text.len();
        let mut passage = Passage { whole: whole.clone(), ..Passage::default() };
        passage.push(text, whole, true);
        passage
    }

    /// An empty passage for an element of an XML file.
    pub(super) fn within(whole: Range<usize>) -> Self {
        Passage { whole, ..Passage::default() }
    }

    /// Adds text that an XML file writes as `raw` at `offset` and that means `meaning`.
    pub(super) fn push_xml(&mut self, raw: &str, offset: usize, meaning: &str) {
        let before = (self.text.len(), self.pieces.len());
        self.decode(raw, offset);
        // Entities defined in the file: report the whole range.
        if self.text[before.0..] != *meaning {
            self.text.truncate(before.0);
            self.pieces.truncate(before.1);
            self.push(meaning, offset..offset + raw.len(), false);
        }
    }

    fn decode(&mut self, raw: &str, offset: usize) {
        let mut at = 0;
        let mut cdata = false;
        while let Some(length) = raw[at..].find(['&', '<', ']', '\r']) {
            self.push(&raw[at..at + length], offset + at..offset + at + length, true);
            at += length;
            let rest = &raw[at..];
            let (meaning, length) = if cdata && rest.starts_with("]]>") {
                cdata = false;
                (None, 3)
            } else if !cdata && rest.starts_with("<![CDATA[") {
                cdata = true;
                (None, 9)
            } else if rest.starts_with('\r') {
                (Some('\n'), if rest.starts_with("\r\n") { 2 } else { 1 })
            } else if let Some((character, length)) = entity(rest).filter(|_| !cdata) {
                (Some(character), length)
            } else {
                self.push(&rest[..1], offset + at..offset + at + 1, true);
                at += 1;
                continue;
            };
            if let Some(character) = meaning {
                self.push(character.encode_utf8(&mut [0; 4]), offset + at..offset + at + length, false);
            }
            at += length;
        }
        self.push(&raw[at..], offset + at..offset + raw.len(), true);
    }

    fn push(&mut self, text: &str, file: Range<usize>, verbatim: bool) {
        if text.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        if let Some(last) = self.pieces.last_mut()
            && verbatim
            && last.verbatim
            && last.file.end == file.start
        {
            last.text.end = self.text.len();
            last.file.end = file.end;
            return;
        }
        self.pieces.push(Piece { text: start..self.text.len(), file, verbatim });
    }

    /// The bytes of the file that a part of the text represents.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        let start = match self.piece(range.start) {
            Some(piece) if piece.verbatim => piece.file.start + (range.start - piece.text.start),
            Some(piece) => piece.file.start,
            None => self.end(),
        };
        if range.is_empty() {
            return start..start;
        }
        let end = match self.piece(range.end - 1) {
            Some(piece) if piece.verbatim => piece.file.start + (range.end - piece.text.start),
            Some(piece) => piece.file.end,
            None => self.end(),
        };
        start..end.max(start)
    }

    fn piece(&self, offset: usize) -> Option<&Piece> {
        self.pieces.get(self.pieces.partition_point(|piece| piece.text.end <= offset))
    }

    fn end(&self) -> usize {
        self.pieces.last().map_or(self.whole.start, |piece| piece.file.end)
    }
}

/// The entity at the start of a text: its character and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let name = text[..end].strip_prefix('&')?;
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    };
    Some((character, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_and_cdata_lead_back_to_the_file() {
        let raw = "x &lt;= 5\r\n&#38;&#x26; <![CDATA[y<3]]>&z";
        let mut passage = Passage::within(0..100);
        passage.push_xml(raw, 10, "x <= 5\n&& y<3&z");
        assert_eq!(passage.text, "x <= 5\n&& y<3&z");
        let of = |part: &str| {
            let start = passage.text.find(part).unwrap();
            let place = passage.place(start..start + part.len());
            &raw[place.start - 10..place.end - 10]
        };
        assert_eq!(of("x"), "x");
        assert_eq!(of("<="), "&lt;=");
        assert_eq!(of("&&"), "&#38;&#x26;");
        assert_eq!(of("y<3"), "y<3");
        assert_eq!(of("3"), "3");
        assert_eq!(of("<= 5\n&&"), "&lt;= 5\r\n&#38;&#x26;");
        assert_eq!(of("&z"), "&z");
        let end = passage.text.len();
        assert_eq!(passage.place(end..end), 10 + raw.len()..10 + raw.len());
    }

    #[test]
    fn entities_of_the_file_itself_are_pointed_at_as_a_whole() {
        let mut passage = Passage::within(5..20);
        assert_eq!(passage.place(0..0), 5..5);
        passage.push_xml("&mine;", 7, "clock x;");
        assert_eq!(passage.text, "clock x;");
        assert_eq!(passage.place(6..7), 7..13);
    }
}
