//! Reads and writes an `.aut` text of ten million transitions in bounded memory.

use std::io::{BufReader, Read, Write};

use turnpike_lts::{AutDialect, AutHeader, AutReader, AutWriter};

const TRANSITIONS: u64 = 10_000_000;
const STATES: u32 = 4_000_000;

/// The text of a large system, generated on demand.
struct Text {
    next: u64,
    line: Vec<u8>,
    at: usize,
}

impl Read for Text {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
            if self.next < TRANSITIONS {
                let (from, label, to) = transition(self.next);
                writeln!(self.line, "({from},\"{label}\",{to})")?;
                self.next += 1;
            }
        }
        let count = out.len().min(self.line.len() - self.at);
        out[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn transition(number: u64) -> (u32, String, u32) {
    let from = (number * 2 / 5) as u32;
    (from, format!("step({})", number % 100), (from.wrapping_mul(7) + 3) % STATES)
}

/// A sink that only counts.
#[derive(Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Resident memory in bytes, if the system reports it.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn ten_million_transitions_take_no_memory() {
    let header = AutHeader { initial: 0, transitions: TRANSITIONS, states: STATES };
    let text = Text { next: 0, line: format!("des (0,{TRANSITIONS},{STATES})\n").into_bytes(), at: 0 };
    let mut reader = AutReader::new(BufReader::with_capacity(1 << 16, text), AutDialect::Mcrl2).unwrap();
    let mut writer = AutWriter::new(Counter::default(), header, AutDialect::Mcrl2).unwrap();
    let before = resident();
    let mut count = 0;
    while let Some(read) = reader.next_transition().unwrap() {
        let label = &reader.labels()[read.label.index()];
        if count % 1_000_003 == 0 {
            assert_eq!((read.from, label.clone(), read.to), transition(count));
        }
        writer.transition(read.from, label, read.to).unwrap();
        count += 1;
    }
    assert_eq!(count, TRANSITIONS);
    assert!(writer.finish().unwrap().0 > 20 * TRANSITIONS);
    if let (Some(before), Some(after)) = (before, resident()) {
        // The text is 250 MB long; an `Lts` of it takes 120 MB.
        assert!(after < before + (8 << 20), "{before} bytes before, {after} after");
    }
}
