//! Message sequence charts: time flows down.

use turnpike_model::Trace;

use super::canvas::{CHARACTER, Canvas, Drawing, MARGIN};
use super::run::{ArrowKind, Event, Part, Run, giver};
use crate::drawing::shortened;

/// Pixels between steps; what more a text below an arrow takes, and a delay: at least this, and up to
/// `LONGEST` for the longest delay of the run, in proportion.
const ROW: f64 = 40.0;
const BELOW: f64 = 10.0;
const PAUSE: f64 = 8.0;
const LONGEST: f64 = 64.0;
const BOX: f64 = 20.0;
const PLACE: f64 = 16.0;
/// A lane at least; and the part of its usual width that it has at least where the picture would be too wide.
const COLUMN: f64 = 96.0;
const NARROW: f64 = 0.7;
/// Characters of a label in the margin, of a component's name or place, and of an action.
const LABEL: usize = 26;
const NAME: usize = 22;
const ACTION: usize = 24;

pub(super) fn draw(trace: &Trace, run: &Run<'_>, width: Option<u32>) -> Drawing {
    let mut chart = Chart::new(run, width);
    let mut y = 0.0;
    if let Some(note) = run.note() {
        chart.canvas.text("note", "start", (0.0, 8.0), &note, "");
        y += 24.0;
    }
    let top = y + BOX;
    for (index, lane) in run.lanes.iter().enumerate() {
        let width = chart.column - 16.0;
        let corner = (chart.centre(index) - width / 2.0, y);
        chart.canvas.labelled("process", corner, (width, BOX), lane.name, lane.name);
    }
    let mut places: Vec<Option<&str>> = run.lanes.iter().map(|lane| lane.start).collect();
    y = top + 8.0;
    for (lane, place) in places.iter().enumerate() {
        if let Some(place) = place {
            chart.place(lane, y, place);
        }
    }
    y += PLACE;
    chart.rows.push((y, y));
    let longest = run.events.iter().filter_map(|event| event.delay).map(|(_, delay)| delay);
    let longest = longest.fold(0.0, f64::max);
    let right = chart.right();
    for event in &run.events {
        if let Some((text, delay)) = event.delay
            && text != "0"
        {
            y += PAUSE + if longest > 0.0 { (LONGEST - PAUSE) * delay.max(0.0) / longest } else { 0.0 };
            chart.canvas.line("moment", (0.0, y), (right, y), &format!("{text} later"));
        }
        y += ROW - PLACE;
        let begins = y - ROW / 2.0;
        let arrows = y - 6.0;
        y += if below(event).next().is_some() { BELOW } else { 0.0 };
        chart.draw_event(event, (begins, arrows, y), &places);
        if event.places.iter().any(Option::is_some) {
            places.clone_from(&event.places);
        }
        y += PLACE;
        chart.rows.push((arrows, y));
    }
    if let Some(delay) = trace.last_delay.as_deref() {
        y += ROW / 2.0;
        chart.canvas.text("time", "start", (0.0, y), &format!("{delay} later the objective is met"), "");
    }
    for (index, lane) in run.lanes.iter().enumerate() {
        let x = chart.centre(index);
        chart.canvas.lifeline((x, top), (x, y + 12.0), lane.name);
    }
    if let Some(back) = trace.loop_start {
        let text = format!("and again from the state after step {back}");
        chart.canvas.text("note", "start", (0.0, y + 28.0), &text, "");
        // The beginning of the loop may be among the steps that are not drawn.
        if let Some(&(_, target)) = back.checked_sub(run.left_out).and_then(|index| chart.rows.get(index)) {
            chart.canvas.line("back", (right, y), (right, target), &text);
        }
    }
    let title = format!("{} components, {} steps", run.lanes.len(), trace.len());
    chart.canvas.finish(title)
}

struct Chart<'r, 'a> {
    run: &'r Run<'a>,
    canvas: Canvas,
    /// Pixels of a lane, and of what is left of the first one.
    column: f64,
    gutter: f64,
    /// Where labels begin in the margin.
    labels: f64,
    /// By drawn step, the initial state first: where its arrows are, and where the state after it is.
    rows: Vec<(f64, f64)>,
}

impl<'r, 'a> Chart<'r, 'a> {
    fn new(run: &'r Run<'a>, width: Option<u32>) -> Self {
        let length = |text: &str| text.chars().count();
        let places = run.lanes.iter().filter_map(|lane| lane.start);
        let places = places.chain(run.events.iter().flat_map(|event| event.places.iter().flatten().copied()));
        let names = run.lanes.iter().map(|lane| lane.name).chain(places).map(length).max().unwrap_or(0);
        let actions = run.events.iter().flat_map(|event| &event.parts).map(|part| length(part.action));
        let longest = names.min(NAME).max(actions.max().unwrap_or(0).min(ACTION)).max(8);
        let stamps = run.events.iter().map(|event| length(&stamp(event))).max().unwrap_or(0).max(3);
        let labels = (stamps + 2) as f64 * CHARACTER;
        let shown = run.events.iter().filter(|event| shows_label(run, event));
        let widest = shown.map(|event| length(event.label).min(LABEL)).max();
        let gutter = labels + widest.map_or(0.0, |widest| (widest + 2) as f64 * CHARACTER);
        let usual = (longest as f64 * CHARACTER + 28.0).max(COLUMN);
        let column = width.map_or(usual, |width| {
            let fitting = (f64::from(width) - gutter - 2.0 * MARGIN) / run.lanes.len().max(1) as f64;
            fitting.clamp((NARROW * usual).max(COLUMN), usual)
        });
        Chart { run, canvas: Canvas::default(), column, gutter, labels, rows: Vec::new() }
    }

    /// Where the line of a lane is.
    fn centre(&self, lane: usize) -> f64 {
        self.gutter + self.column * (lane as f64 + 0.5)
    }

    fn right(&self) -> f64 {
        self.gutter + self.column * self.run.lanes.len() as f64
    }

    fn place(&mut self, lane: usize, y: f64, text: &str) {
        let middle = (self.centre(lane), y);
        draw_place(&mut self.canvas, middle, self.column, text, self.run.lanes[lane].name);
    }

    /// A step at three heights: where its row begins, where its arrows are, and the places below.
    fn draw_event(&mut self, event: &Event<'a>, (top, y, places): (f64, f64, f64), before: &[Option<&str>]) {
        let (run, gutter, column, labels, right) =
            (self.run, self.gutter, self.column, self.labels, self.right());
        let centre = |lane: usize| gutter + column * (lane as f64 + 0.5);
        let row_of = |step: usize| {
            let index = step.checked_sub(run.left_out).filter(|_| step > 0);
            index.and_then(|index| self.rows.get(index)).map(|&(arrows, _)| arrows)
        };
        // What was given before the first step of a lane is drawn short, but above that step, and below where the lane
        // begins.
        let start = self.rows.first().map_or(0.0, |&(_, state)| state);
        let before_first = |lane: usize| {
            let acts = |event: &&Event<'_>| event.parts.iter().any(|part| part.lane == lane);
            let first = run.events.iter().find(acts).and_then(|first| row_of(first.step));
            first.map_or(y - ROW * 0.6, |first| (first - 12.0).min(y - ROW * 0.6)).max(start)
        };
        let handovers = run.arrows.iter().filter(|arrow| arrow.to.0 == event.step);
        let handovers: Vec<(f64, f64, f64, &str)> = handovers
            .filter(|arrow| arrow.kind == ArrowKind::Handover)
            .map(|arrow| {
                let from = row_of(arrow.from.0).unwrap_or_else(|| before_first(arrow.from.1));
                (centre(arrow.from.1), from, centre(arrow.to.1), arrow.action)
            })
            .collect();
        let title = tooltip(run, event);
        let moved: Vec<(usize, &str)> = (event.places.iter().enumerate())
            .filter_map(|(lane, place)| Some((lane, (*place)?)))
            .filter(|&(lane, place)| before[lane] != Some(place))
            .collect();
        let mut canvas = std::mem::take(&mut self.canvas);
        canvas.step(event.step, |canvas| {
            let row = (right, places + PLACE - top);
            canvas.rectangle("hit", (0.0, top), row, &title);
            canvas.text("time", "start", (0.0, y + 3.5), &stamp(event), &title);
            if shows_label(run, event) {
                canvas.text("label", "start", (labels, y + 3.5), &shortened(event.label, LABEL), &title);
            }
            for &(x1, from, x2, action) in &handovers {
                let title = format!("{action}\n{title}");
                canvas.arrow("handover", "handover-head", (x1, from), (x2, y), &title);
            }
            draw_parts(canvas, run, event, y, &centre, column, &title);
            for &(lane, place) in &moved {
                draw_place(canvas, (centre(lane), places), column, place, run.lanes[lane].name);
            }
        });
        self.canvas = canvas;
    }
}

/// Where a component is, as a box below a point.
fn draw_place(canvas: &mut Canvas, (x, y): (f64, f64), column: f64, text: &str, component: &str) {
    let width = (text.chars().count().min(NAME) as f64 * CHARACTER + 12.0).min(column - 12.0);
    let title = format!("{component}: {text}");
    canvas.labelled("place", (x - width / 2.0, y), (width, PLACE), text, &title);
}

/// The parts of a step: marks, and lines between those who act together.
fn draw_parts(
    canvas: &mut Canvas,
    run: &Run<'_>,
    event: &Event<'_>,
    y: f64,
    centre: &impl Fn(usize) -> f64,
    column: f64,
    title: &str,
) {
    let arrows = run.arrows.iter().filter(|arrow| arrow.to.0 == event.step);
    let arrows: Vec<_> = arrows.filter(|arrow| arrow.kind != ArrowKind::Handover).collect();
    let Some(first) = arrows.first() else {
        for part in &event.parts {
            let at = (centre(part.lane), y);
            canvas.dot(at, title);
            if part.action != "tau" {
                let text = shortened(part.action, ACTION);
                canvas.text("message", "start", (at.0 + 7.0, y + 3.5), &text, title);
            }
        }
        return;
    };
    for arrow in &arrows {
        let (from, to) = ((centre(arrow.from.1), y), (centre(arrow.to.1), y));
        match arrow.kind {
            ArrowKind::Message => canvas.arrow("arrow", "head", from, to, title),
            _ => {
                canvas.line("sync", from, to, title);
                canvas.dot(to, title);
            }
        }
    }
    let ends: Vec<f64> = arrows.iter().map(|arrow| centre(arrow.to.1)).collect();
    let near = ends.iter().copied().min_by(|one, other| {
        let distance = |x: f64| (x - centre(first.from.1)).abs();
        distance(*one).total_cmp(&distance(*other))
    });
    let from = centre(first.from.1);
    let direction = (near.unwrap_or(from) - from).signum();
    let at = (from + direction * column / 2.0, y - 4.0);
    let given = giver(event).map(plain).unwrap_or_default();
    canvas.text("message", "middle", at, &shortened(given, ACTION), title);
    for part in below(event) {
        let x = centre(part.lane);
        let at = (x - (x - from).signum() * column / 2.0, y + 12.0);
        canvas.text("message", "middle", at, &shortened(plain(part), ACTION), title);
    }
}

/// What a part does, without the mark of its direction, which the arrow shows.
fn plain<'a>(part: &Part<'a>) -> &'a str {
    part.action.trim_end_matches(['!', '?'])
}

/// The parts whose actions stand below the arrow, beside them: those that do not say the same as the
/// first.
fn below<'e, 'a>(event: &'e Event<'a>) -> impl Iterator<Item = &'e Part<'a>> {
    let first = giver(event);
    event
        .parts
        .iter()
        .filter(move |part| first.is_some_and(|first| first.lane != part.lane && plain(first) != plain(part)))
}

/// Number and time of a step.
fn stamp(event: &Event<'_>) -> String {
    match event.time {
        Some((time, _)) => format!("{} @{time}", event.step),
        None => event.step.to_string(),
    }
}

fn tooltip(run: &Run<'_>, event: &Event<'_>) -> String {
    let mut title = format!("step {}: {}", event.step, event.label);
    if let Some((time, _)) = event.time {
        title.push_str(&format!("\nat {time}"));
    }
    if event.parts.len() > 1 {
        for part in &event.parts {
            title.push_str(&format!("\n{}: {}", run.lanes[part.lane].name, part.action));
        }
    }
    title
}

/// Whether a label says more than its parts.
fn shows_label(run: &Run<'_>, event: &Event<'_>) -> bool {
    !event
        .parts
        .iter()
        .any(|part| part.action == event.label || event.label.contains(run.lanes[part.lane].name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::greetings;
    use super::super::{Drawing, sequence_chart};
    use turnpike_model::{Handover, Participant, Step, Trace};

    fn count(drawing: &Drawing, class: &str) -> usize {
        drawing.element().matches(&format!("class=\"{class}\"")).count()
    }

    #[test]
    fn every_component_has_a_line_and_every_message_an_arrow() {
        let picture = sequence_chart(&greetings(5), None);
        for (class, expected) in [("lifeline", 3), ("arrow", 5), ("head", 5), ("moment", 5), ("step", 5)] {
            assert_eq!(count(&picture, class), expected, "{class}");
        }
        // Three places at first, and two new ones after each step.
        assert_eq!(count(&picture, "place"), 3 + 2 * 5);
        let text = picture.file();
        assert!(text.contains("A&lt;1&gt;") && !text.contains("A<1>"));
        assert!((1..=5).all(|step| text.matches(&format!("data-step=\"{step}\"")).count() == 1));
        assert_eq!(picture, sequence_chart(&greetings(5), None), "the same picture every time");
    }

    #[test]
    fn labels_of_old_traces_name_processes() {
        let labels = ["P@a!,Q@a?,R@a?", "P@x,Q@y,R@z", "P@tau", "R@b!", "Q@c!,P@c?", "stay"];
        let trace = Trace { steps: labels.map(Step::new).to_vec(), loop_start: Some(1), ..Trace::default() };
        let picture = sequence_chart(&trace, None);
        for (class, expected) in [("arrow", 3), ("sync", 2), ("dot", 2 + 2), ("back", 1), ("step", 6)] {
            assert_eq!(count(&picture, class), expected, "{class}");
        }
        let text = picture.element();
        assert!(text.contains("again from the state after step 1") && text.contains("</title>stay</text>"));
    }

    #[test]
    fn systems_without_components_have_one_line() {
        let trace = Trace { steps: ["send(1)", "tau"].map(Step::new).to_vec(), ..Trace::default() };
        let picture = sequence_chart(&trace, None);
        assert_eq!((count(&picture, "lifeline"), count(&picture, "dot"), count(&picture, "step")), (1, 2, 2));
        assert!(picture.element().contains("</title>send(1)</text>"));
        assert_eq!(count(&sequence_chart(&Trace::default(), None), "lifeline"), 1);
    }

    #[test]
    fn handovers_lead_from_the_step_that_gave() {
        let part = |component: &str, action: &str, after: &[(&str, usize, &str)]| Participant {
            component: component.into(),
            action: action.into(),
            after: after
                .iter()
                .map(|&(component, step, action)| Handover {
                    component: component.into(),
                    step,
                    action: action.into(),
                })
                .collect(),
            ..Participant::default()
        };
        let step = |part: Participant| Step { parts: Some(vec![part]), ..Step::new("step") };
        let trace = Trace {
            components: ["main", "main.0"].map(str::to_owned).to_vec(),
            steps: vec![
                step(part("main", "lock m", &[])),
                step(part("main", "unlock m", &[])),
                step(part("main.0", "lock m", &[("main", 0, "create main.0"), ("main", 2, "unlock m")])),
            ],
            ..Trace::default()
        };
        let run = super::super::Run::of(&trace);
        let ends: Vec<_> = run.arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
        assert_eq!(ends, [((0, 0), (3, 1)), ((2, 0), (3, 1))]);
        assert_eq!(count(&sequence_chart(&trace, None), "handover"), 2);
    }

    #[test]
    fn what_is_given_before_the_first_step_begins_below_the_places() {
        let after = vec![Handover { component: "main".into(), step: 0, action: "create main.0".into() }];
        let part = Participant {
            component: "main.0".into(),
            action: "lock m".into(),
            after,
            ..Participant::default()
        };
        let places = [("main", "joins"), ("main.0", "locks m")];
        let places = places.map(|(name, place)| (name.to_owned(), place.to_owned()));
        let trace = Trace {
            components: ["main", "main.0"].map(str::to_owned).to_vec(),
            initial: Some(places.into_iter().collect()),
            steps: vec![Step { parts: Some(vec![part]), ..Step::new("step") }],
            ..Trace::default()
        };
        let picture = sequence_chart(&trace, None).element();
        let number = |class: &str, before: &str| -> f64 {
            let element = picture.split(&format!("class=\"{class}\"")).nth(1).expect("drawn");
            let rest = element.split(before).nth(1).expect("a number");
            let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
            rest[..end.expect("its end")].parse().expect("a number")
        };
        let bottom = number("place", " y=\"") + number("place", " height=\"");
        assert!(number("handover", ",") >= bottom, "{picture}");
    }

    #[test]
    fn long_runs_are_cut_with_a_note() {
        let mut trace = greetings(1000);
        trace.loop_start = Some(3);
        let picture = sequence_chart(&trace, None);
        assert_eq!((count(&picture, "arrow"), count(&picture, "step")), (400, 400));
        assert!(picture.element().contains("the last 400 steps; 600 before them are not drawn"));
        assert_eq!(count(&picture, "back"), 0, "its end is not in the picture");
    }
}
