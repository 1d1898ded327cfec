//! Lines and columns of the source, for errors that occur during execution.

/// Where the lines of a text begin.
#[derive(Debug)]
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Lines {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { starts: std::iter::once(0).chain(after).collect() }
    }

    /// Line and column of a byte, both from 1; columns count bytes.
    pub(super) fn position(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= byte);
        (line, byte - self.starts[line - 1] + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_from_one() {
        let lines = Lines::new("ab\n\ncd");
        let positions = [0, 1, 3, 4, 5, 9].map(|byte| lines.position(byte));
        assert_eq!(positions, [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (3, 6)]);
    }
}
