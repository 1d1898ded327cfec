//! Message sequence charts: time flows down.

use turnpike_model::Trace;

use super::canvas::{CHARACTER, Canvas};
use super::{Event, Role, Run};

/// Pixels between the steps, and what more a delay takes.
const ROW: f64 = 40.0;
const PAUSE: f64 = 14.0;
const BOX: f64 = 20.0;
const PLACE: f64 = 16.0;
/// Room for numbers and times at the left.
const GUTTER: f64 = 110.0;

pub(super) fn draw(trace: &Trace, run: &Run<'_>) -> String {
    let mut chart = Chart { canvas: Canvas::default(), column: column_width(run) };
    let mut y = 0.0;
    if let Some(note) = run.note() {
        chart.canvas.text("note", "start", (0.0, 8.0), &note, "");
        y += 24.0;
    }
    let top = y + BOX;
    let mut places = run.start.clone();
    for (process, &name) in run.processes.iter().enumerate() {
        let width = chart.column - 16.0;
        chart.canvas.labelled("process", (chart.centre(process) - width / 2.0, y), (width, BOX), name, name);
    }
    y = top + 8.0;
    for (process, place) in places.iter().enumerate() {
        if let Some(place) = place {
            chart.place(process, y, place);
        }
    }
    y += PLACE;
    // Where the state after each drawn step is, for the way back of a loop.
    let mut after = vec![y];
    for event in &run.events {
        if event.delay.is_some_and(|delay| delay != "0") {
            y += PAUSE;
            let right = chart.centre(run.processes.len() - 1) + chart.column / 2.0;
            chart.canvas.line("moment", (0.0, y), (right, y), "");
        }
        y += ROW - PLACE;
        chart.event(event, y - 6.0);
        for (process, place) in event.locations.iter().enumerate() {
            if let Some(place) = place
                && places[process] != Some(place)
            {
                chart.place(process, y, place);
            }
        }
        if event.locations.iter().any(Option::is_some) {
            places.clone_from(&event.locations);
        }
        y += PLACE;
        after.push(y);
    }
    if let Some(delay) = trace.last_delay.as_deref() {
        y += ROW / 2.0;
        chart.canvas.text("time", "start", (0.0, y), &format!("{delay} later the objective is met"), "");
    }
    for process in 0..run.processes.len() {
        let x = chart.centre(process);
        chart.canvas.line("lifeline", (x, top), (x, y + 12.0), run.processes[process]);
    }
    if let Some(back) = trace.loop_start {
        let right = chart.centre(run.processes.len() - 1) + chart.column / 2.0;
        let text = format!("and again from the state after step {back}");
        chart.canvas.text("note", "start", (0.0, y + 28.0), &text, "");
        // The beginning of the loop may be among the steps that are not drawn.
        if let Some(&target) = back.checked_sub(run.left_out).and_then(|index| after.get(index)) {
            chart.canvas.line("back", (right, y), (right, target), &text);
        }
    }
    chart.canvas.finish(&format!("{} processes, {} steps", run.processes.len(), trace.len()))
}

/// Wide enough for most names; longer ones are whole in their tooltips.
fn column_width(run: &Run<'_>) -> f64 {
    let places = run.start.iter().chain(run.events.iter().flat_map(|event| &event.locations)).flatten();
    let longest = run.processes.iter().chain(places).map(|name| name.chars().count()).max().unwrap_or(0);
    (longest.clamp(8, 22) as f64 * CHARACTER + 28.0).max(96.0)
}

struct Chart {
    canvas: Canvas,
    column: f64,
}

impl Chart {
    fn centre(&self, process: usize) -> f64 {
        GUTTER + (process as f64 + 0.5) * self.column
    }

    fn place(&mut self, process: usize, y: f64, place: &str) {
        let width = (place.chars().count() as f64 * CHARACTER + 10.0).min(self.column - 12.0);
        self.canvas.labelled("place", (self.centre(process) - width / 2.0, y), (width, PLACE), place, place);
    }

    fn event(&mut self, event: &Event<'_>, y: f64) {
        let mut title = format!("step {}: {}", event.number, event.label);
        if let Some((time, _)) = event.time {
            title.push_str(&format!("\nat {time}"));
        }
        let stamp = match event.time {
            Some((time, _)) => format!("{:>4}  @{time}", event.number),
            None => format!("{:>4}", event.number),
        };
        self.canvas.text("time", "start", (0.0, y + 3.5), &stamp, &title);
        let Some(from) = event.parts.iter().find(|part| part.role == Role::Sends).or(event.parts.first())
        else {
            // Nobody's step.
            self.canvas.text("note", "start", (GUTTER * 0.6, y + 3.5), event.label, &title);
            return;
        };
        if event.parts.len() == 1 {
            let at = (self.centre(from.process), y);
            self.canvas.dot(at, &title);
            if event.parts[0].event != "tau" {
                self.canvas.text("message", "start", (at.0 + 7.0, y + 3.5), from.event, &title);
            }
            return;
        }
        // A broadcast is one arrow for every receiver; equals are joined by plain lines from the
        // first.
        for to in event.parts.iter().filter(|part| part.process != from.process) {
            let class = if to.role == Role::Receives { "arrow" } else { "sync" };
            let (x1, x2) = (self.centre(from.process), self.centre(to.process));
            self.canvas.line(class, (x1, y), (x2, y), &title);
            // Beside its sender or its receiver, not above another process in between.
            let x = x2 - (x2 - x1).signum() * self.column / 2.0;
            self.canvas.text("message", "middle", (x, y - 4.0), to.event, &title);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sequence_chart;
    use super::super::tests::greetings;
    use turnpike_model::{Step, Trace};

    #[test]
    fn every_process_has_a_line_and_every_message_an_arrow() {
        let picture = sequence_chart(&greetings(5)).expect("drawn");
        assert_eq!(picture.matches("class=\"lifeline\"").count(), 3);
        assert_eq!(picture.matches("class=\"arrow\"").count(), 5);
        assert_eq!(picture.matches("class=\"moment\"").count(), 5);
        // Three places at first, and two new ones after each step.
        assert_eq!(picture.matches("class=\"place\"").count(), 3 + 2 * 5);
        assert!(picture.contains("A&lt;1&gt;") && !picture.contains("A<1>"));
        assert_eq!(picture, sequence_chart(&greetings(5)).expect("drawn"), "the same picture every time");
    }

    #[test]
    fn broadcasts_have_an_arrow_for_every_receiver_and_equals_a_line() {
        let labels = ["P@a!,Q@a?,R@a?", "P@x,Q@y,R@z", "P@tau", "R@b!", "Q@c!,P@c?", "stay"];
        let trace = Trace { steps: labels.map(Step::new).to_vec(), loop_start: Some(1), ..Trace::default() };
        let picture = sequence_chart(&trace).expect("drawn");
        assert_eq!(picture.matches("class=\"arrow\"").count(), 3);
        assert_eq!(picture.matches("class=\"sync\"").count(), 2);
        assert_eq!(picture.matches("class=\"dot\"").count(), 2);
        assert_eq!(picture.matches("class=\"back\"").count(), 1);
        assert!(picture.contains("again from the state after step 1") && picture.contains(">stay</text>"));
    }

    #[test]
    fn long_runs_are_cut_with_a_note() {
        let mut trace = greetings(1000);
        trace.loop_start = Some(3);
        let picture = sequence_chart(&trace).expect("drawn");
        assert_eq!(picture.matches("class=\"arrow\"").count(), 400);
        assert!(picture.contains("the last 400 steps; 600 before them are not drawn"));
        assert!(!picture.contains("class=\"back\""), "its end is not in the picture");
    }
}
