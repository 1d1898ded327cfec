//! A readable schedule: time flows down, each thread has a column, and context switches are marked.
//! Columns are as wide as their contents; what does not fit goes on below, in its own column.
//!
//! ```text
//!        main   main.0                   main.1
//!    1   |      lock mutex 1  bank.c:31  |
//!    2 ! |      |                        lock mutex 2  bank.c:40
//! ```

use turnpike_model::trace::fold_loops;

/// One step as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The thread's name.
    pub thread: String,
    /// What it does: `lock mutex 2`.
    pub deed: String,
    /// Where: `bank.c:31`.
    pub place: Option<String>,
    /// Whether the thread of the previous step is another one, which could have gone on.
    pub preempts: bool,
}

/// The least width to which a column is narrowed; with less room, the schedule is a list.
const NARROW: usize = 16;
/// Blanks between columns.
const GAP: usize = 2;
/// In schedules with more steps than this, the middle of long runs of one thread is left out.
const LONG: usize = 60;
/// Runs of at most this many steps are always shown.
const RUN: usize = 5;
/// The most lines that are shown; the middle is left out.
const LINES: usize = 240;

/// The schedule in lines of about `width` characters, and a last line for every thread in `ends`.
/// With `all`, turns of a loop and the middle of long runs are shown too.
pub fn lines(rows: &[Row], ends: &[(String, String)], width: usize, all: bool) -> Vec<String> {
    let cells = if all { (0..rows.len()).map(|index| Cell::of(rows, index)).collect() } else { cells(rows) };
    let ends: Vec<Cell<'_>> =
        ends.iter().map(|(thread, text)| Cell::unnumbered(thread, text.clone())).collect();
    let mut threads: Vec<&str> = Vec::new();
    for cell in cells.iter().chain(&ends) {
        if !threads.contains(&cell.thread) {
            threads.push(cell.thread);
        }
    }
    threads.sort_by(|one, other| super::path(one).cmp(&super::path(other)));
    let digits = rows.len().to_string().len().max(3);
    let needed = |thread: &&str| {
        let own = cells.iter().chain(&ends).filter(|cell| cell.thread == *thread);
        let longest = own.map(|cell| cell.text.chars().count()).max().unwrap_or(0);
        longest.max(thread.chars().count()) + GAP
    };
    let needed = threads.iter().map(needed).collect();
    let layout = Layout { widths: fit(needed, width.saturating_sub(digits + 3)), threads, digits };
    let mut out = layout.head();
    let head = out.len();
    out.extend(cells.iter().flat_map(|cell| layout.lines(cell)));
    if !all && out.len() > LINES {
        let (from, to) = (head + LINES / 2, out.len() - LINES / 2);
        out.splice(from..to, [format!("     ... {} lines are left out ...", to - from)]);
    }
    out.extend(ends.iter().flat_map(|cell| layout.lines(cell)));
    out
}

/// An entry in the column of a thread.
struct Cell<'a> {
    number: String,
    mark: char,
    thread: &'a str,
    text: String,
}

impl<'a> Cell<'a> {
    fn unnumbered(thread: &'a str, text: String) -> Self {
        Cell { number: String::new(), mark: ' ', thread, text }
    }

    fn of(rows: &'a [Row], index: usize) -> Self {
        let row = &rows[index];
        let switched = index.checked_sub(1).is_some_and(|before| rows[before].thread != row.thread);
        let mark = match (switched, row.preempts) {
            (false, _) => ' ',
            (true, true) => '!',
            (true, false) => '>',
        };
        let text = match &row.place {
            Some(place) => format!("{}  {place}", row.deed),
            None => row.deed.clone(),
        };
        Cell { number: (index + 1).to_string(), mark, thread: &row.thread, text }
    }
}

/// The steps, without turns of a loop and the middle of long runs of one thread.
fn cells(rows: &[Row]) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    let folds = fold_loops(rows);
    let mut start = 0;
    while start < rows.len() {
        let thread = &rows[start].thread;
        if let Some(count) = folds.get(&start) {
            cells.push(Cell::unnumbered(thread, format!("… {count} more steps of the same loop")));
            start += count;
            continue;
        }
        let loops = folds.range(start..).next().map_or(rows.len(), |(&next, _)| next);
        let run = rows[start..loops].iter().take_while(|row| row.thread == *thread).count();
        let end = start + run;
        let hidden = if rows.len() > LONG && end - start > RUN { start + 2..end - 2 } else { end..end };
        for index in start..end {
            if !hidden.contains(&index) {
                cells.push(Cell::of(rows, index));
            } else if index == hidden.start {
                cells.push(Cell::unnumbered(thread, format!("... {} more steps", hidden.len())));
            }
        }
        start = end;
    }
    cells
}

/// Widths for columns that need these: the widest shrink until all fit into `room`. `None` if they
/// would become too narrow.
fn fit(mut needed: Vec<usize>, room: usize) -> Option<Vec<usize>> {
    let mut widest = needed.iter().copied().max()?;
    while needed.iter().sum::<usize>() > room {
        widest -= 1;
        if widest < NARROW {
            return None;
        }
        needed.iter_mut().for_each(|width| *width = widest.min(*width));
    }
    Some(needed)
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
    /// The widths of the threads' columns. Without them, each line begins with the thread's name.
    widths: Option<Vec<usize>>,
}

impl Layout<'_> {
    fn head(&self) -> Vec<String> {
        let Some(widths) = &self.widths else { return Vec::new() };
        let names: String =
            self.threads.iter().zip(widths).map(|(name, width)| format!("{name:width$}")).collect();
        vec![format!("{:1$}{names}", "", self.digits + 3).trim_end().to_owned()]
    }

    fn lines(&self, Cell { number, mark, thread, text }: &Cell<'_>) -> Vec<String> {
        let head = format!("{number:>0$} {mark} ", self.digits);
        let Some(widths) = &self.widths else {
            let widest = self.threads.iter().map(|name| name.chars().count()).max().unwrap_or(0);
            return vec![format!("{head}{thread:widest$}  {text}")];
        };
        let own = self.threads.iter().position(|name| name == thread).unwrap_or(0);
        let line = |(index, part): (usize, String)| {
            let mut line = if index == 0 { head.clone() } else { " ".repeat(self.digits + 3) };
            for (column, width) in widths.iter().enumerate() {
                let cell = if column == own { part.as_str() } else { "|" };
                line.push_str(&format!("{cell:width$}"));
            }
            line.trim_end().to_owned()
        };
        wrap(text, widths[own] - GAP).into_iter().enumerate().map(line).collect()
    }
}

/// A text in lines of at most `width` characters, broken at blanks where there are any.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > width {
        let blank = (1..=width).rev().find(|&end| rest[end] == ' ');
        let end = blank.unwrap_or(width);
        lines.push(rest[..end].iter().collect::<String>().trim_end().to_owned());
        let next = (end..rest.len()).find(|&start| rest[start] != ' ').unwrap_or(rest.len());
        rest.drain(..next);
    }
    if lines.is_empty() || !rest.is_empty() {
        lines.push(rest.into_iter().collect());
    }
    lines
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
        let shown = lines(&rows, &ends, 60, false);
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

    /// However long a text is, it stays in its column.
    #[test]
    fn long_texts_go_on_below() {
        let deed = "lock the_mutex_of_the_account_that_pays";
        let rows = [row("main.0", deed, false), row("main.1", "lock n", true)];
        let ends = [("main".to_owned(), "waits for the end of main.0".to_owned())];
        for width in [60, 80, 100, 200] {
            let shown = lines(&rows, &ends, width, false);
            assert!(shown.iter().all(|line| line.chars().count() <= width), "{shown:#?}");
            let columns = ["main.0", "main.1"].map(|name| shown[0].find(name).expect("in the head"));
            for line in &shown[1..] {
                let begins = |&column: &usize| {
                    let mut around = line.chars().skip(column - 1);
                    around.next().is_none_or(|gap| gap == ' ') && around.next() != Some(' ')
                };
                assert!(columns.iter().all(begins), "{width}: {line}\n{shown:#?}");
            }
            let words: Vec<&str> = shown.iter().flat_map(|line| line.split_whitespace()).collect();
            assert!(width < 100 || words.contains(&"the_mutex_of_the_account_that_pays"), "{shown:#?}");
        }
        let wide = lines(&rows, &ends, 200, false);
        assert_eq!(wide.len(), 4, "nothing is broken where there is room: {wide:#?}");
    }

    #[test]
    fn texts_are_broken_at_blanks() {
        assert_eq!(wrap("lock m  a.c:1", 13), ["lock m  a.c:1"]);
        assert_eq!(wrap("lock m  a.c:1", 9), ["lock m", "a.c:1"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
    }

    #[test]
    fn many_threads_are_a_list() {
        let rows: Vec<Row> = (0..20).map(|index| row(&format!("main.{index}"), "read x", false)).collect();
        let shown = lines(&rows, &[], 100, false);
        assert_eq!(shown[0], "  1   main.0   read x  a.c:1");
        assert_eq!(shown[19], " 20 > main.19  read x  a.c:1");
    }

    #[test]
    fn turns_of_a_loop_are_left_out() {
        let mut rows = vec![row("main", "create main.0", false)];
        for _ in 0..12 {
            rows.extend([row("main.0", "lock m", false), row("main.0", "unlock m", false)]);
        }
        rows.push(row("main", "join main.0", false));
        let shown = lines(&rows, &[], 100, false);
        assert_eq!(shown.len(), 6, "{shown:#?}");
        assert!(shown[4].contains("… 22 more steps of the same loop"), "{shown:#?}");
        assert!(shown[5].starts_with(" 26 >"), "{shown:#?}");
        assert_eq!(lines(&rows, &[], 100, true).len(), 27);
    }

    #[test]
    fn long_runs_of_one_thread_lose_their_middle() {
        let mut rows = vec![row("main", "load x", false); 500];
        rows.push(row("main.0", "load x", true));
        let shown = lines(&rows, &[], 100, false);
        assert_eq!(shown.len(), 4, "{shown:#?}");
        assert!(shown[2].contains("… 499 more steps of the same loop"));
        assert!(shown[3].starts_with("501 !"));
        assert_eq!(lines(&rows, &[], 100, true).len(), 502, "a request for everything is not shortened");
        let rows: Vec<Row> = (0..500).map(|index| row("main", &format!("load x{index}"), false)).collect();
        let shown = lines(&rows, &[], 100, false);
        assert!(shown[3].contains("... 496 more steps"), "{shown:#?}");
        let alternating: Vec<Row> = (0..2_000)
            .map(|index| row(&format!("main.{}", index % 2), &format!("load x{index}"), false))
            .collect();
        let shown = lines(&alternating, &[], 100, false);
        assert!(shown.len() < 250 && shown.iter().any(|line| line.contains("lines are left out")));
    }
}
