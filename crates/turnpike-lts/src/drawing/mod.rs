//! Drawings of small systems. Parallel transitions share an edge, and layers are distances from the
//! initial state.

mod dot;
mod layers;
mod svg;

use indexmap::{IndexMap, IndexSet};
use turnpike_model::Diagnostic;

use crate::system::Lts;

pub use dot::dot;
pub use layers::{order_layers, spread};
pub use svg::svg;

/// Larger systems are not drawn, because the result would be unreadable.
pub const MAX_DRAWN_STATES: u32 = 500;

/// Systems with more transitions are not drawn.
pub const MAX_DRAWN_TRANSITIONS: usize = 5000;

/// A system small enough to draw.
struct Drawing<'a> {
    initial: usize,
    /// For each state, whether it has no outgoing transition.
    deadlock: Vec<bool>,
    /// The distinct labels of all transitions between two states, in file order.
    edges: IndexMap<(usize, usize), IndexSet<&'a str>>,
    /// The states by distance from the initial state. Unreachable ones are in an additional last
    /// layer.
    layers: Vec<Vec<usize>>,
    /// For each state, whether it is reachable.
    reachable: Vec<bool>,
}

impl<'a> Drawing<'a> {
    fn new(lts: &'a Lts) -> Result<Self, Diagnostic> {
        if lts.states > MAX_DRAWN_STATES {
            return Err(too_large("states", u64::from(lts.states), u64::from(MAX_DRAWN_STATES)));
        }
        if lts.transitions.len() > MAX_DRAWN_TRANSITIONS {
            return Err(too_large("transitions", lts.transitions.len() as u64, MAX_DRAWN_TRANSITIONS as u64));
        }
        lts.check()?;
        let states = lts.states as usize;
        let mut edges: IndexMap<(usize, usize), IndexSet<&str>> = IndexMap::new();
        let mut deadlock = vec![true; states];
        for transition in &lts.transitions {
            let (from, to) = (transition.from as usize, transition.to as usize);
            deadlock[from] = false;
            edges.entry((from, to)).or_default().insert(lts.label(transition.label));
        }

        let outgoing = lts.outgoing();
        let initial = lts.initial as usize;
        let mut reachable = vec![false; states];
        reachable[initial] = true;
        let mut layers = Vec::new();
        let mut layer = vec![initial];
        while !layer.is_empty() {
            let mut next = Vec::new();
            for &state in &layer {
                for &(_, to) in outgoing.of(state as u32) {
                    if !std::mem::replace(&mut reachable[to as usize], true) {
                        next.push(to as usize);
                    }
                }
            }
            layers.push(std::mem::replace(&mut layer, next));
        }
        let unreachable: Vec<usize> = (0..states).filter(|&state| !reachable[state]).collect();
        if !unreachable.is_empty() {
            layers.push(unreachable);
        }
        Ok(Drawing { initial, deadlock, edges, layers, reachable })
    }

    /// The tooltip of a state.
    fn title(&self, state: usize) -> String {
        let mut title = format!("state {state}");
        if state == self.initial {
            title.push_str(", initial");
        }
        if self.deadlock[state] {
            title.push_str(", no outgoing transitions");
        }
        if !self.reachable[state] {
            title.push_str(", not reachable");
        }
        title
    }
}

fn too_large(what: &str, count: u64, limit: u64) -> Diagnostic {
    Diagnostic::error(format!("the system has {count} {what}; at most {limit} are drawn"))
        .help("reduce the system first, or draw a witness instead of the whole")
}

/// The label, cut if it is too long.
pub(crate) fn shortened(label: &str, limit: usize) -> String {
    if label.chars().count() <= limit {
        return label.to_owned();
    }
    let mut short: String = label.chars().take(limit - 1).collect();
    // The label may leave something out itself, just here.
    if !short.ends_with('…') {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aut::{AutDialect, read_lts};
    use crate::system::Transition;
    use turnpike_model::LabelId;

    #[test]
    fn refuses_large_or_broken_systems() {
        let many = Lts { states: 501, ..Lts::default() };
        assert!(Drawing::new(&many).err().expect("too large").message.contains("501 states; at most 500"));
        let step = Transition { from: 0, label: LabelId(0), to: 0 };
        let dense =
            Lts { states: 1, labels: vec!["a".to_owned()], transitions: vec![step; 5001], ..Lts::default() };
        assert!(Drawing::new(&dense).err().expect("too large").message.contains("5001 transitions"));
        let broken = Lts { states: 1, initial: 3, ..Lts::default() };
        assert!(Drawing::new(&broken).is_err());
    }

    #[test]
    fn layers_follow_the_distance() {
        let text = "des (1,4,5)\n(1,\"a\",0)\n(1,\"b\",0)\n(0,\"c\",1)\n(1,\"a\",3)\n";
        let lts = read_lts(text.as_bytes(), AutDialect::Mcrl2).expect("reads");
        let drawing = Drawing::new(&lts).expect("small");
        assert_eq!(drawing.layers, [vec![1], vec![0, 3], vec![2, 4]]);
        assert_eq!(drawing.edges[&(1, 0)].iter().copied().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(drawing.title(3), "state 3, no outgoing transitions");
        assert_eq!(drawing.title(4), "state 4, no outgoing transitions, not reachable");
        assert_eq!(drawing.title(1), "state 1, initial");
    }

    #[test]
    fn long_labels_are_shortened() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("longer", 5), "long…");
        assert_eq!(shortened("lon… and …", 5), "lon…");
    }
}
