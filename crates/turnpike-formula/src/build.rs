//! The parity game of a model and a formula, vertex by vertex.
//!
//! A vertex is a state, a place in the formula and the values of the variables that matter there.
//! Only places after a step and fixed points have vertices of their own: connectives, quantifiers and
//! modalities between them are evaluated at once, so what is decided by the state itself never
//! becomes part of the game.

use turnpike_games::{Game, Player};
use turnpike_model::formula::{ANY_ACTION, Formula, Judge, Node, NodeId, Property};
use turnpike_model::{Explorer, LabelId, Model, Successors};

use crate::solve::Failure;
use crate::table::Table;

/// Where winning vertices lead that need no state: the second player cannot move.
pub(crate) const TRUE: u32 = 0;
/// The same for losing ones.
pub(crate) const FALSE: u32 = 1;
/// The vertex of the whole formula in the initial state.
pub(crate) const INITIAL: u32 = 2;

/// Rows, keys and edges are numbered with 32 bits. One expansion adds far fewer than the other half.
const MOST_ENTRIES: usize = u32::MAX as usize / 2;

/// The row of a state whose steps were not computed.
const NO_ROW: (u32, u32) = (u32::MAX, 0);

/// A game that grows.
pub(crate) struct Builder<'a> {
    pub(crate) formula: &'a Formula,
    explorer: Box<dyn Explorer + 'a>,
    judge: Box<dyn Judge + 'a>,
    pub(crate) game: Game,
    pub(crate) states: Table,
    /// Where the steps of each state begin, and how many there are.
    rows: Vec<(u32, u32)>,
    steps: Vec<(LabelId, u32)>,
    /// State, place and values of the vertices that are shared.
    keys: Table,
    /// The vertex of each key.
    vertices: Vec<u32>,
    /// The state of each vertex of the game.
    pub(crate) state_of: Vec<u32>,
    successors: Successors,
    labels: Vec<LabelId>,
    key: Vec<u32>,
    /// Expanded states.
    pub(crate) expanded: u64,
    /// Steps that decided a modality, each with its source, target and what it decided; kept only
    /// while evidence is collected.
    decisive: Option<Vec<(u32, u32, bool)>>,
}

/// The vertices that a place leads to; `Err` is decided.
type Targets = Result<Vec<u32>, bool>;

impl<'a> Builder<'a> {
    /// The game with its initial vertex.
    pub(crate) fn new(model: &'a dyn Model, property: &'a dyn Property) -> Result<Self, Failure> {
        let (formula, width) = (property.formula(), model.info().width);
        let mut game = Game::new();
        // Who cannot move loses.
        game.add_vertex(Player::Odd, 0);
        game.add_vertex(Player::Even, 0);
        game.expand(TRUE, &[]);
        game.expand(FALSE, &[]);
        let mut builder = Builder {
            formula,
            explorer: model.explorer(),
            judge: property.judge(),
            game,
            states: Table::new(width),
            rows: Vec::new(),
            steps: Vec::new(),
            keys: Table::new(2 + formula.slots),
            vertices: Vec::new(),
            state_of: vec![u32::MAX; 2],
            successors: Successors::new(width),
            labels: Vec::new(),
            key: Vec::new(),
            expanded: 0,
            decisive: None,
        };
        let mut initial = Vec::new();
        builder.explorer.initial(&mut initial)?;
        let state = builder.state(&initial);
        let values = vec![0; formula.slots];
        let vertex = builder.vertex(state, formula.root, &values);
        debug_assert_eq!(vertex, INITIAL);
        Ok(builder)
    }

    /// How many vertices wait at most.
    pub(crate) fn keys(&self) -> u32 {
        self.keys.len() as u32
    }

    /// Whether the numbers of entries run out.
    pub(crate) fn is_full(&self) -> bool {
        let tables = [self.steps.len(), self.states.len(), self.keys.len()];
        let game = [self.game.vertices(), self.game.edges()];
        tables.into_iter().chain(game).any(|entries| entries > MOST_ENTRIES)
    }

    /// Bytes that the tables hold.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.rows.len() * 8 + self.steps.len() * 8 + self.vertices.len() * 8;
        let game = self.game.vertices() * 17 + self.game.edges() * 4;
        self.states.bytes() + self.keys.bytes() + lists + game
    }

    fn state(&mut self, words: &[u32]) -> u32 {
        let (id, new) = self.states.insert(words);
        if new {
            self.rows.push(NO_ROW);
        }
        id
    }

    /// The steps of a state, as positions in `steps`.
    pub(crate) fn row(&mut self, state: u32) -> Result<std::ops::Range<usize>, Failure> {
        if self.rows[state as usize] == NO_ROW {
            let mut successors = std::mem::take(&mut self.successors);
            let words = self.states.get(state).to_vec();
            self.explorer.successors(&words, &mut successors)?;
            self.judge.learn(successors.labels(), &mut *self.explorer)?;
            let start = self.steps.len() as u32;
            for (label, target) in successors.iter() {
                let target = self.state(target);
                self.steps.push((label, target));
            }
            self.rows[state as usize] = (start, successors.len() as u32);
            self.successors = successors;
            self.expanded += 1;
        }
        let (start, count) = self.rows[state as usize];
        Ok(start as usize..(start + count) as usize)
    }

    /// The steps of a state that was expanded: labels and targets.
    pub(crate) fn steps_of(&self, state: u32) -> &[(LabelId, u32)] {
        match self.rows[state as usize] {
            NO_ROW => &[],
            (start, count) => &self.steps[start as usize..(start + count) as usize],
        }
    }

    /// The text of a label.
    pub(crate) fn label(&mut self, label: LabelId) -> String {
        self.explorer.label(label).text
    }

    /// The vertex of a place, after a step or for the initial state. Fixed points are places of
    /// their own behind those of nodes.
    fn vertex(&mut self, state: u32, place: NodeId, values: &[u32]) -> u32 {
        let (node, priority) = match place.checked_sub(self.formula.nodes.len() as u32) {
            None => (place, 0),
            Some(point) => {
                let point = &self.formula.points[point as usize];
                (point.body, point.rank)
            }
        };
        self.key.clear();
        self.key.extend([state, place]);
        self.key.resize(2 + self.formula.slots, 0);
        for &slot in &self.formula.live[node as usize] {
            self.key[2 + slot as usize] = values[slot as usize];
        }
        let (id, new) = self.keys.insert(&self.key);
        if new {
            let owner = owner(is_universal(&self.formula.nodes[node as usize]));
            self.vertices.push(self.game.add_vertex(owner, priority));
            self.state_of.push(state);
        }
        self.vertices[id as usize]
    }

    /// Lists the edges of the vertex with a key, and gives its value if that is decided.
    pub(crate) fn expand(&mut self, key: u32) -> Result<Option<bool>, Failure> {
        let words = self.keys.get(key).to_vec();
        let (state, place) = (words[0], words[1]);
        let node = self.node_of(place);
        let mut values = words[2..].to_vec();
        let all = is_universal(&self.formula.nodes[node as usize]);
        let mut targets = Vec::new();
        let decided = self.collect(state, node, &mut values, all, &mut targets)?;
        let vertex = self.vertices[key as usize];
        match decided {
            Some(value) => self.game.expand(vertex, &[if value { TRUE } else { FALSE }]),
            None => {
                targets.sort_unstable();
                targets.dedup();
                self.game.expand(vertex, &targets);
            }
        }
        // Whoever has to move and cannot loses.
        Ok(decided.or_else(|| targets.is_empty().then_some(all)))
    }

    /// The steps that decide modalities at the vertices which `visited` holds, in favour of a player:
    /// pairs of states.
    pub(crate) fn decisive_steps(&mut self, visited: &[bool], value: bool) -> Vec<(u32, u32)> {
        self.decisive = Some(Vec::new());
        for key in 0..self.keys() {
            if visited[self.vertices[key as usize] as usize] {
                let words = self.keys.get(key).to_vec();
                let node = self.node_of(words[1]);
                let all = is_universal(&self.formula.nodes[node as usize]);
                let mut values = words[2..].to_vec();
                // It was evaluated before, so it cannot fail now.
                let _ = self.collect(words[0], node, &mut values, all, &mut Vec::new());
            }
        }
        let found = self.decisive.take().unwrap_or_default();
        found.into_iter().filter(|one| one.2 == value).map(|one| (one.0, one.1)).collect()
    }

    /// The node that a place stands for.
    fn node_of(&self, place: NodeId) -> NodeId {
        match place.checked_sub(self.formula.nodes.len() as u32) {
            None => place,
            Some(point) => self.formula.points[point as usize].body,
        }
    }

    /// Adds what a place leads to, to the targets of a vertex where all of them must be won or one;
    /// gives the value that decides the vertex if there is one.
    fn collect(
        &mut self,
        state: u32,
        node: NodeId,
        values: &mut Vec<u32>,
        all: bool,
        targets: &mut Vec<u32>,
    ) -> Result<Option<bool>, Failure> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.collect_node(state, node, values, all, targets))
    }

    fn collect_node(
        &mut self,
        state: u32,
        node: NodeId,
        values: &mut Vec<u32>,
        all: bool,
        targets: &mut Vec<u32>,
    ) -> Result<Option<bool>, Failure> {
        let formula = self.formula;
        match &formula.nodes[node as usize] {
            Node::Constant(value) => Ok((*value != all).then_some(*value)),
            Node::Condition { condition, expected } => {
                let value = self.judge.truth(*condition, values)? == *expected;
                Ok((value != all).then_some(value))
            }
            Node::Call { point, arguments } => {
                let target = self.enter(state, *point, *arguments, values)?;
                targets.push(target);
                Ok(None)
            }
            other if is_universal(other) != all && !is_single(other) => {
                match self.nested(state, node, values)? {
                    Ok(inner) => {
                        targets.push(self.anonymous(state, !all, inner));
                        Ok(None)
                    }
                    Err(value) => Ok((value != all).then_some(value)),
                }
            }
            Node::Junction { parts, .. } => {
                for &part in parts {
                    if let Some(decided) = self.collect(state, part, values, all, targets)? {
                        return Ok(Some(decided));
                    }
                }
                Ok(None)
            }
            Node::Quantifier { quantifier, body, .. } => {
                self.collect_values(state, *quantifier, *body, values, all, targets)
            }
            Node::Modality { action, body, .. } => {
                self.collect_steps(state, *action, *body, values, all, targets)
            }
        }
    }

    /// A place of the other kind: its own targets, or what it is.
    fn nested(&mut self, state: u32, node: NodeId, values: &mut Vec<u32>) -> Result<Targets, Failure> {
        let all = is_universal(&self.formula.nodes[node as usize]);
        let mut inner = Vec::new();
        let decided = self.collect(state, node, values, all, &mut inner)?;
        inner.sort_unstable();
        inner.dedup();
        Ok(match decided {
            Some(value) => Err(value),
            None if inner.is_empty() => Err(all),
            None => Ok(inner),
        })
    }

    /// A vertex that is not shared; none if there is nothing to choose.
    fn anonymous(&mut self, state: u32, all: bool, targets: Vec<u32>) -> u32 {
        if let [only] = targets[..] {
            return only;
        }
        let vertex = self.game.add_vertex(owner(all), 0);
        self.state_of.push(state);
        self.game.expand(vertex, &targets);
        vertex
    }

    fn collect_values(
        &mut self,
        state: u32,
        quantifier: u32,
        body: NodeId,
        values: &mut Vec<u32>,
        all: bool,
        targets: &mut Vec<u32>,
    ) -> Result<Option<bool>, Failure> {
        let row = self.row(state)?;
        let mut labels = std::mem::take(&mut self.labels);
        labels.clear();
        labels.extend(self.steps[row].iter().map(|step| step.0));
        let mut found = Vec::new();
        self.judge.candidates(quantifier, &labels, values, &mut found)?;
        self.labels = labels;
        let slots = &self.formula.quantifiers[quantifier as usize];
        let before = values.clone();
        let mut decided = None;
        for group in found.chunks_exact(slots.len()) {
            slots.iter().zip(group).for_each(|(&slot, &value)| values[slot as usize] = value);
            decided = self.collect(state, body, values, all, targets)?;
            if decided.is_some() {
                break;
            }
        }
        *values = before;
        Ok(decided)
    }

    fn collect_steps(
        &mut self,
        state: u32,
        action: u32,
        body: NodeId,
        values: &[u32],
        all: bool,
        targets: &mut Vec<u32>,
    ) -> Result<Option<bool>, Failure> {
        for at in self.row(state)? {
            let (label, target) = self.steps[at];
            if action != ANY_ACTION && !self.judge.matches(action, label, values)? {
                continue;
            }
            let decided = match &self.formula.nodes[body as usize] {
                Node::Constant(value) => Some(*value),
                Node::Condition { condition, expected } => {
                    Some(self.judge.truth(*condition, values)? == *expected)
                }
                _ => None,
            };
            if decided == Some(!all) {
                if let Some(decisive) = &mut self.decisive {
                    decisive.push((state, target, !all));
                }
                return Ok(decided);
            }
            match &self.formula.nodes[body as usize] {
                Node::Constant(_) | Node::Condition { .. } => {}
                Node::Call { point, arguments } => {
                    let target = self.enter(target, *point, *arguments, values)?;
                    targets.push(target);
                }
                _ => {
                    let target = self.vertex(target, body, values);
                    targets.push(target);
                }
            }
        }
        Ok(None)
    }

    /// The vertex of a fixed point with these arguments.
    fn enter(&mut self, state: u32, point: u32, arguments: u32, values: &[u32]) -> Result<u32, Failure> {
        let place = self.formula.nodes.len() as u32 + point;
        let parameters = &self.formula.points[point as usize].parameters;
        if parameters.is_empty() {
            return Ok(self.vertex(state, place, values));
        }
        let mut new = Vec::with_capacity(parameters.len());
        self.judge.arguments(arguments, values, &mut new)?;
        let mut inside = values.to_vec();
        parameters.iter().zip(new).for_each(|(&slot, value)| inside[slot as usize] = value);
        Ok(self.vertex(state, place, &inside))
    }
}

fn owner(all: bool) -> Player {
    if all { Player::Odd } else { Player::Even }
}

/// Whether the player who refutes moves at a node.
fn is_universal(node: &Node) -> bool {
    match node {
        Node::Junction { all, .. } | Node::Quantifier { all, .. } | Node::Modality { all, .. } => *all,
        Node::Constant(_) | Node::Condition { .. } | Node::Call { .. } => false,
    }
}

/// Whether there is nothing to choose at a node.
fn is_single(node: &Node) -> bool {
    matches!(node, Node::Constant(_) | Node::Condition { .. } | Node::Call { .. })
}
