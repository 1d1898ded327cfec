//! Where the locations of an automaton stand, and how its edges run.
//!
//! Locations stand in rows by their distance from the initial one. The text of an edge has a place of its
//! own in a row between those of its ends, like a location: so no text covers another, or a location.
//! Edges that span more rows have a narrow place in each row on their way.

use std::collections::VecDeque;

use crate::drawing::{order_layers, spread};
use crate::shapes::Point;

/// Pixels between things that stand side by side, and between rows.
const GAP: f64 = 16.0;
const ROW_GAP: f64 = 14.0;
/// How often things move towards what they are joined with.
const SWEEPS: usize = 10;
/// How far an edge that returns to its own location reaches out.
pub(super) const LOOP: f64 = 26.0;
/// The part of a location's width at which edges end.
const ENDS: f64 = 0.7;
/// How deep an edge hangs that joins two locations of one row.
const HANG: f64 = 22.0;

/// What is to be arranged.
pub(super) struct Sizes<'a> {
    /// Width and height of each location.
    pub(super) locations: &'a [Point],
    /// Where it begins.
    pub(super) initial: &'a [u32],
    /// For each edge where it leaves, where it leads, and the size of its text.
    pub(super) edges: &'a [(u32, u32, Point)],
}

/// Where everything is.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// The middle of each location.
    pub(super) locations: Vec<Point>,
    /// The way of each edge.
    pub(super) routes: Vec<Route>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The way of an edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Route {
    /// A path in the syntax of SVG, without its arrowhead.
    pub(super) path: String,
    /// The tip of the arrowhead, and its direction.
    pub(super) tip: Point,
    pub(super) direction: Point,
    /// The upper left corner of its text.
    pub(super) text: Point,
}

/// A thing that has a place in a row: a location, the text of an edge, or a point on the way of an edge.
#[derive(Clone, Copy, Default)]
struct Thing {
    row: usize,
    width: f64,
    height: f64,
    x: f64,
    y: f64,
}

struct Rows<'a> {
    sizes: &'a Sizes<'a>,
    things: Vec<Thing>,
    /// Things in neighbouring rows that are joined, the upper one first.
    links: Vec<(usize, usize)>,
    /// For each edge the things on its way from the upper end to the lower one.
    chains: Vec<Vec<usize>>,
    /// For each edge the thing that has its text.
    texts: Vec<usize>,
}

/// Arranges an automaton.
pub(super) fn arrange(sizes: &Sizes<'_>) -> Layout {
    let mut rows = Rows::new(sizes);
    let order = rows.order();
    rows.set_columns(&order);
    rows.set_heights(&order);
    rows.finish()
}

/// The distance of each location from where the automaton begins. Those that cannot be reached begin anew.
fn distances(sizes: &Sizes<'_>) -> Vec<usize> {
    let count = sizes.locations.len();
    let mut distance = vec![usize::MAX; count];
    let initial = sizes.initial.iter().map(|&location| location as usize);
    let mut roots: VecDeque<Vec<usize>> = VecDeque::from([initial.filter(|&one| one < count).collect()]);
    roots.extend((0..count).map(|location| vec![location]));
    for root in roots {
        let mut queue: VecDeque<usize> = VecDeque::new();
        for location in root {
            if distance[location] == usize::MAX {
                distance[location] = 0;
                queue.push_back(location);
            }
        }
        while let Some(from) = queue.pop_front() {
            for &(_, to, _) in sizes.edges.iter().filter(|edge| edge.0 as usize == from) {
                if distance[to as usize] == usize::MAX {
                    distance[to as usize] = distance[from] + 1;
                    queue.push_back(to as usize);
                }
            }
        }
    }
    distance
}

impl<'a> Rows<'a> {
    fn new(sizes: &'a Sizes<'a>) -> Self {
        let distance = distances(sizes);
        let mut rows = Rows {
            sizes,
            things: Vec::new(),
            links: Vec::new(),
            chains: vec![Vec::new(); sizes.edges.len()],
            texts: vec![usize::MAX; sizes.edges.len()],
        };
        for (location, &(width, height)) in sizes.locations.iter().enumerate() {
            let thing = Thing { row: 2 * distance[location], width, height, ..Thing::default() };
            rows.things.push(thing);
        }
        for (edge, &(from, to, size)) in sizes.edges.iter().enumerate() {
            rows.add_edge(edge, from as usize, to as usize, size);
        }
        rows
    }

    fn add_edge(&mut self, edge: usize, from: usize, to: usize, (width, height): Point) {
        if from == to {
            // Its text stands beside the location, whose place grows.
            let loops: Vec<Point> = self.loops(from).map(|edge| self.sizes.edges[edge].2).collect();
            let own = self.sizes.locations[from];
            let widest = loops.iter().fold(0.0_f64, |widest, size| widest.max(size.0));
            let height: f64 = loops.iter().map(|size| size.1 + 6.0).sum();
            // The location stays in the middle of its place.
            self.things[from].width = own.0 + 2.0 * (LOOP + widest + 4.0);
            self.things[from].height = own.1.max(height);
            return;
        }
        let upper = if self.things[from].row <= self.things[to].row { from } else { to };
        let lower = if upper == from { to } else { from };
        let (first, last) = (self.things[upper].row, self.things[lower].row);
        let text = Thing { width, height, ..Thing::default() };
        if first == last {
            let place = self.add(Thing { row: first + 1, ..text });
            self.links.extend([(upper, place), (lower, place)]);
            self.chains[edge].push(place);
            self.texts[edge] = place;
            return;
        }
        // Of the rows between those of locations, the middle one has the text.
        let middle = first + 1 + 2 * ((last - first) / 4);
        let mut above = upper;
        for row in first + 1..last {
            let thing = if row == middle { Thing { row, ..text } } else { Thing { row, ..Thing::default() } };
            let place = self.add(thing);
            if row == middle {
                self.texts[edge] = place;
            }
            self.links.push((above, place));
            self.chains[edge].push(place);
            above = place;
        }
        self.links.push((above, lower));
    }

    fn add(&mut self, thing: Thing) -> usize {
        self.things.push(thing);
        self.things.len() - 1
    }

    /// The edges that return to a location.
    fn loops(&self, location: usize) -> impl Iterator<Item = usize> + '_ {
        let edges = self.sizes.edges.iter().enumerate();
        edges
            .filter(move |(_, edge)| (edge.0 as usize, edge.1 as usize) == (location, location))
            .map(|(at, _)| at)
    }

    /// The things of each row, with few crossings.
    fn order(&self) -> Vec<Vec<usize>> {
        let count = self.things.iter().map(|thing| thing.row + 1).max().unwrap_or(0);
        let mut order: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (index, thing) in self.things.iter().enumerate() {
            order[thing.row].push(index);
        }
        order_layers(&mut order, self.things.len(), self.links.iter().copied());
        order
    }

    fn set_columns(&mut self, order: &[Vec<usize>]) {
        let (mut above, mut below) =
            (vec![Vec::new(); self.things.len()], vec![Vec::new(); self.things.len()]);
        for &(upper, lower) in &self.links {
            above[lower].push(upper);
            below[upper].push(lower);
        }
        for row in order {
            let mut x = 0.0;
            for &thing in row {
                x += self.things[thing].width / 2.0;
                self.things[thing].x = x;
                x += self.things[thing].width / 2.0 + GAP;
            }
            let middle = (x - GAP) / 2.0;
            row.iter().for_each(|&thing| self.things[thing].x -= middle);
        }
        for sweep in 0..SWEEPS {
            if sweep % 2 == 0 {
                order.iter().for_each(|row| self.move_row(row, &above));
            } else {
                order.iter().rev().for_each(|row| self.move_row(row, &below));
            }
        }
    }

    /// Moves the things of a row towards their neighbours; their order stays.
    fn move_row(&mut self, row: &[usize], neighbours: &[Vec<usize>]) {
        let wish = |&thing: &usize| {
            let near = &neighbours[thing];
            let sum: f64 = near.iter().map(|&other| self.things[other].x).sum();
            if near.is_empty() { self.things[thing].x } else { sum / near.len() as f64 }
        };
        let wishes: Vec<f64> = row.iter().map(wish).collect();
        let widths: Vec<f64> = row.iter().map(|&thing| self.things[thing].width).collect();
        for (&thing, x) in row.iter().zip(spread(&wishes, &offsets(&widths))) {
            self.things[thing].x = x;
        }
    }

    fn set_heights(&mut self, order: &[Vec<usize>]) {
        let mut y = 0.0;
        for row in order {
            let height = row.iter().map(|&thing| self.things[thing].height).fold(0.0, f64::max);
            row.iter().for_each(|&thing| self.things[thing].y = y + height / 2.0);
            y += height + ROW_GAP;
        }
        let left = self.things.iter().map(|thing| thing.x - thing.width / 2.0).fold(f64::MAX, f64::min);
        self.things.iter_mut().for_each(|thing| thing.x -= left);
    }

    fn finish(self) -> Layout {
        let location = |index: usize| (self.things[index].x, self.things[index].y);
        let locations: Vec<Point> = (0..self.sizes.locations.len()).map(location).collect();
        let ends = self.ends();
        let routes = (0..self.sizes.edges.len()).map(|edge| self.route(edge, &ends)).collect();
        let right = self.things.iter().map(|thing| thing.x + thing.width / 2.0).fold(0.0, f64::max);
        let bottom = self.things.iter().map(|thing| thing.y + thing.height / 2.0).fold(0.0, f64::max);
        let hangs = self.sizes.edges.iter().enumerate().any(|(edge, _)| self.hangs(edge));
        let height = bottom + if hangs { HANG } else { 0.0 };
        Layout { locations, routes, width: right, height }
    }

    /// Whether an edge joins two locations of one row.
    fn hangs(&self, edge: usize) -> bool {
        let (from, to, _) = self.sizes.edges[edge];
        from != to && self.things[from as usize].row == self.things[to as usize].row
    }

    /// Where edges touch their locations: for each edge the place of its first end and of its last one.
    /// Those of one side stand beside each other, in the order of what they lead to.
    fn ends(&self) -> Vec<[f64; 2]> {
        let mut ends = vec![[0.0; 2]; self.sizes.edges.len()];
        for location in 0..self.sizes.locations.len() {
            // Ends above and below the location: where the edge goes to, its number, and which end it is.
            let mut sides: [Vec<(f64, usize, usize)>; 2] = Default::default();
            for (edge, &(from, to, _)) in
                self.sizes.edges.iter().enumerate().filter(|(_, edge)| edge.0 != edge.1)
            {
                for (end, own) in [from, to].into_iter().enumerate() {
                    if own as usize != location {
                        continue;
                    }
                    let other = if end == 0 { to } else { from } as usize;
                    let is_upper = self.things[location].row < self.things[other].row || self.hangs(edge);
                    let chain = &self.chains[edge];
                    let next = if is_upper { chain[0] } else { chain[chain.len() - 1] };
                    sides[usize::from(is_upper)].push((self.line(edge, next), edge, end));
                }
            }
            let width = self.sizes.locations[location].0 * ENDS;
            for side in &mut sides {
                side.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
                for (place, &(_, edge, end)) in side.iter().enumerate() {
                    let part = (place as f64 + 0.5) / side.len() as f64 - 0.5;
                    ends[edge][end] = self.things[location].x + part * width;
                }
            }
        }
        ends
    }

    /// Where the line of an edge passes a thing on its way: to the left of its text.
    fn line(&self, edge: usize, thing: usize) -> f64 {
        let Thing { x, width, .. } = self.things[thing];
        if self.texts[edge] == thing { x - width / 2.0 } else { x }
    }

    fn route(&self, edge: usize, ends: &[[f64; 2]]) -> Route {
        let (from, to, size) = self.sizes.edges[edge];
        let (from, to) = (from as usize, to as usize);
        if from == to {
            return self.loop_route(edge, from, size);
        }
        let down = self.things[from].row < self.things[to].row || self.hangs(edge);
        let side = |location: usize, is_below: bool| {
            let half = self.sizes.locations[location].1 / 2.0;
            self.things[location].y + if is_below { half } else { -half }
        };
        let start = (ends[edge][0], side(from, down));
        let end = (ends[edge][1], side(to, !down || self.hangs(edge)));
        let chain: Vec<usize> =
            if down { self.chains[edge].clone() } else { self.chains[edge].iter().rev().copied().collect() };
        let mut points = vec![start];
        for thing in chain {
            let (x, y, half) =
                (self.line(edge, thing), self.things[thing].y, self.things[thing].height / 2.0);
            let (first, last) = if down { (y - half, y + half) } else { (y + half, y - half) };
            points.push((x, first));
            if half > 0.0 {
                points.push((x, last));
            }
        }
        let text = &self.things[self.texts[edge]];
        let corner = (text.x - text.width / 2.0 + 4.0, text.y - text.height / 2.0);
        let arrives_down = down && !self.hangs(edge);
        let direction = if arrives_down { (0.0, 1.0) } else { (0.0, -1.0) };
        let mut path = curve(&points);
        let (x, y) = points[points.len() - 1];
        // The line ends within the arrowhead.
        let stop = (end.0, end.1 - 4.0 * direction.1);
        if self.hangs(edge) {
            let low = y + HANG;
            path.push_str(&format!(" C{x:.1},{low:.1} {:.1},{low:.1} {:.1},{:.1}", stop.0, stop.0, stop.1));
        } else {
            path.push_str(&segment((x, y), stop));
        }
        Route { path, tip: end, direction, text: corner }
    }

    /// An edge that returns to its location, at the right of it.
    fn loop_route(&self, edge: usize, location: usize, size: Point) -> Route {
        let Thing { x, y, .. } = self.things[location];
        let (width, height) = self.sizes.locations[location];
        let heights: Vec<(usize, f64)> =
            self.loops(location).map(|other| (other, self.sizes.edges[other].2.1 + 6.0)).collect();
        let all: f64 = heights.iter().map(|(_, height)| height).sum();
        let before: f64 =
            heights.iter().take_while(|(other, _)| *other != edge).map(|(_, height)| height).sum();
        let middle = y - all / 2.0 + before + size.1 / 2.0 + 3.0;
        let right = x + width / 2.0;
        let near = (height / 2.0 - 3.0).max(1.0);
        // Where it leaves and comes back lies on the side of the location.
        let (leave, arrive) =
            ((middle - 4.0).clamp(y - near, y + near), (middle + 4.0).clamp(y - near, y + near));
        let far = right + LOOP * 1.25;
        let (up, low) = (middle - 12.0, middle + 12.0);
        let path = format!(
            "M{right:.1},{leave:.1} C{far:.1},{up:.1} {far:.1},{low:.1} {:.1},{arrive:.1}",
            right + 4.0
        );
        let text = (right + LOOP, middle - size.1 / 2.0);
        Route { path, tip: (right, arrive), direction: (-1.0, 0.0), text }
    }
}

/// A smooth line through points, upright at each of them.
fn curve(points: &[Point]) -> String {
    let mut path = format!("M{:.1},{:.1}", points[0].0, points[0].1);
    for pair in points.windows(2) {
        path.push_str(&segment(pair[0], pair[1]));
    }
    path
}

fn segment((x1, y1): Point, (x2, y2): Point) -> String {
    if x1 == x2 {
        return format!(" L{x2:.1},{y2:.1}");
    }
    let middle = (y1 + y2) / 2.0;
    format!(" C{x1:.1},{middle:.1} {x2:.1},{middle:.1} {x2:.1},{y2:.1}")
}

/// The middles of things of these widths that stand as close together as they may.
fn offsets(widths: &[f64]) -> Vec<f64> {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(widths.len());
    for (place, width) in widths.iter().enumerate() {
        if place > 0 {
            offset += (widths[place - 1] + width) / 2.0 + GAP;
        }
        offsets.push(offset);
    }
    offsets
}
