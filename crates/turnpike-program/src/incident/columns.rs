//! A schedule for people: time flows down, a column for every thread, context switches marked.
//!
//! ```text
//!        main              main.0            main.1
//!    1   |                 lock mutex 1  bank.c:31
//!    2 ! |                 |                 lock mutex 2  bank.c:40
//! ```

/// One step as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The thread's name.
    pub thread: String,
    /// What it does: `lock mutex 2`.
    pub deed: String,
    /// Where: `bank.c:31`.
    pub place: Option<String>,
    /// Whether another thread took the step before although that one could have gone on.
    pub preempts: bool,
}

/// Narrowest and widest column.
const NARROW: usize = 16;
const WIDE: usize = 36;
/// Steps beyond which runs of one thread lose their middle.
const LONG: usize = 60;
/// Steps of one thread that are always shown.
const RUN: usize = 5;
/// Lines that are shown at most; the middle is left out.
const LINES: usize = 240;

/// The schedule in lines of about `width` characters, and a last line for every thread in `ends`.
pub fn lines(rows: &[Row], ends: &[(String, String)], width: usize) -> Vec<String> {
    let mut threads: Vec<&str> = Vec::new();
    for name in rows.iter().map(|row| &row.thread).chain(ends.iter().map(|(name, _)| name)) {
        if !threads.contains(&name.as_str()) {
            threads.push(name);
        }
    }
    threads.sort_by(|one, other| super::path(one).cmp(&super::path(other)));
    let digits = rows.len().to_string().len().max(3);
    let room = width.saturating_sub(digits + 4);
    let column = (room / threads.len().max(1)).min(WIDE);
    let layout = Layout { threads, digits, column, columns: column >= NARROW };
    let mut out = layout.head();
    let mut start = 0;
    while start < rows.len() {
        let thread = &rows[start].thread;
        let end = start + rows[start..].iter().take_while(|row| row.thread == *thread).count();
        let hidden = if rows.len() > LONG && end - start > RUN { start + 2..end - 2 } else { end..end };
        for index in start..end {
            if !hidden.contains(&index) {
                out.push(layout.row(index, rows));
            } else if index == hidden.start {
                out.push(layout.line("", ' ', thread, &format!("... {} more steps", hidden.len())));
            }
        }
        start = end;
    }
    let head = layout.head().len();
    if out.len() > LINES {
        let (from, to) = (head + LINES / 2, out.len() - LINES / 2);
        out.splice(from..to, [format!("     ... {} lines are left out ...", to - from)]);
    }
    for (thread, text) in ends {
        out.push(layout.line("", ' ', thread, text));
    }
    out
}

/// What the marks mean, when there are any.
pub fn legend(rows: &[Row]) -> Option<&'static str> {
    if rows.iter().any(|row| row.preempts) {
        return Some("> another thread goes on; ! although the one before could have");
    }
    let switches = rows.windows(2).any(|pair| pair[0].thread != pair[1].thread);
    switches.then_some("> another thread goes on")
}

struct Layout<'a> {
    threads: Vec<&'a str>,
    digits: usize,
    column: usize,
    /// Whether there is a column for each thread; otherwise each line begins with the thread's
    /// name.
    columns: bool,
}

impl Layout<'_> {
    fn head(&self) -> Vec<String> {
        if !self.columns {
            return Vec::new();
        }
        let names: String = self.threads.iter().map(|name| cell(name, self.column)).collect();
        vec![format!("{:1$}{names}", "", self.digits + 3).trim_end().to_owned()]
    }

    fn row(&self, index: usize, rows: &[Row]) -> String {
        let row = &rows[index];
        let mark = match index.checked_sub(1).map(|before| &rows[before]) {
            Some(before) if before.thread != row.thread => {
                if row.preempts {
                    '!'
                } else {
                    '>'
                }
            }
            _ => ' ',
        };
        let text = match &row.place {
            Some(place) => format!("{}  {place}", row.deed),
            None => row.deed.clone(),
        };
        self.line(&(index + 1).to_string(), mark, &row.thread, &text)
    }

    fn line(&self, number: &str, mark: char, thread: &str, text: &str) -> String {
        let mut line = format!("{number:>0$} {mark} ", self.digits);
        if !self.columns {
            let widest = self.threads.iter().map(|name| name.chars().count()).max().unwrap_or(0);
            line.push_str(&format!("{thread:widest$}  {text}"));
            return line;
        }
        let place = self.threads.iter().position(|name| *name == thread).unwrap_or(0);
        for _ in 0..place {
            line.push_str(&cell("|", self.column));
        }
        line.push_str(text);
        // A text may run over the columns behind it; those beyond it go on.
        let mut used = text.chars().count();
        for _ in place + 1..self.threads.len() {
            if used < self.column {
                line.push_str(&" ".repeat(self.column - used));
                line.push('|');
                used = 1;
            } else {
                used -= self.column;
            }
        }
        line.trim_end().to_owned()
    }
}

/// A text in its column, cut if it is too long.
fn cell(text: &str, width: usize) -> String {
    let cut: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{cut:width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(thread: &str, deed: &str, preempts: bool) -> Row {
        Row { thread: thread.to_owned(), deed: deed.to_owned(), place: Some("a.c:1".to_owned()), preempts }
    }

    #[test]
    fn a_column_for_every_thread() {
        let rows =
            [row("main.0", "lock m", false), row("main.1", "lock n", true), row("main.0", "lock n", false)];
        let ends = [("main".to_owned(), "waits".to_owned())];
        let shown = lines(&rows, &ends, 60);
        let expected = [
            "      main              main.0            main.1",
            "  1   |                 lock m  a.c:1     |",
            "  2 ! |                 |                 lock n  a.c:1",
            "  3 > |                 lock n  a.c:1     |",
            "      waits             |                 |",
        ];
        let columns = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(shown.iter().map(|line| columns(line)).collect::<Vec<_>>(), expected.map(columns));
        let at = |line: &str, word: &str| line.find(word).expect("there");
        assert_eq!(at(&shown[0], "main.1"), at(&shown[2], "lock"));
        assert_eq!(at(&shown[0], "main.0"), at(&shown[1], "lock"));
        assert_eq!(legend(&rows), Some("> another thread goes on; ! although the one before could have"));
        assert_eq!(legend(&rows[..1]), None);
    }

    #[test]
    fn many_threads_are_a_list() {
        let rows: Vec<Row> = (0..20).map(|index| row(&format!("main.{index}"), "read x", false)).collect();
        let shown = lines(&rows, &[], 100);
        assert_eq!(shown[0], "  1   main.0   read x  a.c:1");
        assert_eq!(shown[19], " 20 > main.19  read x  a.c:1");
    }

    #[test]
    fn long_runs_of_one_thread_lose_their_middle() {
        let mut rows = vec![row("main", "load x", false); 500];
        rows.push(row("main.0", "load x", true));
        let shown = lines(&rows, &[], 100);
        assert_eq!(shown.len(), 7, "{shown:#?}");
        assert!(shown[3].contains("... 496 more steps"));
        assert!(shown[6].starts_with("501 !"));
        let alternating: Vec<Row> =
            (0..2_000).map(|index| row(&format!("main.{}", index % 2), "load x", false)).collect();
        let shown = lines(&alternating, &[], 100);
        assert!(shown.len() < 250 && shown.iter().any(|line| line.contains("lines are left out")));
    }
}
