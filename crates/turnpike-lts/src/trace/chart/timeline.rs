//! Values of variables over the steps of a trace, or over time.

use turnpike_model::{Diagnostic, StateValues, Trace};

use super::canvas::{CHARACTER, Canvas, Drawing, axis_length};
use super::run::{MAX_CHARTED_STEPS, value};
use crate::drawing::shortened;

/// Pixels: a step at least and at most, the last value of a timed run, and the rows.
const STEP: (f64, f64) = (8.0, 72.0);
const TAIL: f64 = 72.0;
const ROW: f64 = 26.0;
const BAR: f64 = 18.0;
const THIN: f64 = 1.5;
const TINTS: usize = 8;
/// Characters of a name that are shown.
const NAME: usize = 30;

/// Values of variables in the states of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline<'a> {
    /// One for each variable.
    pub rows: Vec<TimelineRow<'a>>,
    /// The steps that are drawn.
    pub steps: Vec<TimelineStep<'a>>,
    /// When the first drawn state is reached, in traces with times.
    pub start_time: f64,
    /// Steps before the first one that is drawn.
    pub left_out: usize,
}

/// A step between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineStep<'a> {
    /// Its number in the whole trace, from 1.
    pub step: usize,
    /// The label of the transition.
    pub label: &'a str,
    /// Text of its time and the value, if all steps have a time.
    pub time: Option<(&'a str, f64)>,
}

/// The values of one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineRow<'a> {
    /// The variable.
    pub name: &'a str,
    /// Its values, one after the other: each begins where the one before ends, and two in a row are
    /// different.
    pub bars: Vec<Bar<'a>>,
}

/// States in a row in which a variable has the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar<'a> {
    /// The value.
    pub value: &'a str,
    /// The first of the drawn states that has it; 0 is the one before the first drawn step.
    pub from: usize,
    /// The state behind the last one that has it.
    pub to: usize,
}

impl<'a> Timeline<'a> {
    /// The values of these variables; of all that change if none are named.
    pub fn of(trace: &'a Trace, names: &[String]) -> Result<Self, Diagnostic> {
        let left_out = trace.len().saturating_sub(MAX_CHARTED_STEPS);
        let mut states: Vec<&'a StateValues> = Vec::new();
        let all = std::iter::once(trace.initial.as_ref());
        for values in all.chain(trace.steps.iter().map(|step| step.state.as_ref())).skip(left_out) {
            let missing = || {
                Diagnostic::error("the states of this trace have no values")
                    .help("witnesses of models have them when they are written as .json; those of programs have none")
            };
            states.push(values.ok_or_else(missing)?);
        }
        let known: Vec<&'a str> =
            states.first().map_or(Vec::new(), |first| first.iter().map(|(name, _)| name).collect());
        let mut rows = Vec::new();
        for name in names {
            let Some(&name) = known.iter().find(|&&other| other == name) else {
                let error = Diagnostic::error(format!("the states of this trace have no value `{name}`"));
                return Err(error.suggest_or_list(name, known.iter().copied(), "the values are"));
            };
            rows.push(TimelineRow { name, bars: bars(&states, name) });
        }
        if names.is_empty() {
            let every = known.iter().map(|&name| TimelineRow { name, bars: bars(&states, name) });
            rows.extend(every.filter(|row| row.bars.len() > 1));
        }
        let times: Option<Vec<(&str, f64)>> = trace.steps[left_out..]
            .iter()
            .map(|step| step.time.as_deref().and_then(|text| Some((text, value(text)?))))
            .collect();
        let steps = trace.steps.iter().enumerate().skip(left_out);
        let steps = steps.map(|(index, step)| {
            let time = times.as_ref().map(|times| times[index - left_out]);
            TimelineStep { step: index + 1, label: &step.label, time }
        });
        let before = left_out.checked_sub(1).map(|last| &trace.steps[last]);
        let start_time = before.and_then(|step| value(step.time.as_deref()?)).unwrap_or(0.0);
        Ok(Timeline { rows, steps: steps.collect(), start_time, left_out })
    }

    fn scale(&self, gutter: f64, width: Option<u32>) -> Scale<'_> {
        let axis = axis_length(width, gutter + TAIL);
        let end = self.steps.last().and_then(|last| last.time).map(|(_, time)| time);
        let kind = match end {
            Some(end) if end > self.start_time => Kind::Time(axis / (end - self.start_time)),
            _ => Kind::Steps((axis / (self.steps.len() + 1) as f64).clamp(STEP.0, STEP.1)),
        };
        Scale { timeline: self, gutter, axis, kind }
    }
}

fn bars<'a>(states: &[&'a StateValues], name: &str) -> Vec<Bar<'a>> {
    let mut bars: Vec<Bar<'a>> = Vec::new();
    for (index, state) in states.iter().enumerate() {
        let value = state.get(name).unwrap_or_default();
        match bars.last_mut() {
            Some(last) if last.value == value => last.to = index + 1,
            _ => bars.push(Bar { value, from: index, to: index + 1 }),
        }
    }
    bars
}

/// Where states are.
struct Scale<'t> {
    timeline: &'t Timeline<'t>,
    gutter: f64,
    axis: f64,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Pixels of a step.
    Steps(f64),
    /// Pixels of a unit of time.
    Time(f64),
}

impl Scale<'_> {
    /// Where a state begins; the one behind the last is the end.
    fn x(&self, state: usize) -> f64 {
        let steps = &self.timeline.steps;
        self.gutter
            + match self.kind {
                Kind::Steps(width) => width * state as f64,
                Kind::Time(_) if state > steps.len() => self.axis + TAIL,
                Kind::Time(unit) => {
                    let time = state.checked_sub(1).and_then(|step| steps[step].time);
                    (time.map_or(0.0, |(_, time)| time - self.timeline.start_time) * unit)
                        .clamp(0.0, self.axis)
                }
            }
    }

    fn end(&self) -> f64 {
        self.x(self.timeline.steps.len() + 1)
    }
}

/// Pixels that the names of variables need.
pub(crate) fn gutter<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    names.map(|name| name.chars().count()).max().unwrap_or(0).min(NAME) as f64 * CHARACTER + 12.0
}

pub(super) fn draw(timeline: &Timeline<'_>, width: Option<u32>) -> Drawing {
    let gutter = gutter(timeline.rows.iter().map(|row| row.name));
    let scale = timeline.scale(gutter, width);
    let mut canvas = Canvas::default();
    let mut top = 0.0;
    if timeline.left_out > 0 {
        let (drawn, before) = (timeline.steps.len(), timeline.left_out);
        let note = format!("the last {drawn} steps; {before} before them are not drawn");
        canvas.text("note", "start", (0.0, 8.0), &note, "");
        top += 24.0;
    }
    for (index, row) in timeline.rows.iter().enumerate() {
        bars_of_row(&mut canvas, &scale, row, top + ROW * index as f64);
    }
    axis(&mut canvas, &scale, top, top + ROW * timeline.rows.len() as f64);
    canvas.finish(format!("{} variables, {} steps", timeline.rows.len(), timeline.steps.len()))
}

/// One row alone, with the same scale as others of the same gutter.
pub(crate) fn draw_row(timeline: &Timeline<'_>, row: &TimelineRow<'_>, gutter: f64) -> Drawing {
    let mut canvas = Canvas::default();
    bars_of_row(&mut canvas, &timeline.scale(gutter, None), row, 0.0);
    canvas.finish(format!("{}: {} values", row.name, row.bars.len()))
}

/// The axis alone.
pub(crate) fn draw_axis(timeline: &Timeline<'_>, gutter: f64) -> Drawing {
    let mut canvas = Canvas::default();
    axis(&mut canvas, &timeline.scale(gutter, None), 0.0, 8.0);
    canvas.finish(format!("{} steps", timeline.steps.len()))
}

fn bars_of_row(canvas: &mut Canvas, scale: &Scale<'_>, row: &TimelineRow<'_>, y: f64) {
    let middle = y + BAR / 2.0 + 3.5;
    canvas.text("name", "end", (scale.gutter - 8.0, middle), &shortened(row.name, NAME), row.name);
    let mut values: Vec<&str> = Vec::new();
    for bar in &row.bars {
        let tint = values.iter().position(|&known| known == bar.value).unwrap_or_else(|| {
            values.push(bar.value);
            values.len() - 1
        });
        let (from, to) = (scale.x(bar.from), scale.x(bar.to));
        let class = format!("bar t{}", tint % TINTS);
        let first = scale.timeline.left_out + bar.from;
        let since = if first == 0 { "from the start".to_owned() } else { format!("from step {first}") };
        let title = format!("{} = {} {since}", row.name, bar.value);
        canvas.labelled(&class, (from, y), ((to - from).max(THIN), BAR), bar.value, &title);
    }
}

/// The axis, with a group for each step between two heights.
fn axis(canvas: &mut Canvas, scale: &Scale<'_>, top: f64, bottom: f64) {
    canvas.line("axis", (scale.gutter, bottom), (scale.end(), bottom), "");
    let mut free = f64::NEG_INFINITY;
    for (index, &TimelineStep { step, label, time }) in scale.timeline.steps.iter().enumerate() {
        let (at, next) = (scale.x(index + 1), scale.x(index + 2));
        let text = match (scale.kind, time) {
            (Kind::Time(_), Some((time, _))) => time.to_owned(),
            _ => step.to_string(),
        };
        let mut title = format!("step {step}: {label}");
        if let Some((time, _)) = time {
            title.push_str(&format!("\nat {time}"));
        }
        canvas.step(step, |canvas| {
            canvas.rectangle("hit", (at, top), ((next - at).max(3.0), bottom - top + 6.0), &title);
            canvas.line("moment", (at, top - 2.0), (at, bottom + 6.0), &title);
            let width = text.chars().count() as f64 * CHARACTER;
            if at - width / 2.0 > free {
                free = at + width / 2.0 + 8.0;
                canvas.text("time", "middle", (at, bottom + 18.0), &text, &title);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::greetings;
    use super::super::timeline_chart;
    use super::*;

    #[test]
    fn values_are_bars_without_gaps() {
        let trace = greetings(4);
        let timeline = Timeline::of(&trace, &[]).expect("values");
        let names: Vec<&str> = timeline.rows.iter().map(|row| row.name).collect();
        assert_eq!(names, ["A<1>", "B", "count"], "what never changes is not drawn");
        let chosen = Timeline::of(&trace, &["still".to_owned(), "count".to_owned()]).expect("values");
        assert_eq!(chosen.rows[0].bars, [Bar { value: "put", from: 0, to: 5 }]);
        assert_eq!(chosen.rows[1].bars.len(), 5);
        let last = TimelineStep { step: 4, label: "A<1>@hello!,B@hello?", time: Some(("4", 4.0)) };
        assert_eq!(chosen.steps[3], last);
    }

    #[test]
    fn every_bar_and_every_step_is_drawn() {
        let names = ["count".to_owned(), "still".to_owned()];
        for timed in [true, false] {
            let mut trace = greetings(900);
            if !timed {
                trace.steps.iter_mut().for_each(|step| step.time = None);
            }
            let picture = timeline_chart(&trace, &names, None).expect("drawn").file();
            assert_eq!(picture.matches("class=\"bar").count(), 401 + 1);
            assert_eq!(picture.matches("data-step=").count(), 400);
            assert!(picture.contains("500 before them are not drawn"));
            assert!(!picture.contains("NaN") && !picture.contains("inf"));
        }
    }
}
