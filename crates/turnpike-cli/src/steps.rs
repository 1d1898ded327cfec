//! The steps of a trace as lines for people: numbered, with the values that changed.
//!
//! ```text
//!   0             philosopher1=thinking, philosopher2=thinking, fork1=free, fork2=free
//!   1  lock(1,1)  philosopher1=has-left, fork1=held-by-1
//! ```

use std::collections::{BTreeMap, BTreeSet};

use turnpike_model::trace::fold_loops;
use turnpike_model::{Diagnostic, StateValues, Step, Trace};
use turnpike_session::Pattern;

use crate::output;

/// What is shown of each step.
#[derive(Clone, Debug)]
pub(crate) struct StepView {
    /// How many characters fit into a line.
    pub(crate) width: usize,
    /// All values after each step, not only those that changed.
    pub(crate) full: bool,
    /// No values at all.
    pub(crate) actions_only: bool,
    /// All turns of loops.
    pub(crate) unfolded: bool,
    /// Parameters that are never shown.
    pub(crate) hide: Vec<Pattern>,
}

/// The same as flags.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ViewArgs {
    /// Show all values after each step, not only those that changed
    #[arg(long)]
    full: bool,
    /// Never show these parameters (comma-separated, `*` and `?` are wildcards)
    #[arg(long, value_name = "NAMES")]
    hide: Vec<String>,
    /// Show labels only
    #[arg(long, conflicts_with_all = ["full", "hide"])]
    actions_only: bool,
}

impl ViewArgs {
    /// Whether nothing special was asked for.
    pub(crate) fn is_plain(&self) -> bool {
        !self.full && !self.actions_only && self.hide.is_empty()
    }

    /// Refuses to hide what none of these values is called.
    pub(crate) fn check_hidden<'a>(&self, known: impl Iterator<Item = &'a str>) -> Result<(), Diagnostic> {
        let known: BTreeSet<&str> = known.collect();
        for pattern in StepView::default().hiding(&self.hide).hide {
            if !known.iter().any(|name| pattern.matches(name)) {
                let error = Diagnostic::error(format!("no state has a value `{pattern}` to hide"));
                return Err(error.suggest_or_list(pattern.text(), known, "the values are"));
            }
        }
        Ok(())
    }

    pub(crate) fn view(&self) -> StepView {
        StepView { full: self.full, actions_only: self.actions_only, ..StepView::for_output() }
            .hiding(&self.hide)
    }
}

/// Labels up to this long share a column where there is room; the values of a longer one follow after it.
const LABEL_COLUMN: usize = 32;
/// Lines of values are not longer than this.
const LINE: usize = 110;

impl Default for StepView {
    fn default() -> Self {
        StepView { width: LINE, full: false, actions_only: false, unfolded: false, hide: Vec::new() }
    }
}

impl StepView {
    /// What fits where results are printed.
    pub(crate) fn for_output() -> Self {
        StepView { width: output::width().min(LINE), ..StepView::default() }
    }

    /// Hides the parameters that a comma-separated list of names and wildcards matches.
    #[must_use]
    pub(crate) fn hiding(mut self, lists: &[String]) -> Self {
        let names = lists.iter().flat_map(|list| list.split(','));
        self.hide.extend(names.map(str::trim).filter(|name| !name.is_empty()).map(Pattern::new));
        self
    }

    fn shows(&self, name: &str) -> bool {
        !self.hide.iter().any(|pattern| pattern.matches(name))
    }

    /// `name=value` for all values that are shown.
    pub(crate) fn values(&self, values: &StateValues) -> Vec<String> {
        let shown = values.iter().filter(|(name, _)| self.shows(name));
        shown.map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// `name=value` for what is different after a step; for everything when it is not known what was before.
    pub(crate) fn changes(&self, before: Option<&StateValues>, after: &StateValues) -> Vec<String> {
        let Some(before) = before else { return self.values(after) };
        let shown = after.changes(before).filter(|(name, _)| self.shows(name));
        shown.map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// The whole trace: the initial state as number 0, then one numbered entry a step, a loop marked.
pub(crate) fn lines(trace: &Trace, view: &StepView) -> Vec<String> {
    let digits = trace.len().to_string().len().max(3);
    let most = LABEL_COLUMN.min(view.width / 3);
    let widest = trace.labels().map(|label| label.chars().count()).filter(|&width| width <= most);
    let column = widest.max().unwrap_or(0);
    // The times of steps, if they are known, stand before their labels.
    let time = |step: &Step| step.time.as_ref().map(|time| format!("@{time}"));
    let times = trace.steps.iter().filter_map(time).map(|time| time.chars().count());
    let times = times.max();
    let labelled = |time: Option<String>, label: &str| match times {
        Some(width) => format!("{:width$}  {label}", time.unwrap_or_default()),
        None => label.to_owned(),
    };
    let column = column + times.map_or(0, |width| width + 2);
    let page = Page { digits, column, width: view.width };
    let mut out = Vec::new();
    if let (Some(initial), false) = (&trace.initial, view.actions_only) {
        entry(&mut out, &page, 0, &labelled(None, ""), &view.values(initial));
    }
    let mut before = trace.initial.as_ref();
    // A request for everything is not shortened.
    let folds = if view.full || view.unfolded { BTreeMap::new() } else { folds(trace) };
    let mut hidden_until = 0;
    for (index, step) in trace.steps.iter().enumerate() {
        if let Some(count) = folds.get(&index) {
            out.push(format!("{:digits$}  … {count} more steps of the same loop", ""));
            hidden_until = index + count;
        }
        if index < hidden_until {
            before = step.state.as_ref();
            continue;
        }
        if trace.loop_start == Some(index) {
            out.push(format!("{:digits$}  -- the loop starts here --", ""));
        }
        let mut values = match &step.state {
            Some(_) if view.actions_only => Vec::new(),
            Some(after) if view.full => view.values(after),
            Some(after) => view.changes(before, after),
            None => Vec::new(),
        };
        if let (Some(clocks), true) = (&step.clocks, view.full) {
            values.extend(view.values(clocks));
        }
        entry(&mut out, &page, index + 1, &labelled(time(step), &step.label), &values);
        before = step.state.as_ref();
    }
    if let Some(delay) = &trace.last_delay {
        out.push(format!("{:digits$}  -- and {delay} later --", ""));
    }
    if let Some(start) = trace.loop_start {
        let place = match start {
            0 => "to the initial state".to_owned(),
            step => format!("to the state after step {step}"),
        };
        out.push(format!("{:digits$}  -- back {place} --", ""));
    }
    out
}

/// The columns of a trace.
struct Page {
    /// Of the numbers.
    digits: usize,
    /// Of the labels.
    column: usize,
    /// Of everything.
    width: usize,
}

/// One numbered entry, in as many lines as its label and values need. Values stay in their column: they
/// begin below a label that is too long for its own.
fn entry(out: &mut Vec<String>, page: &Page, number: usize, label: &str, values: &[String]) {
    let &Page { digits, column, width } = page;
    let indent = digits + column + 4;
    let mut labels = pieces(label, width.saturating_sub(digits + 2));
    let last = labels.pop().unwrap_or_default();
    let mut start = format!("{number:>digits$}  ");
    for piece in labels {
        out.push(format!("{start}{piece}"));
        start = " ".repeat(digits + 2);
    }
    let mut line = format!("{start}{last:column$}");
    if column > 0 || !label.is_empty() {
        line.push_str("  ");
    }
    let mut first = true;
    if line.chars().count() > indent && !values.is_empty() {
        let label_line = std::mem::replace(&mut line, " ".repeat(indent));
        out.push(label_line.trim_end().to_owned());
    }
    for (index, value) in values.iter().enumerate() {
        let comma = if index + 1 < values.len() { "," } else { "" };
        let mut rest = pieces(&format!("{value}{comma}"), width.saturating_sub(indent));
        let last = rest.pop().unwrap_or_default();
        for piece in rest.into_iter().chain([last]) {
            if !first && line.chars().count() + 1 + piece.chars().count() > width {
                out.push(std::mem::replace(&mut line, " ".repeat(indent)));
                first = true;
            }
            if !first {
                line.push(' ');
            }
            line.push_str(&piece);
            first = false;
        }
    }
    line.truncate(line.trim_end().len());
    out.push(line);
}

/// A text in pieces that are at most this long, broken at blanks and commas if possible.
fn pieces(text: &str, width: usize) -> Vec<String> {
    let width = width.max(20);
    let mut out = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > width {
        let good = rest[..width].iter().rposition(|c| matches!(c, ' ' | ',')).filter(|&at| at >= width / 2);
        let at = good.map_or(width, |at| at + 1);
        out.push(rest[..at].iter().collect::<String>().trim_end().to_owned());
        rest.drain(..at);
    }
    out.push(rest.into_iter().collect());
    out
}

/// Steps that repeat a loop, but for turns that another mark falls into.
fn folds(trace: &Trace) -> BTreeMap<usize, usize> {
    let labels: Vec<&str> = trace.labels().collect();
    let mut folds = fold_loops(&labels);
    folds.retain(|from, count| {
        !trace.loop_start.is_some_and(|start| (*from..=*from + *count).contains(&start))
    });
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_model::{Moment, Schedule};

    fn state(values: &[(&str, &str)]) -> StateValues {
        values.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn trace() -> Trace {
        let step = |label: &str, values| Step { state: Some(state(values)), ..Step::new(label) };
        Trace {
            initial: Some(state(&[("x", "0"), ("y", "a")])),
            steps: vec![
                step("go", &[("x", "1"), ("y", "a")]),
                step("a long label", &[("x", "1"), ("y", "b")]),
            ],
            ..Trace::default()
        }
    }

    #[test]
    fn shows_what_changed() {
        let expected = ["  0                x=0, y=a", "  1  go            x=1", "  2  a long label  y=b"]
            .map(str::to_owned);
        assert_eq!(lines(&trace(), &StepView::default()), expected);
        let all = lines(&trace(), &StepView { full: true, ..StepView::default() });
        assert_eq!(all[2], "  2  a long label  x=1, y=b");
        let bare = lines(&trace(), &StepView { actions_only: true, ..StepView::default() });
        assert_eq!(bare, ["  1  go", "  2  a long label"]);
        let hidden = lines(&trace(), &StepView::default().hiding(&["z, ?".to_owned()]));
        assert_eq!(hidden, ["  0", "  1  go", "  2  a long label"]);
    }

    #[test]
    fn tells_when_steps_are_taken() {
        let moment = |delay: &str, time: &str| Moment {
            delay: delay.to_owned(),
            time: time.to_owned(),
            clocks: [("c", delay)].into_iter().collect(),
        };
        let mut timed = trace();
        let moments = vec![moment("5/2", "5/2"), moment("8", "21/2")];
        timed.set_times(Schedule { moments, last_delay: Some("1".to_owned()) });
        let expected = [
            "  0                       x=0, y=a",
            "  1  @5/2   go            x=1",
            "  2  @21/2  a long label  y=b",
            "     -- and 1 later --",
        ];
        assert_eq!(lines(&timed, &StepView::default()), expected);
        let all = lines(&timed, &StepView { full: true, ..StepView::default() });
        assert_eq!(all[2], "  2  @21/2  a long label  x=1, y=b, c=8");
    }

    #[test]
    fn marks_the_loop() {
        let lasso = Trace { loop_start: Some(1), ..trace() };
        let shown = lines(&lasso, &StepView { actions_only: true, ..StepView::default() });
        let expected = [
            "  1  go",
            "     -- the loop starts here --",
            "  2  a long label",
            "     -- back to the state after step 1 --",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn breaks_long_lines_and_takes_traces_without_states() {
        let names: Vec<String> = (0..40).map(|index| format!("parameter{index}")).collect();
        let initial = names.iter().map(|name| (name.clone(), "value".to_owned())).collect();
        let wide = Trace { initial: Some(initial), steps: vec![Step::new("a")], ..Trace::default() };
        let shown = lines(&wide, &StepView::default());
        assert!(shown.len() > 5 && shown.iter().all(|line| line.chars().count() <= LINE), "{shown:#?}");
        assert!(shown[1].starts_with("        parameter"), "{shown:#?}");
        assert_eq!(shown.last().map(String::as_str), Some("  1  a"));
    }

    #[test]
    fn columns_never_break() {
        let long = "x".repeat(300);
        let step = |label: &str, value: &str| Step {
            state: Some(state(&[("value", value), ("other", value)])),
            ..Step::new(label)
        };
        let steps = vec![step("go", "1"), step(&format!("send({long})"), "2"), step("go", &long)];
        let wide =
            Trace { initial: Some(state(&[("value", "0"), ("other", "0")])), steps, ..Trace::default() };
        let shown = lines(&wide, &StepView::default());
        assert!(shown.iter().all(|line| line.chars().count() <= LINE), "{shown:#?}");
        let columns: Vec<usize> = shown
            .iter()
            .filter_map(|line| line.find("value=").map(|at| line[..at].chars().count()))
            .collect();
        assert_eq!(columns, [9, 9, 9, 9], "{shown:#?}");
        assert_eq!(shown.concat().matches('x').count(), 3 * 300, "nothing is lost");
    }

    #[test]
    fn narrow_lines_are_not_exceeded() {
        let names: Vec<String> = (0..12).map(|index| format!("parameter{index}")).collect();
        let values: StateValues = names.iter().map(|name| (name.clone(), "value".to_owned())).collect();
        let steps = ["go", "a_label_of_25_characters"]
            .map(|label| Step { state: Some(state(&[("parameter0", "other")])), ..Step::new(label) });
        let trace = Trace { initial: Some(values), steps: steps.to_vec(), ..Trace::default() };
        for width in [40, 60, 80, 110] {
            let shown = lines(&trace, &StepView { width, ..StepView::default() });
            assert!(shown.iter().all(|line| line.chars().count() <= width), "{width}: {shown:#?}");
        }
    }

    #[test]
    fn repeated_loops_are_folded() {
        let trace = |labels: &[&str]| Trace {
            steps: labels.iter().map(|label| Step::new(*label)).collect(),
            ..Trace::default()
        };
        let mut labels = vec!["start"];
        labels.extend(["ask", "answer"].repeat(9));
        labels.push("stop");
        let shown = lines(&trace(&labels), &StepView::default());
        let expected =
            ["  1  start", "  2  ask", "  3  answer", "     … 16 more steps of the same loop", " 20  stop"];
        assert_eq!(shown, expected);
        let all = lines(&trace(&labels), &StepView { full: true, ..StepView::default() });
        assert_eq!(all.len(), labels.len());
        // The end of a trace is what it is about.
        let shown = lines(&trace(&["tick"].repeat(30)), &StepView::default());
        assert_eq!(shown, ["  1  tick", "     … 28 more steps of the same loop", " 30  tick"]);
        // Short ones, and those without a loop, are shown as they are.
        assert_eq!(lines(&trace(&["tick"].repeat(12)), &StepView::default()).len(), 12);
        let different: Vec<String> = (0..40).map(|number| format!("a({number})")).collect();
        let different: Vec<&str> = different.iter().map(String::as_str).collect();
        assert_eq!(lines(&trace(&different), &StepView::default()).len(), 40);
        let lasso = Trace { loop_start: Some(10), ..trace(&["tick"].repeat(30)) };
        assert_eq!(lines(&lasso, &StepView::default()).len(), 32, "the loop itself is marked instead");
    }
}
