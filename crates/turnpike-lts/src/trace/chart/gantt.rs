//! Locations over time, as bars.

use turnpike_model::Trace;

use super::canvas::{CHARACTER, Canvas, Drawing, axis_length};
use super::run::{Run, value};

/// Pixels: the last location beyond the end of the time axis, and the rows.
const TAIL: f64 = 72.0;
const ROW: f64 = 30.0;
const BAR: f64 = 20.0;
/// A stay without duration is still seen.
const THIN: f64 = 2.0;
const TINTS: usize = 8;

/// A stay of a process in a location.
struct Stay<'a> {
    place: &'a str,
    from: f64,
    to: f64,
    /// It has not ended when the run does.
    open: bool,
}

pub(super) fn draw(trace: &Trace, run: &Run<'_>, width: Option<u32>) -> Drawing {
    let mut canvas = Canvas::default();
    let gutter = run.lanes.iter().map(|lane| lane.name.chars().count()).max().unwrap_or(0).min(30) as f64
        * CHARACTER
        + 12.0;
    let axis = axis_length(width, gutter + TAIL);
    let begin = run.start_time;
    let last_step = run.events.last().and_then(|event| event.time).map_or(begin, |(_, time)| time);
    let end = last_step + trace.last_delay.as_deref().and_then(value).unwrap_or(0.0);
    // A run that takes no time has all its bars at the left.
    let scale = if end > begin { axis / (end - begin) } else { 0.0 };
    let x = |time: f64| gutter + ((time - begin) * scale).clamp(0.0, axis);
    let mut top = 0.0;
    if let Some(note) = run.note() {
        canvas.text("note", "start", (0.0, 8.0), &note, "");
        top += 24.0;
    }
    let bottom = top + ROW * run.lanes.len() as f64;
    for (lane, name) in run.lanes.iter().map(|lane| lane.name).enumerate() {
        let y = top + ROW * lane as f64;
        let shown = crate::drawing::shortened(name, 30);
        canvas.text("process-name", "end", (gutter - 8.0, y + BAR / 2.0 + 3.5), &shown, name);
        let mut tints: Vec<&str> = Vec::new();
        for stay in stays(run, lane, end) {
            let tint = tints.iter().position(|&known| known == stay.place).unwrap_or_else(|| {
                tints.push(stay.place);
                tints.len() - 1
            });
            let width = (x(stay.to) - x(stay.from) + if stay.open { TAIL } else { 0.0 }).max(THIN);
            let class = format!("bar t{}{}", tint % TINTS, if stay.open { " open" } else { "" });
            let until = if stay.open { "the end".to_owned() } else { stay.to.to_string() };
            let title = format!("{name}: {} from {} to {until}", stay.place, stay.from);
            canvas.labelled(&class, (x(stay.from), y), (width, BAR), stay.place, &title);
        }
    }
    canvas.line("axis", (gutter, bottom), (gutter + axis + TAIL, bottom), "");
    // Times of steps where there is room for them.
    let mut free = f64::NEG_INFINITY;
    for event in &run.events {
        let Some((text, time)) = event.time else { continue };
        let at = x(time);
        let title = format!("step {}: {}\nat {text}", event.step, event.label);
        let width = text.chars().count() as f64 * CHARACTER;
        canvas.step(event.step, |canvas| {
            canvas.rectangle("hit", (at - 3.0, top - 4.0), (6.0, bottom - top + 10.0), &title);
            canvas.line("moment", (at, top - 4.0), (at, bottom + 6.0), &title);
            if at - width / 2.0 > free {
                free = at + width / 2.0 + 8.0;
                canvas.text("time", "middle", (at, bottom + 18.0), text, &title);
            }
        });
    }
    if let Some(back) = trace.loop_start {
        let text = format!("and again from the state after step {back}");
        canvas.text("note", "start", (gutter, bottom + 36.0), &text, "");
        let target = match back.checked_sub(run.left_out) {
            Some(0) => Some(begin),
            Some(index) => run.events.get(index - 1).and_then(|event| event.time).map(|(_, time)| time),
            None => None,
        };
        if let Some(time) = target {
            canvas.line("back", (x(time), top - 4.0), (x(time), bottom + 6.0), &text);
        }
    }
    canvas.finish(format!("{} processes, {} steps, until {end}", run.lanes.len(), trace.len()))
}

/// The stays of a process, one after the other. A move to the location it is in begins a new one.
fn stays<'a>(run: &Run<'a>, lane: usize, end: f64) -> Vec<Stay<'a>> {
    let mut stays: Vec<Stay<'a>> = Vec::new();
    let mut enter = |place: Option<&'a str>, at: f64| {
        if let Some(last) = stays.last_mut() {
            (last.to, last.open) = (at, false);
        }
        if let Some(place) = place {
            stays.push(Stay { place, from: at, to: end, open: true });
        }
    };
    enter(run.lanes[lane].start, run.start_time);
    for event in &run.events {
        if let Some((_, time)) = event.time
            && event.parts.iter().any(|part| part.lane == lane)
        {
            enter(event.places[lane], time);
        }
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::super::Run;
    use super::super::gantt_chart;
    use super::super::tests::greetings;
    use super::stays;

    #[test]
    fn stays_follow_each_other() {
        let trace = greetings(3);
        let run = Run::of(&trace);
        let found: Vec<_> =
            stays(&run, 0, 4.0).iter().map(|stay| (stay.place, stay.from, stay.to, stay.open)).collect();
        let expected = [
            ("here0", 0.0, 1.0, false),
            ("here1", 1.0, 2.0, false),
            ("here2", 2.0, 3.0, false),
            ("here0", 3.0, 4.0, true),
        ];
        assert_eq!(found, expected);
        assert_eq!(stays(&run, 2, 4.0).len(), 1, "it never moves");
    }

    #[test]
    fn every_stay_is_a_bar() {
        let picture = gantt_chart(&greetings(5), None).expect("drawn").file();
        assert_eq!(picture.matches("class=\"bar").count(), 6 + 6 + 1);
        assert_eq!(picture.matches("class=\"process-name\"").count(), 3);
        assert_eq!(picture.matches("class=\"moment\"").count(), 5);
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
        let mut trace = greetings(900);
        trace.loop_start = Some(700);
        trace.last_delay = Some("1/2".into());
        let picture = gantt_chart(&trace, None).expect("drawn").file();
        assert_eq!(picture.matches("class=\"bar").count(), 401 + 401 + 1);
        assert!(picture.contains("until 900.5") && picture.contains("500 before them are not drawn"));
        assert_eq!(picture.matches("class=\"back\"").count(), 1);
    }

    #[test]
    fn a_run_without_duration_is_drawn() {
        let mut trace = greetings(3);
        for step in &mut trace.steps {
            (step.time, step.delay) = (Some("0".into()), Some("0".into()));
        }
        let picture = gantt_chart(&trace, None).expect("drawn").file();
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
        assert_eq!(picture.matches("class=\"bar").count(), 4 + 4 + 1);
    }
}
