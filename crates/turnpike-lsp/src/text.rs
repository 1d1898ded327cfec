//! Positions: the protocol counts lines and UTF-16 units, the parsers count bytes.

use std::ops::Range;

use lsp_types::{Position, Range as Place, TextDocumentContentChangeEvent};

/// A text with the starts of its lines.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) content: String,
    /// The byte at which each line begins.
    lines: Vec<usize>,
}

impl Text {
    pub(crate) fn new(content: String) -> Text {
        let breaks = content.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Text { content, lines }
    }

    /// The byte at a position; positions behind the end of a line mean its end.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.content.len() };
        let end = self.lines.get(position.line as usize + 1).map_or(self.content.len(), |next| next - 1);
        let mut units = 0;
        for (at, letter) in self.content[start..end].char_indices() {
            if units >= position.character as usize {
                return start + at;
            }
            units += letter.len_utf16();
        }
        end
    }

    /// The position of a byte; in the middle of a letter, that of the letter.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.content.len());
        while !self.content.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.lines.partition_point(|&start| start <= offset) - 1;
        let before = &self.content[self.lines[line]..offset];
        Position::new(line as u32, before.encode_utf16().count() as u32)
    }

    /// The place of some bytes.
    pub(crate) fn place(&self, range: &Range<usize>) -> Place {
        Place::new(self.position(range.start), self.position(range.end.max(range.start)))
    }

    /// The bytes of a line, counted from 1, without what ends it.
    pub(crate) fn line(&self, number: u64) -> Range<usize> {
        let index = (number.max(1) - 1) as usize;
        let start = self.lines.get(index).copied().unwrap_or(self.content.len());
        let end = self.lines.get(index + 1).map_or(self.content.len(), |next| next - 1);
        start..end
    }

    /// The text after a change.
    pub(crate) fn change(&mut self, change: TextDocumentContentChangeEvent) {
        let mut content = std::mem::take(&mut self.content);
        match change.range {
            None => content = change.text,
            Some(place) => {
                self.content = content;
                let (start, end) = (self.offset(place.start), self.offset(place.end));
                content = std::mem::take(&mut self.content);
                content.replace_range(start..end.max(start), &change.text);
            }
        }
        *self = Text::new(content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units_of_utf16() {
        let text = Text::new("aé𝔸b\n\nend".to_owned());
        for (line, character, offset) in
            [(0, 0, 0), (0, 2, 3), (0, 4, 7), (0, 9, 8), (1, 0, 9), (2, 3, 13), (7, 0, 13)]
        {
            assert_eq!(text.offset(Position::new(line, character)), offset, "{line}:{character}");
        }
        for offset in [0, 1, 3, 7, 8, 9, 10, 13] {
            assert_eq!(text.offset(text.position(offset)), offset);
        }
        assert_eq!(text.position(2), Position::new(0, 1), "in the middle of a letter");
    }

    #[test]
    fn changes_replace_what_they_name() {
        let mut text = Text::new("one\ntwo\n".to_owned());
        let place = Place::new(Position::new(0, 2), Position::new(1, 1));
        text.change(TextDocumentContentChangeEvent {
            range: Some(place),
            range_length: None,
            text: "é\n".into(),
        });
        assert_eq!(text.content, "oné\nwo\n");
        assert_eq!(text.position(text.content.len()), Position::new(2, 0));
        text.change(TextDocumentContentChangeEvent { range: None, range_length: None, text: "x".into() });
        assert_eq!(text.content, "x");
    }
}
