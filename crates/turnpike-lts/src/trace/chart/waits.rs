//! Which component waits for which in a deadlock.

use turnpike_model::components::components;
use turnpike_model::{Obstacle, StuckComponent};

use super::canvas::{CHARACTER, Canvas, Drawing};
use crate::drawing::shortened;
use crate::trace::stuck::{headline, sentence};

/// Pixels of a line of text, between boxes, and inside them.
const LINE: f64 = 16.0;
const GAP: f64 = 22.0;
const PADDING: f64 = 10.0;
/// Characters of a line, and lines of a box.
const WIDEST: usize = 96;
const OFFERS: usize = 12;
/// How far the first arrow bows out, and how much further each other one.
const BOW: f64 = 46.0;
const SPREAD: f64 = 14.0;

/// Components that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitGraph {
    /// The components, in the order of the model.
    pub nodes: Vec<WaitNode>,
    /// Who waits for whom.
    pub waits: Vec<Wait>,
}

/// A component that cannot go on, or that has what others wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitNode {
    /// Its name.
    pub component: String,
    /// Its name and where it is.
    pub headline: String,
    /// What it offers and what rules that out, one line each.
    pub offers: Vec<String>,
    /// Whether it is part of a circle: it waits for others that wait for it.
    pub in_circle: bool,
}

/// One component waits for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The node that waits, and which of its offers it is about.
    pub from: (usize, usize),
    /// The node that it waits for.
    pub to: usize,
    /// What the other one would have to do.
    pub kind: WaitKind,
    /// Whether it is part of a circle.
    pub in_circle: bool,
}

/// What a component waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WaitKind {
    /// The partner could take part, but only in another position.
    Elsewhere,
    /// The partner offers something else.
    Instead,
    /// The other has to act first, or must not be where it is.
    Precedence,
    /// The other holds what is needed.
    Held,
}

impl WaitKind {
    fn class(self) -> &'static str {
        match self {
            WaitKind::Elsewhere => "elsewhere",
            WaitKind::Instead => "instead",
            WaitKind::Precedence => "precedence",
            WaitKind::Held => "held",
        }
    }
}

impl WaitGraph {
    /// The components of a deadlock, and what they wait for.
    pub fn of(stuck: &[StuckComponent]) -> Self {
        let mut nodes: Vec<WaitNode> = stuck
            .iter()
            .map(|one| WaitNode {
                component: one.component.clone(),
                headline: headline(one),
                offers: one.offers.iter().map(sentence).collect(),
                in_circle: false,
            })
            .collect();
        let mut waits: Vec<Wait> = Vec::new();
        for (node, component) in stuck.iter().enumerate() {
            for (offer, one) in component.offers.iter().enumerate() {
                for (name, kind) in one.obstacles.iter().flat_map(awaited) {
                    let known = nodes.iter().position(|node| node.component == name);
                    // Who holds something without waiting itself is not stuck, but matters.
                    let to = known.unwrap_or_else(|| {
                        let (component, headline) = (name.to_owned(), format!("{name}, which does not wait"));
                        nodes.push(WaitNode { component, headline, offers: Vec::new(), in_circle: false });
                        nodes.len() - 1
                    });
                    let wait = Wait { from: (node, offer), to, kind, in_circle: false };
                    if !waits.contains(&wait) {
                        waits.push(wait);
                    }
                }
            }
        }
        let targets = |node: u32, k: usize| {
            let mut own = waits.iter().filter(|wait| wait.from.0 == node as usize);
            own.nth(k).map(|wait| wait.to as u32)
        };
        let (component_of, _) = components(nodes.len(), targets);
        let joins = |wait: &Wait| component_of[wait.from.0] == component_of[wait.to];
        let circular: Vec<bool> = waits.iter().map(joins).collect();
        for (wait, circular) in waits.iter_mut().zip(circular) {
            wait.in_circle = circular;
            nodes[wait.from.0].in_circle |= circular;
        }
        WaitGraph { nodes, waits }
    }
}

/// The components that an obstacle waits for.
fn awaited(obstacle: &Obstacle) -> Vec<(&str, WaitKind)> {
    match obstacle {
        Obstacle::Partner { elsewhere, instead, .. } => {
            let instead = instead.iter().map(|other| (other.component.as_str(), WaitKind::Instead));
            let elsewhere = elsewhere.iter().map(|other| (other.as_str(), WaitKind::Elsewhere));
            instead.chain(elsewhere).collect()
        }
        Obstacle::Precedence { component } | Obstacle::Target { component, .. } => {
            vec![(component, WaitKind::Precedence)]
        }
        Obstacle::Held { by: Some(by), .. } => vec![(by, WaitKind::Held)],
        _ => Vec::new(),
    }
}

pub(super) fn draw(graph: &WaitGraph) -> Drawing {
    let mut canvas = Canvas::default();
    let lines = graph.nodes.iter().flat_map(|node| node.offers.iter().chain([&node.headline]));
    let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0).clamp(16, WIDEST);
    let width = longest as f64 * CHARACTER + 2.0 * PADDING + 16.0;
    let mut y = 0.0;
    // Where the headline of each box is, and each of its offers.
    let mut heights: Vec<(f64, Vec<f64>)> = Vec::new();
    for node in &graph.nodes {
        let shown = node.offers.len().min(OFFERS);
        let more = node.offers.len() - shown;
        let rows = 1 + shown + usize::from(more > 0);
        let height = rows as f64 * LINE + 2.0 * PADDING - 4.0;
        let class = if node.in_circle { "component circle" } else { "component" };
        canvas.rectangle(class, (0.0, y), (width, height), &node.headline);
        let line = |row: usize| y + PADDING + LINE * row as f64 + 8.0;
        let headline = shortened(&node.headline, longest);
        canvas.text("heading", "start", (PADDING, line(0)), &headline, &node.headline);
        for (row, offer) in node.offers.iter().take(shown).enumerate() {
            let text = shortened(offer, longest);
            canvas.text("offer", "start", (PADDING + 12.0, line(row + 1)), &text, offer);
        }
        if more > 0 {
            let text = format!("... and {more} more");
            canvas.text("note", "start", (PADDING + 12.0, line(shown + 1)), &text, "");
        }
        let offers = (0..node.offers.len()).map(|row| line(row.min(shown) + 1) - 4.0).collect();
        heights.push((line(0) - 4.0, offers));
        y += height + GAP;
    }
    for (index, wait) in graph.waits.iter().enumerate() {
        let (node, offer) = wait.from;
        let (from, to) = ((width, heights[node].1[offer]), (width, heights[wait.to].0));
        let circle = if wait.in_circle { " circle" } else { "" };
        let class = format!("wait {}{circle}", wait.kind.class());
        let head = if wait.in_circle { "circle-head" } else { "head" };
        // Arrows that span more boxes lie outside.
        let span = node.abs_diff(wait.to) as f64;
        let depth = BOW + SPREAD * (span + (index % 3) as f64 / 3.0);
        let (waiting, other) = (&graph.nodes[node], &graph.nodes[wait.to]);
        let title = format!("{} waits for {}\n{}", waiting.component, other.component, waiting.offers[offer]);
        canvas.bow((&class, head), from, to, depth, &title);
    }
    canvas.finish(format!("{} components that wait", graph.nodes.len()))
}

#[cfg(test)]
mod tests {
    use super::super::wait_chart;
    use super::*;
    use turnpike_model::{Counterpart, Offer, Trace};

    fn stuck(component: &str, obstacles: Vec<Obstacle>) -> StuckComponent {
        let offer = |obstacle| Offer { action: "a<1>".into(), obstacles: vec![obstacle] };
        StuckComponent {
            component: component.into(),
            position: "here".into(),
            offers: obstacles.into_iter().map(offer).collect(),
            stops_time: None,
        }
    }

    fn held(by: Option<&str>) -> Obstacle {
        Obstacle::Held { needs: "to lock m".into(), by: by.map(str::to_owned), since: None }
    }

    #[test]
    fn circles_are_found() {
        let graph = WaitGraph::of(&[
            stuck("main", vec![held(Some("main.0"))]),
            stuck("main.0", vec![held(Some("main.1"))]),
            stuck("main.1", vec![held(Some("main.0"))]),
            stuck("main.2", vec![held(None), held(Some("main.3")), held(Some("main.2"))]),
        ]);
        let waits: Vec<_> = graph.waits.iter().map(|wait| (wait.from.0, wait.to, wait.in_circle)).collect();
        assert_eq!(waits, [(0, 1, false), (1, 2, true), (2, 1, true), (3, 4, false), (3, 3, true)]);
        assert_eq!(graph.nodes[4].headline, "main.3, which does not wait");
        let circle: Vec<bool> = graph.nodes.iter().map(|node| node.in_circle).collect();
        assert_eq!(circle, [false, true, true, true, false]);
    }

    #[test]
    fn every_component_is_a_box_and_every_wait_an_arrow() {
        let other = Counterpart { component: "Q".into(), action: "b".into(), reason: None };
        let partner =
            Obstacle::Partner { action: "b<2>".into(), elsewhere: vec!["R".into()], instead: vec![other] };
        let components = vec![
            stuck("P", vec![partner, Obstacle::Disallowed { by: "allow".into() }]),
            stuck("Q", vec![Obstacle::Precedence { component: "P".into() }]),
            stuck(
                "R",
                (0..20).map(|_| Obstacle::Condition { condition: "x < 1".into(), actual: None }).collect(),
            ),
        ];
        let picture = wait_chart(&Trace { stuck: components, ..Trace::default() }).expect("drawn").file();
        assert_eq!(picture.matches("class=\"component").count(), 3);
        for (class, count) in
            [("wait instead circle", 1), ("wait elsewhere", 1), ("wait precedence circle", 1)]
        {
            assert_eq!(picture.matches(&format!("class=\"{class}\"")).count(), count, "{class}");
        }
        assert!(picture.contains("... and 8 more") && picture.contains("not allowed by allow"));
        assert!(picture.contains("b&lt;2&gt;") && !picture.contains("b<2>"));
    }
}
