//! Lamport's bakery with tickets that wrap around: mutual exclusion with a bug that occurs late.
//!
//! ```text
//! enter(p)        choosing[p] := true
//! read(p,q)       highest := max(highest, number[q])                   for each other q, one after another
//! ticket(p,t)     number[p] := t = highest % limit + 1; choosing[p] := false
//! pass(p,q)       wait until q is not choosing, and has no number or (number[q],q) > (number[p],p); for each q
//! critical(p)     into the critical section
//! leave(p)        number[p] := 0
//! ```
//!
//! The algorithm is correct if tickets may grow without bound: they restart from 1 only when the
//! bakery is empty. Here they are in `1..=limit`, as in a word of finite size. While a customer
//! with ticket `limit` is served, the next one may draw 1 and overtake it. This needs `limit`
//! customers in a row. With five processes, there are far too many states for breadth-first search.
//! A random walk finds the bug because the bakery is hardly ever empty, and a search guided by
//! `highest-ticket` finds a path half as long. With two processes there are few states, but in a
//! random walk the bakery is empty so often that tickets stay small.
//!
//! A process is one word: its line of the program, the process that it reads or passes next, the
//! highest number that it has read, and its own number.

use turnpike_model::{LabelId, ModelInfo, Successors};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "bakery",
    summary: "Lamport's bakery algorithm with tickets that wrap around: two in the critical section, very late.",
    details: "Mutual exclusion by tickets, every read a step of its own. It fails once a customer holds the last \
        ticket and the next one draws 1: search for an assertion, in depth or guided by highest-ticket. Order: by process, each \
        has at most one step.",
    parameters: &[
        ParameterInfo::new("n", 5, (2, 8), "the number of processes"),
        ParameterInfo::new("limit", 64, (2, 4_000), "the largest ticket, after which comes 1 again"),
    ],
    make: |name, values| model(name, Bakery { n: values[0] as u32, limit: values[1] as u32 }),
};

/// Lines of the program.
const IDLE: u32 = 0;
const READING: u32 = 1;
const PASSING: u32 = 2;
const CRITICAL: u32 = 3;
const LINES: [&str; 4] = ["idle", "reading", "passing", "critical"];

/// The positions of the fields in the word of a process.
const OTHER_SHIFT: u32 = 2;
const HIGHEST_SHIFT: u32 = 6;
const NUMBER_SHIFT: u32 = 18;
const NUMBER_BITS: u32 = 12;

/// An unpacked process.
#[derive(Clone, Copy)]
struct Process {
    line: u32,
    /// The process to read or pass next, or `n` after all of them.
    other: u32,
    highest: u32,
    number: u32,
}

impl Process {
    fn unpack(word: u32) -> Self {
        let number_mask = (1 << NUMBER_BITS) - 1;
        Process {
            line: word & 3,
            other: word >> OTHER_SHIFT & 15,
            highest: word >> HIGHEST_SHIFT & number_mask,
            number: word >> NUMBER_SHIFT & number_mask,
        }
    }

    fn pack(self) -> u32 {
        self.line | self.other << OTHER_SHIFT | self.highest << HIGHEST_SHIFT | self.number << NUMBER_SHIFT
    }
}

const IDLE_PROCESS: Process = Process { line: IDLE, other: 0, highest: 0, number: 0 };

/// A step of a process. The id of its label is `process * kinds + kind`, where the other process or
/// the ticket is part of the kind.
enum Step {
    Enter,
    Critical,
    Leave,
    Read(u32),
    Pass(u32),
    Ticket(u32),
}

struct Bakery {
    n: u32,
    limit: u32,
}

impl Bakery {
    fn kinds(&self) -> u32 {
        3 + 2 * self.n + self.limit
    }

    fn label_id(&self, process: u32, step: Step) -> LabelId {
        let kind = match step {
            Step::Enter => 0,
            Step::Critical => 1,
            Step::Leave => 2,
            Step::Read(other) => 3 + other,
            Step::Pass(other) => 3 + self.n + other,
            Step::Ticket(ticket) => 3 + 2 * self.n + (ticket - 1),
        };
        LabelId(process * self.kinds() + kind)
    }

    /// The first process from `start` on other than `process`, or `n`.
    fn next_other(&self, process: u32, start: u32) -> u32 {
        if start == process { start + 1 } else { start }
    }

    /// The only step of `process`, or `None` if it must wait.
    fn step(&self, state: &[u32], process: u32) -> Option<(Step, Process)> {
        let own = Process::unpack(state[process as usize]);
        let (line, other) = (own.line, own.other);
        Some(match line {
            IDLE => {
                let other = self.next_other(process, 0);
                (Step::Enter, Process { line: READING, other, ..IDLE_PROCESS })
            }
            READING if other < self.n => {
                let seen = Process::unpack(state[other as usize]).number;
                let highest = own.highest.max(seen);
                (Step::Read(other), Process { other: self.next_other(process, other + 1), highest, ..own })
            }
            READING => {
                let number = own.highest % self.limit + 1;
                let other = self.next_other(process, 0);
                (Step::Ticket(number), Process { line: PASSING, other, highest: 0, number })
            }
            PASSING if other < self.n => {
                let they = Process::unpack(state[other as usize]);
                let first = they.number == 0 || (own.number, process) < (they.number, other);
                if they.line == READING || !first {
                    return None;
                }
                (Step::Pass(other), Process { other: self.next_other(process, other + 1), ..own })
            }
            PASSING => (Step::Critical, Process { line: CRITICAL, other: 0, ..own }),
            _ => (Step::Leave, IDLE_PROCESS),
        })
    }

    fn processes<'a>(&self, state: &'a [u32]) -> impl Iterator<Item = Process> + 'a {
        state.iter().map(|&word| Process::unpack(word))
    }
}

impl Packed for Bakery {
    fn width(&self) -> usize {
        self.n as usize
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = (1..=self.n)
            .flat_map(|p| {
                [format!("line{p}"), format!("other{p}"), format!("highest{p}"), format!("number{p}")]
            })
            .collect();
        info.actions = names(&["enter", "read", "ticket", "pass", "critical", "leave"]);
        info.measures = measures(&[
            ("highest-ticket", "the largest ticket that a customer holds"),
            ("interested", "processes that are not idle"),
            ("in-critical-section", "processes in the critical section"),
            ("enabled", "processes that need not wait"),
        ]);
        info.suggestions = names(&["assertion", "max highest-ticket", "max in-critical-section"]);
    }

    fn arity(&self, action: &str) -> usize {
        match action {
            "read" | "pass" | "ticket" => 2,
            _ => 1,
        }
    }

    fn initial(&self, _state: &mut [u32]) {}

    fn successors(&self, state: &[u32], out: &mut Successors) {
        for process in 0..self.n {
            if let Some((step, next)) = self.step(state, process) {
                let label = self.label_id(process, step);
                out.push_edited(label, state, |target| target[process as usize] = next.pack());
            }
        }
    }

    fn label(&self, id: u32) -> String {
        let (process, kind) = (id / self.kinds() + 1, id % self.kinds());
        match kind {
            0 => format!("enter({process})"),
            1 => format!("critical({process})"),
            2 => format!("leave({process})"),
            _ if kind < 3 + self.n => format!("read({process},{})", kind - 3 + 1),
            _ if kind < 3 + 2 * self.n => format!("pass({process},{})", kind - 3 - self.n + 1),
            _ => format!("ticket({process},{})", kind - 3 - 2 * self.n + 1),
        }
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        for process in self.processes(state) {
            let has_other = matches!(process.line, READING | PASSING) && process.other < self.n;
            out.push(LINES[process.line as usize].to_owned());
            out.push(if has_other { (process.other + 1).to_string() } else { "none".to_owned() });
            out.push(process.highest.to_string());
            out.push(process.number.to_string());
        }
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        let count = |test: fn(&Process) -> bool| self.processes(state).filter(test).count() as f64;
        match index {
            0 => f64::from(self.processes(state).map(|process| process.number).max().unwrap_or(0)),
            1 => count(|process| process.line != IDLE),
            2 => count(|process| process.line == CRITICAL),
            3 => (0..self.n).filter(|&process| self.step(state, process).is_some()).count() as f64,
            _ => no_measure(index),
        }
    }

    fn violation(&self, state: &[u32]) -> Option<String> {
        let mut inside = self
            .processes(state)
            .enumerate()
            .filter(|(_, process)| process.line == CRITICAL)
            .map(|(p, _)| p + 1);
        let (first, second) = (inside.next()?, inside.next()?);
        Some(format!("processes {first} and {second} are both in the critical section"))
    }
}
