//! The automata of a system, each drawn with its locations and edges, and where they are in a state.

mod layout;
#[cfg(test)]
mod tests;

use turnpike_model::{Automaton, AutomatonEdge, AutomatonLocation, EdgeTaken, Haste};

use super::canvas::{CHARACTER, Canvas, Drawing, MARGIN};
use crate::drawing::shortened;
use crate::shapes::Point;
use layout::{Layout, Sizes};

/// Pixels.
const LINE: f64 = 13.0;
const PADDING: f64 = 8.0;
const BETWEEN: f64 = 44.0;
const TITLE: f64 = 26.0;
/// Automata stand side by side up to this width, if no other is given.
const WIDEST: u32 = 1212;
/// Characters of a line of text at most; the tooltip has all of it.
const LONGEST: usize = 34;

/// Where automata are, and what they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// The location of each automaton; empty if they have not begun.
    pub locations: Vec<u32>,
    /// The edges that the last transition took.
    pub taken: Vec<EdgeTaken>,
    /// The edges that the next transition can take.
    pub enabled: Vec<EdgeTaken>,
}

/// A drawing of some of the automata of a system, by their positions. Automata stand side by side, and below
/// each other where the picture would become too wide. Locations are groups
/// `<g class="location" data-automaton="A" data-location="L">`, edges `<g class="edge" data-automaton="A"
/// data-edge="E">`, so that a page can react to them.
pub fn automata_chart(
    automata: &[Automaton],
    shown: &[usize],
    situation: &Situation,
    width: Option<u32>,
) -> Drawing {
    let mut canvas = Canvas::default();
    let widest = f64::from(width.unwrap_or(WIDEST));
    let (mut x, mut y, mut lowest) = (0.0, 0.0, 0.0_f64);
    let shown: Vec<usize> = shown.iter().copied().filter(|&index| index < automata.len()).collect();
    for &index in &shown {
        let automaton = &automata[index];
        let picture = Picture::new(automaton);
        let width = picture.layout.width.max(automaton.name.chars().count() as f64 * CHARACTER);
        if x > 0.0 && x + width + 2.0 * MARGIN > widest {
            (x, y) = (0.0, lowest + BETWEEN);
        }
        canvas.text("heading", "start", (x, y + 10.0), &automaton.name, "");
        picture.draw(&mut canvas, index, (x, y + TITLE), situation);
        lowest = lowest.max(y + TITLE + picture.layout.height);
        x += width + BETWEEN;
    }
    let names: Vec<&str> = shown.iter().map(|&index| automata[index].name.as_str()).collect();
    canvas.finish(match names[..] {
        [one] => format!("the automaton {one}"),
        _ => format!("{} automata", names.len()),
    })
}

/// A line of text, with the class that colours it.
type TextLine = (&'static str, String);

struct Picture<'a> {
    automaton: &'a Automaton,
    /// What is written in each location, and on each edge.
    locations: Vec<Vec<TextLine>>,
    edges: Vec<Vec<TextLine>>,
    sizes: Vec<Point>,
    layout: Layout,
}

fn location_lines(location: &AutomatonLocation) -> Vec<TextLine> {
    let haste = match location.haste {
        Haste::None => "",
        Haste::Urgent => "urgent",
        Haste::Committed => "committed",
    };
    let lines = [("name", &*location.name), ("invariant", &*location.invariant), ("note", haste)];
    let written = lines.into_iter().filter(|(class, text)| *class == "name" || !text.is_empty());
    written.map(|(class, text)| (class, text.to_owned())).collect()
}

fn edge_lines(edge: &AutomatonEdge) -> Vec<TextLine> {
    let choices = if edge.choices > 1 { format!("one of {} choices", edge.choices) } else { String::new() };
    let lines =
        [("guard", &edge.guard), ("action", &edge.action), ("update", &edge.update), ("note", &choices)];
    let written = lines.into_iter().filter(|(_, text)| !text.is_empty());
    written.map(|(class, text)| (class, text.clone())).collect()
}

/// The size of some lines.
fn size(lines: &[TextLine]) -> Point {
    let longest = lines.iter().map(|(_, text)| text.chars().count().min(LONGEST)).max().unwrap_or(0);
    (longest as f64 * CHARACTER, lines.len() as f64 * LINE)
}

fn whole_text(lines: &[TextLine]) -> String {
    lines.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
}

impl<'a> Picture<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        let locations: Vec<_> = automaton.locations.iter().map(location_lines).collect();
        let edges: Vec<_> = automaton.edges.iter().map(edge_lines).collect();
        let sizes: Vec<Point> = locations
            .iter()
            .map(|lines| {
                let (width, height) = size(lines);
                ((width + 2.0 * PADDING).max(44.0), height + PADDING)
            })
            .collect();
        let joined: Vec<(u32, u32, Point)> = automaton
            .edges
            .iter()
            .zip(&edges)
            .map(|(edge, lines)| {
                let (width, height) = size(lines);
                (edge.from, edge.to, (width + 6.0, height.max(6.0)))
            })
            .collect();
        let layout =
            layout::arrange(&Sizes { locations: &sizes, initial: &automaton.initial, edges: &joined });
        Picture { automaton, locations, edges, sizes, layout }
    }

    fn draw(&self, canvas: &mut Canvas, index: usize, (x, y): Point, situation: &Situation) {
        canvas.cover(x + self.layout.width, y + self.layout.height);
        let is_at = |edge: usize, all: &[EdgeTaken]| {
            all.contains(&EdgeTaken { automaton: index as u32, edge: edge as u32 })
        };
        for (edge, route) in self.layout.routes.iter().enumerate() {
            let lines = &self.edges[edge];
            let mut class = "edge".to_owned();
            for (word, all) in [("enabled", &situation.enabled), ("taken", &situation.taken)] {
                if is_at(edge, all) {
                    class = format!("{class} {word}");
                }
            }
            let data = format!("data-automaton=\"{index}\" data-edge=\"{edge}\"");
            canvas.group(&class, &data, (x, y), |canvas| {
                canvas.path("way", &route.path, &whole_text(lines));
                canvas.head("edge-head", route.tip, route.direction);
                let (left, top) = route.text;
                for (row, (class, text)) in lines.iter().enumerate() {
                    let place = (left, top + LINE * row as f64 + 10.0);
                    canvas.text(class, "start", place, &shortened(text, LONGEST), text);
                }
            });
        }
        for (location, &(middle_x, middle_y)) in self.layout.locations.iter().enumerate() {
            let here = situation.locations.get(index).is_some_and(|&at| at as usize == location);
            let class = if here { "location here" } else { "location" };
            let data = format!("data-automaton=\"{index}\" data-location=\"{location}\"");
            let (width, height) = self.sizes[location];
            let corner = (middle_x - width / 2.0, middle_y - height / 2.0);
            canvas.group(class, &data, (x, y), |canvas| {
                let lines = &self.locations[location];
                if self.automaton.initial.contains(&(location as u32)) {
                    let (outer, size) = ((corner.0 - 3.0, corner.1 - 3.0), (width + 6.0, height + 6.0));
                    canvas.rectangle("initial", outer, size, "");
                }
                let about = if here { format!("{}\nhere", whole_text(lines)) } else { whole_text(lines) };
                canvas.rectangle("place", corner, (width, height), &about);
                for (row, (class, text)) in lines.iter().enumerate() {
                    let place = (middle_x, corner.1 + LINE * row as f64 + 14.0);
                    canvas.text(class, "middle", place, &shortened(text, LONGEST), text);
                }
            });
        }
    }
}
