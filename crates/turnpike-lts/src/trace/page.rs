//! A trace as a self-contained HTML page: no network, no other files, and readable without scripts.

use std::borrow::Cow;
use std::fmt::Write;

use turnpike_model::{StateValues, Trace};

use super::chart::{
    CHART_STYLE, Timeline, draw_axis, draw_row, gantt_chart, gutter, sequence_chart, wait_chart, with_objects,
};
use super::stuck::stuck_lines;
use crate::shapes::escape_xml;

/// The most variables with a timeline, since more would make pages slow.
const TIMELINES: usize = 60;
/// The most steps in the table.
const TABLE: usize = 5_000;
const VALUES: usize = 200_000;

/// A page with the charts of a trace, its explanation, and its steps with their values.
///
/// All texts of the trace are escaped. The page forbids itself all requests. Its script only adds
/// convenience: without it, everything can be read, and variables can be chosen.
pub fn html_page(trace: &Trace) -> String {
    let title = match trace.objective.as_str() {
        "" => trace.model.clone(),
        objective => format!("{objective} in {}", trace.model),
    };
    let title = if title.is_empty() { "a trace".to_owned() } else { title };
    let mut page = Page::default();
    page.head(trace);
    page.explanation(trace);
    page.chart("why", "Who waits for whom", wait_chart(trace).ok().map(|chart| chart.element()));
    page.chart("sequence", "Who does what", Some(sequence_chart(trace, None).element()));
    page.chart("gantt", "Locations over time", located_over_time(trace));
    page.timelines(trace);
    page.table(trace);
    let (title, body) = (escape_xml(&title), page.body);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{CHART_STYLE}{PAGE_STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n{body}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The chart of locations, for traces with times and locations.
fn located_over_time(trace: &Trace) -> Option<String> {
    (!trace.is_empty()).then(|| gantt_chart(trace, None).ok()).flatten().map(|chart| chart.element())
}

#[derive(Default)]
struct Page {
    body: String,
}

impl Page {
    fn push(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// The origin of the trace.
    fn head(&mut self, trace: &Trace) {
        self.push("<dl>");
        let length = match trace.loop_start {
            Some(start) => format!("{}, a loop from the state after step {start}", trace.len()),
            None => trace.len().to_string(),
        };
        let seed = trace.seed.map_or(String::new(), |seed| format!("{seed:#x}"));
        let rows = [
            ("model", &trace.model),
            ("objective", &trace.objective),
            ("strategy", &trace.strategy),
            ("seed", &seed),
            ("steps", &length),
        ];
        for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
            self.push(&format!("<dt>{name}</dt><dd>{}</dd>", escape_xml(value)));
        }
        self.push("</dl>");
    }

    /// The output of the search, or why nothing can happen.
    fn explanation(&mut self, trace: &Trace) {
        let lines = if trace.notes.is_empty() { stuck_lines(&trace.stuck) } else { trace.notes.clone() };
        if !lines.is_empty() {
            let text = escape_xml(&lines.join("\n"));
            self.push(&format!(
                "<section id=\"explanation\">\n<h2>Explanation</h2>\n<pre>{text}</pre>\n</section>"
            ));
        }
    }

    fn chart(&mut self, id: &str, title: &str, chart: Option<String>) {
        if let Some(chart) = chart {
            self.push(&format!(
                "<section id=\"{id}\">\n<h2>{title}</h2>\n<div class=\"sheet\" tabindex=\"0\">\n{chart}</div>\n</section>"
            ));
        }
    }

    /// A row for each variable, with a box to hide it.
    fn timelines(&mut self, trace: &Trace) {
        // The states of programs have no values, so the last operation on each object is shown.
        let complete = if trace.initial.is_none() { with_objects(trace) } else { Cow::Borrowed(trace) };
        let Ok(timeline) = Timeline::of(&complete, &[]) else { return };
        if timeline.rows.is_empty() {
            return;
        }
        let shown = &timeline.rows[..timeline.rows.len().min(TIMELINES)];
        let gutter = gutter(shown.iter().map(|row| row.name));
        self.push("<section id=\"timeline\">\n<h2>Values</h2>");
        if shown.len() < timeline.rows.len() {
            let more = timeline.rows.len() - shown.len();
            self.push(&format!("<p>{more} more variables change; the table below has them.</p>"));
        }
        self.push("<div id=\"choice\"></div>\n<div class=\"sheet\" tabindex=\"0\">");
        for row in shown {
            let name = escape_xml(row.name);
            let chart = draw_row(&timeline, row, gutter).element();
            self.push(&format!(
                "<div class=\"variable\"><input type=\"checkbox\" checked aria-label=\"show {name}\" \
                 data-name=\"{name}\"><span class=\"hidden-name\">{name}</span>\n<div class=\"row\">{chart}</div></div>"
            ));
        }
        let axis = draw_axis(&timeline, gutter).element();
        self.push(&format!(
            "<div class=\"variable axis-row\"><span></span><div class=\"row\">{axis}</div></div>"
        ));
        self.push("</div>\n</section>");
    }

    /// The steps, with the values that they change.
    fn table(&mut self, trace: &Trace) {
        let has_times = trace.steps.iter().any(|step| step.time.is_some());
        let has_parts =
            trace.steps.iter().any(|step| step.parts.as_ref().is_some_and(|parts| !parts.is_empty()));
        self.push("<section id=\"steps\">\n<h2>Steps</h2>\n<div class=\"sheet\" tabindex=\"0\">\n<table>\n<thead><tr>");
        let columns =
            [(true, "step"), (has_times, "time"), (true, "label"), (has_parts, "who"), (true, "changes")];
        for (_, name) in columns.iter().filter(|(shown, _)| *shown) {
            self.push(&format!("<th scope=\"col\">{name}</th>"));
        }
        self.push("</tr></thead>\n<tbody>");
        let mut before = trace.initial.as_ref();
        let with_all = before.map_or(0, StateValues::len) * trace.len().min(TABLE) <= VALUES;
        if let Some(initial) = before {
            self.row(
                "0",
                "",
                has_times.then_some(""),
                has_parts.then_some(""),
                &values(initial.iter()),
                initial,
            );
        }
        for (index, step) in trace.steps.iter().enumerate().take(TABLE) {
            let parts = step.parts.iter().flatten();
            let parts: Vec<String> =
                parts.map(|part| format!("{}: {}", part.component, part.action)).collect();
            let changes = match (&step.state, before) {
                (Some(after), Some(before)) => values(after.changes(before)),
                (Some(after), None) => values(after.iter()),
                (None, _) => String::new(),
            };
            let time = step.time.as_deref().unwrap_or_default();
            let all = step.state.clone().filter(|_| with_all).unwrap_or_default();
            let (time, parts) = (has_times.then_some(time), parts.join("\n"));
            let number = (index + 1).to_string();
            self.row(&number, &step.label, time, has_parts.then_some(&parts), &changes, &all);
            before = step.state.as_ref();
        }
        self.push("</tbody>\n</table>");
        if trace.len() > TABLE {
            self.push(&format!("<p>... and {} more steps</p>", trace.len() - TABLE));
        }
        self.push("</div>\n</section>");
    }

    fn row(
        &mut self,
        number: &str,
        label: &str,
        time: Option<&str>,
        parts: Option<&str>,
        changes: &str,
        all: &StateValues,
    ) {
        let mut row = format!("<tr data-step=\"{number}\"><th scope=\"row\">{number}</th>");
        let cells = [time, Some(label), parts];
        for cell in cells.into_iter().flatten() {
            let _ = write!(row, "<td>{}</td>", escape_xml(cell));
        }
        let _ = write!(row, "<td>{}", escape_xml(changes));
        if !all.is_empty() && number != "0" {
            let all = escape_xml(&values(all.iter()));
            let _ = write!(row, "<details><summary>all values</summary>{all}</details>");
        }
        row.push_str("</td></tr>");
        self.push(&row);
    }
}

/// One value per line.
fn values<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    values.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("\n")
}

const PAGE_STYLE: &str = "
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem; max-width: 120rem; color: #1f2933; background: #ffffff;
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 1.6rem 0 0.5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; margin: 0; }
dt { color: #52606d; } dd { margin: 0; overflow-wrap: anywhere; }
pre, td, dd { font-family: ui-monospace, monospace; font-size: 0.85rem; }
pre { overflow-x: auto; padding: 0.8rem; background: #f0f4f8; border-radius: 4px; }
.sheet { overflow: auto; max-height: 85vh; border: 1px solid #cbd2d9; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem; border-bottom: 1px solid #e4e7eb;
  white-space: pre-wrap; }
thead th { position: sticky; top: 0; background: #f0f4f8; }
.variable { display: grid; grid-template-columns: 1.6rem max-content; align-items: center; padding-left: 0.4rem; }
.variable input { margin: 0; }
.variable svg { display: block; margin: -10px 0; }
.variable .paper { fill: none; }
.hidden-name { display: none; }
.variable input:not(:checked) ~ .row { display: none; }
.variable input:not(:checked) ~ .hidden-name { display: inline; color: #7b8794; }
.chosen { outline: 2px solid #0b69a3; } tr.chosen { outline-offset: -2px; }
.chart .chosen .hit { fill-opacity: 0.12; }
.filtered { display: none; }
@media (prefers-color-scheme: dark) {
  body { color: #e4e7eb; background: #14181d; } dt { color: #9aa5b1; }
  pre, thead th { background: #222b35; } .sheet { border-color: #3e4c59; }
  th, td { border-color: #2d3742; }
}
";

/// Chooses variables by name, and highlights a step everywhere when it is clicked.
const SCRIPT: &str = r#"
'use strict';
const choice = document.getElementById('choice');
if (choice) {
  const field = document.createElement('input');
  field.type = 'search';
  field.placeholder = 'filter variables';
  field.setAttribute('aria-label', 'filter variables by name');
  const boxes = Array.from(document.querySelectorAll('.variable input'));
  const button = (text, checked) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.addEventListener('click', () => {
      for (const box of boxes) {
        if (!box.parentElement.classList.contains('filtered')) box.checked = checked;
      }
    });
    return made;
  };
  field.addEventListener('input', () => {
    const wanted = field.value.toLowerCase();
    for (const box of boxes) {
      box.parentElement.classList.toggle('filtered', !box.dataset.name.toLowerCase().includes(wanted));
    }
  });
  choice.append(field, ' ', button('all', true), ' ', button('none', false));
}
const choose = (step) => {
  for (const old of document.querySelectorAll('.chosen')) old.classList.remove('chosen');
  for (const one of document.querySelectorAll(`[data-step="${step}"]`)) one.classList.add('chosen');
  const row = document.querySelector(`tr[data-step="${step}"]`);
  if (row) row.scrollIntoView({ block: 'nearest' });
};
document.addEventListener('click', (event) => {
  const group = event.target.closest('[data-step]');
  if (group && /^[0-9]+$/.test(group.dataset.step)) choose(group.dataset.step);
});
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use turnpike_model::{Obstacle, Offer, Participant, Step, StuckComponent};

    #[test]
    fn nothing_in_a_trace_becomes_markup() {
        let evil = "<script>alert('\"1\"')</script>&";
        let state = |value: &str| -> StateValues { [(evil, value)].into_iter().collect() };
        let part = Participant { component: evil.into(), action: evil.into(), ..Participant::default() };
        let trace = Trace {
            model: evil.into(),
            objective: evil.into(),
            strategy: evil.into(),
            components: vec![evil.into()],
            initial: Some(state(evil)),
            steps: vec![Step {
                parts: Some(vec![part]),
                state: Some(state("1")),
                time: Some(evil.into()),
                ..Step::new(evil)
            }],
            notes: vec![evil.into()],
            stuck: vec![StuckComponent {
                component: evil.into(),
                position: evil.into(),
                offers: vec![Offer {
                    action: evil.into(),
                    obstacles: vec![Obstacle::Disallowed { by: evil.into() }],
                }],
                stops_time: None,
            }],
            ..Trace::default()
        };
        let page = html_page(&trace);
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert_eq!(page.matches("</script").count(), 1);
        assert!(page.contains("&lt;script&gt;alert(") && !page.contains("alert('\""));
        for section in ["explanation", "why", "sequence", "timeline", "steps"] {
            assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
        }
    }

    #[test]
    fn large_traces_make_pages_that_open() {
        let names: Vec<String> = (0..300).map(|number| format!("v{number}")).collect();
        let state =
            |at: usize| -> StateValues { names.iter().map(|name| (name.clone(), at.to_string())).collect() };
        let step = |at: usize| Step { state: Some(state(at)), ..Step::new("a") };
        let trace =
            Trace { initial: Some(state(0)), steps: (1..=1_000).map(step).collect(), ..Trace::default() };
        let page = html_page(&trace);
        assert!(!page.contains("all values") && page.contains("240 more variables change"));
        assert_eq!(page.matches("<tr data-step=").count(), 1_001);
    }

    #[test]
    fn views_that_a_trace_does_not_have_are_left_out() {
        let page = html_page(&Trace { steps: vec![Step::new("a")], ..Trace::default() });
        assert!(page.contains("<section id=\"sequence\">") && page.contains("<section id=\"steps\">"));
        for section in ["explanation", "why", "gantt", "timeline"] {
            assert!(!page.contains(&format!("<section id=\"{section}\">")), "{section}");
        }
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains(" src="));
        assert!(html_page(&Trace::default()).contains("<title>a trace</title>"));
    }
}
