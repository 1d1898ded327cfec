use turnpike_model::Diagnostic;

use super::{Drawing, order_layers, shortened};
use crate::shapes::{Page, Point, Shapes};
use crate::system::Lts;

/// The approximate width of a character in the label font, in pixels.
const CHARACTER: f64 = 6.2;
const RADIUS: f64 = 16.0;
const LAYER_GAP: f64 = 104.0;
const MARGIN: f64 = 36.0;
/// The number of characters shown of a label. The tooltip has the rest.
const SHOWN: usize = 22;

/// A small system as a self-contained SVG picture: layers by distance from the initial state, which
/// has its own arrow; deadlocks have a double ring; tooltips have the full text of long or multiple
/// labels. The colours follow the viewer's light or dark setting. Systems with more than
/// [`MAX_DRAWN_STATES`](super::MAX_DRAWN_STATES) states or
/// [`MAX_DRAWN_TRANSITIONS`](super::MAX_DRAWN_TRANSITIONS) transitions are refused.
pub fn svg(lts: &Lts) -> Result<String, Diagnostic> {
    let drawing = Drawing::new(lts)?;
    let centres = layout(&drawing);
    let mut picture = Picture::default();
    for (state, &centre) in centres.iter().enumerate() {
        picture.state(&drawing, state, centre);
    }
    for ((from, to), labels) in &drawing.edges {
        let label = match labels.len() {
            1 => shortened(labels[0], SHOWN),
            several => format!("{} +{}", shortened(labels[0], SHOWN - 4), several - 1),
        };
        let mut title = format!("{from} → {to}");
        for label in labels {
            title.push('\n');
            title.push_str(label);
        }
        let edge = if from == to {
            Edge::loop_at(centres[*from])
        } else {
            Edge::between(centres[*from], centres[*to])
        };
        picture.edge(&edge, &label, &title);
    }
    Ok(picture.finish(lts))
}

/// The centres of the states. Each layer is a row.
fn layout(drawing: &Drawing<'_>) -> Vec<Point> {
    let states = drawing.deadlock.len();
    let mut layers = drawing.layers.clone();
    order_layers(&mut layers, states, drawing.edges.keys().copied());
    let longest = drawing.edges.values().map(|labels| labels[0].chars().count()).max().unwrap_or(0);
    let gap = (longest.min(SHOWN) as f64 * CHARACTER + 28.0).max(72.0);
    let mut centres = vec![(0.0, 0.0); states];
    for (number, layer) in layers.iter().enumerate() {
        for (index, &state) in layer.iter().enumerate() {
            let x = (index as f64 - (layer.len() as f64 - 1.0) / 2.0) * gap;
            centres[state] = (x, number as f64 * LAYER_GAP);
        }
    }
    centres
}

/// A curve with an arrowhead at its end.
struct Edge {
    path: String,
    label: Point,
    anchor: &'static str,
}

impl Edge {
    /// Straight if it goes one row down. Otherwise bent, so that it avoids the states in between
    /// and the edge in the opposite direction.
    fn between(from: Point, to: Point) -> Edge {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1.0);
        let one_down = (dy - LAYER_GAP).abs() < 0.5;
        let bend = if one_down { 0.0 } else { 26.0 + length / 6.0 };
        let control =
            ((from.0 + to.0) / 2.0 + dy / length * bend, (from.1 + to.1) / 2.0 - dx / length * bend);
        let start = towards(from, control, RADIUS);
        let end = towards(to, control, RADIUS + 3.0);
        let path = if one_down {
            format!("M{} L{}", pair(start), pair(end))
        } else {
            format!("M{} Q{} {}", pair(start), pair(control), pair(end))
        };
        // A point on the curve, closer to the target: edges that leave the same state fan out
        // there.
        let t = if one_down { 0.58 } else { 0.5 };
        let on = |a: f64, b: f64, c: f64| (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
        let label = (on(from.0, control.0, to.0), on(from.1, control.1, to.1) + 3.0);
        Edge { path, label, anchor: "middle" }
    }

    fn loop_at((x, y): Point) -> Edge {
        let (out, back) =
            ((x + RADIUS * 0.9, y - RADIUS * 0.45), (x + RADIUS * 0.9 + 3.0, y + RADIUS * 0.45 + 1.0));
        let far = x + RADIUS * 2.6;
        let path =
            format!("M{} C{} {} {}", pair(out), pair((far, y - 22.0)), pair((far, y + 22.0)), pair(back));
        Edge { path, label: (x + RADIUS * 2.3, y + 3.0), anchor: "start" }
    }
}

/// The point at `distance` from `from` in the direction of `target`.
fn towards(from: Point, target: Point, distance: f64) -> Point {
    let (dx, dy) = (target.0 - from.0, target.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    (from.0 + dx / length * distance, from.1 + dy / length * distance)
}

fn pair((x, y): Point) -> String {
    format!("{x:.1},{y:.1}")
}

/// The elements drawn so far, and their bounding box.
#[derive(Default)]
struct Picture {
    edges: Shapes,
    states: Shapes,
    labels: Shapes,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Picture {
    fn cover(&mut self, left: f64, top: f64, right: f64, bottom: f64) {
        self.left = self.left.min(left);
        self.top = self.top.min(top);
        self.right = self.right.max(right);
        self.bottom = self.bottom.max(bottom);
    }

    fn state(&mut self, drawing: &Drawing<'_>, state: usize, (x, y): Point) {
        self.cover(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS);
        let mut class = String::from("state");
        if state == drawing.initial {
            class.push_str(" initial");
            let tip = y - RADIUS - 3.0;
            self.cover(x, tip - 22.0, x, tip);
            self.edges.line("edge", (x, tip - 22.0), (x, tip), "");
        }
        if drawing.deadlock[state] {
            class.push_str(" deadlock");
        }
        if !drawing.reachable[state] {
            class.push_str(" unreachable");
        }
        let mut node = Shapes::default();
        node.circle("ring", (x, y), RADIUS, "");
        if drawing.deadlock[state] {
            node.circle("ring", (x, y), RADIUS - 3.5, "");
        }
        node.text("number", "middle", (x, y + 4.0), &state.to_string(), "");
        self.states.group(&class, &drawing.title(state), &node);
    }

    fn edge(&mut self, edge: &Edge, label: &str, title: &str) {
        let width = label.chars().count() as f64 * CHARACTER;
        let (x, y) = edge.label;
        let left = if edge.anchor == "middle" { x - width / 2.0 } else { x };
        self.cover(left, y - 12.0, left + width, y + 4.0);
        self.edges.path("edge", &edge.path, title);
        self.labels.text("label", edge.anchor, edge.label, label, title);
    }

    fn finish(self, lts: &Lts) -> String {
        let (left, top) = (self.left - MARGIN, self.top - MARGIN);
        let (width, height) = (self.right - left + MARGIN, self.bottom - top + MARGIN);
        let title = format!("{} states, {} transitions", lts.states, lts.transitions.len());
        let page = Page { title: &title, style: STYLE, tip: 7, left, top, width, height };
        // Labels come last, so that lines never cross them out.
        page.render(&[&self.edges, &self.states, &self.labels])
    }
}

/// Plain colours without variables, which not every viewer supports.
const STYLE: &str = "
.paper { fill: #ffffff; }
.edge { fill: none; stroke: #7b8794; stroke-width: 1.3; marker-end: url(#arrow); }
.edge:hover { stroke-width: 2.6; }
.head { fill: #7b8794; }
.state circle { fill: #f0f4f8; stroke: #1f2933; stroke-width: 1.3; }
.state text { fill: #1f2933; font: 11px sans-serif; }
.initial circle { fill: #d3f2e1; }
.deadlock circle { stroke: #c2410c; }
.unreachable { opacity: 0.5; }
.label { fill: #1f2933; font: 10.5px ui-monospace, monospace; }
.label { paint-order: stroke; stroke: #ffffff; stroke-width: 4; stroke-linejoin: round; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #14181d; }
  .state circle { fill: #252d36; stroke: #e4e7eb; }
  .state text, .label { fill: #e4e7eb; }
  .label { stroke: #14181d; }
  .initial circle { fill: #17442f; }
  .deadlock circle { stroke: #fb923c; }
}
";

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::aut::{AutDialect, read_lts};

    fn draw(text: &str) -> String {
        svg(&read_lts(text.as_bytes(), AutDialect::Mcrl2).expect("reads")).expect("small")
    }

    #[test]
    fn marks_states_and_labels_edges() {
        let text =
            "des (0,5,4)\n(0,\"coin\",1)\n(0,\"bill\",1)\n(1,\"tea\",0)\n(1,\"x\",1)\n(1,\"stop\",2)\n";
        let picture = draw(text);
        assert_eq!(picture.matches("class=\"state").count(), 4);
        assert_eq!(picture.matches("class=\"label\"").count(), 4, "parallel transitions share an arrow");
        assert!(picture.contains("coin +1"));
        assert!(picture.contains("0 → 1\ncoin\nbill"));
        assert!(picture.contains("class=\"state initial\""));
        assert!(picture.contains("class=\"state deadlock\""));
        assert!(picture.contains("class=\"state deadlock unreachable\""));
        assert!(picture.contains("prefers-color-scheme: dark"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
        assert_eq!(picture, draw(text), "the same picture every time");
    }

    #[test]
    fn labels_cannot_break_the_file() {
        let picture = draw("des (0,1,1)\n(0,\"<b>&\"\u{1}'</title>\u{ffff}\",0)\n");
        assert!(picture.contains("&lt;b&gt;&amp;&quot;\u{fffd}'&lt;/title&gt;\u{fffd}"));
        assert!(!picture.contains("<b>"));
        assert!(!picture.contains('\u{1}'));
    }

    #[test]
    fn long_labels_are_whole_in_the_tooltip() {
        let long = "a".repeat(60);
        let picture = draw(&format!("des (0,1,1)\n(0,\"{long}\",0)\n"));
        assert_eq!(picture.matches(&long).count(), 2, "one tooltip on the line, one on the text");
        assert!(picture.contains("…</text>"));
    }

    #[test]
    fn every_size_up_to_the_limit_is_drawn() {
        for states in [1u32, 2, 30, 500] {
            let mut text = format!("des (0,{},{states})\n", 3 * states);
            for state in 0..states {
                for step in [1, 7, 13] {
                    let _ = writeln!(text, "({state},\"a{step}\",{})", (state * 3 + step) % states);
                }
            }
            let picture = draw(&text);
            assert_eq!(picture.matches("<circle").count() as u32, states);
            assert!(!picture.contains("NaN"));
        }
        assert!(svg(&Lts { states: 501, ..Lts::default() }).is_err());
    }
}
