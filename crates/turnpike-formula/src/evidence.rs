//! Why a verdict is what it is: the part of the system that the winner's strategy needs.
//!
//! The winner follows the strategy, the loser may do anything. All steps that plays take make a system
//! of their own, in which the formula has the same value: the winner plays as before, and the loser has
//! no more moves than before.

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_games::{Player, Solution};

use crate::build::Builder;
use crate::runs::Taken;

/// Larger parts explain nothing.
const MOST_STATES: usize = 2_000;
const MOST_STEPS: usize = 20_000;

/// A part of a system. State 0 is the initial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The packed states of the system.
    pub states: Vec<Vec<u32>>,
    /// The steps, in the order in which plays take them.
    pub edges: Vec<Edge>,
}

/// A step of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// A state of the evidence.
    pub from: u32,
    /// Its label.
    pub label: String,
    /// Which of the steps of the state it is in the system.
    pub choice: u32,
    /// A state of the evidence.
    pub to: u32,
}

/// What evidence looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One path, of so many steps.
    Path(usize),
    /// A path with a loop at its end.
    Lasso {
        /// Steps before the loop.
        stem: usize,
        /// Steps of the loop.
        cycle: usize,
    },
    /// Something with branches.
    Branching,
}

impl Evidence {
    /// The part that the winner of a vertex needs; none if it is large.
    pub(crate) fn new(builder: &mut Builder<'_>, solution: &Solution, initial: u32) -> Option<Evidence> {
        let winner = solution.winner(initial)?;
        let mut seen = vec![false; builder.game.vertices()];
        let mut places: FxHashMap<u32, u32> = FxHashMap::default();
        let mut order = Vec::new();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut paired: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut followed = 0;
        let mut queue = std::collections::VecDeque::from([initial]);
        seen[initial as usize] = true;
        while let Some(vertex) = queue.pop_front() {
            let state = builder.state_of[vertex as usize];
            if state == u32::MAX {
                continue;
            }
            places.entry(state).or_insert_with(|| {
                order.push(state);
                order.len() as u32 - 1
            });
            if order.len() > MOST_STATES {
                return None;
            }
            let own = builder.game.owner(vertex) == winner;
            let moves = match (own, solution.strategy(vertex)) {
                (true, Some(target)) => vec![target],
                _ => builder.game.successors(vertex).to_vec(),
            };
            followed += moves.len();
            if followed > MOST_STEPS {
                return None;
            }
            for target in moves {
                let to = builder.state_of[target as usize];
                let pair = (state, to);
                if to != u32::MAX && !paired.contains(&pair) && is_step(builder, state, to) {
                    paired.insert(pair);
                    pairs.push(pair);
                }
                if !std::mem::replace(&mut seen[target as usize], true) {
                    queue.push_back(target);
                }
            }
        }
        for pair in builder.decisive_steps(&seen, winner == Player::Even) {
            if paired.insert(pair) {
                pairs.push(pair);
            }
            places.entry(pair.1).or_insert_with(|| {
                order.push(pair.1);
                order.len() as u32 - 1
            });
        }
        Some(Evidence::from_pairs(builder, &order, &places, &pairs))
    }

    fn from_pairs(
        builder: &mut Builder<'_>,
        order: &[u32],
        places: &FxHashMap<u32, u32>,
        pairs: &[(u32, u32)],
    ) -> Evidence {
        let mut edges = Vec::new();
        for (from, to) in pairs {
            let steps = builder.steps_of(*from).to_vec();
            for (choice, &(label, _)) in (0..).zip(&steps).filter(|(_, step)| step.1 == *to) {
                let label = builder.label(label);
                edges.push(Edge { from: places[from], label, choice, to: places[to] });
            }
        }
        let states = order.iter().map(|&state| builder.states.get(state).to_vec()).collect();
        Evidence { states, edges }
    }

    /// A run, with a loop at its end if the last step leads back to a state (0 is the initial one).
    pub fn of_run(steps: &[Taken], loop_start: Option<usize>) -> Evidence {
        let mut run = Evidence { states: vec![Vec::new()], edges: Vec::new() };
        for (at, step) in steps.iter().enumerate() {
            let back = loop_start.filter(|_| at + 1 == steps.len());
            let to = back.map_or(at as u32 + 1, |start| start as u32);
            run.edges.push(Edge { from: at as u32, label: step.label.clone(), choice: step.choice, to });
            if back.is_none() {
                run.states.push(Vec::new());
            }
        }
        run
    }

    /// Adds steps from a state to states where nothing follows, unless the steps are there.
    pub fn add_ends(&mut self, from: u32, steps: &[Taken]) {
        for step in steps {
            if self.edges.iter().any(|edge| (edge.from, edge.choice) == (from, step.choice)) {
                continue;
            }
            let to = self.states.len() as u32;
            self.states.push(Vec::new());
            self.edges.push(Edge { from, label: step.label.clone(), choice: step.choice, to });
        }
    }

    /// Whether it is a path, with or without a loop.
    pub fn is_plain(&self) -> bool {
        self.shape() != Shape::Branching
    }

    /// The steps of a state.
    fn leaving(&self, state: u32) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == state)
    }

    /// What it looks like.
    pub fn shape(&self) -> Shape {
        let path = self.path();
        let end = path.last().map_or(0, |edge| edge.to);
        if path.len() < self.edges.len() || self.states.len() > path.len() + 1 {
            return Shape::Branching;
        }
        match path.iter().position(|edge| edge.from == end) {
            Some(stem) => Shape::Lasso { stem, cycle: path.len() - stem },
            None => Shape::Path(path.len()),
        }
    }

    /// The steps from the initial state on while there is only one, each once.
    pub fn path(&self) -> Vec<&Edge> {
        let (mut path, mut at) = (Vec::new(), 0);
        let mut seen = vec![false; self.states.len()];
        while !std::mem::replace(&mut seen[at as usize], true) {
            let mut leaving = self.leaving(at);
            let (Some(edge), None) = (leaving.next(), leaving.next()) else { break };
            path.push(edge);
            at = edge.to;
        }
        path
    }

    /// The evidence as a system in Aldebaran's format.
    pub fn to_aut(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!("des (0,{},{})\n", self.edges.len(), self.states.len());
        for edge in &self.edges {
            let _ = writeln!(text, "({},\"{}\",{})", edge.from, edge.label, edge.to);
        }
        text
    }
}

fn is_step(builder: &Builder<'_>, from: u32, to: u32) -> bool {
    builder.steps_of(from).iter().any(|step| step.1 == to)
}
