//! A simple and slow explorer: networks of few clocks, region by region.
//!
//! It works on its own description of a network, which is small enough to enumerate everything
//! naively, and shares no code with the implementation that it checks.

mod cycles;
mod small_steps;

use std::collections::{BTreeMap, BTreeSet};

use turnpike_timed::network::{
    Binary, Cells, Channel, ChannelCell, ChannelId, ClockAtom, ClockCell, ClockId, ClockValue, Constraint,
    Edge, EventId, Expression, Language, Location, LocationId, Network, Participant, Process, ProcessId,
    Rate, Space, Statement, Sync, Variable,
};

pub(crate) use cycles::{Cycles, cycles};
pub(crate) use small_steps::small_steps;

/// `left - right < bound`, or `<=`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atom {
    pub left: Option<usize>,
    pub right: Option<usize>,
    pub strict: bool,
    pub bound: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum With {
    Alone,
    Send(usize),
    Receive(usize),
    Event(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub from: usize,
    pub to: usize,
    pub with: With,
    pub guard: Vec<Atom>,
    /// The variable must have this value.
    pub needs: Option<i32>,
    /// The variable gets this value.
    pub sets: Option<i32>,
    pub resets: Vec<(usize, i32)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub invariant: Vec<Atom>,
    /// Clocks that are stopped here.
    pub stands: Vec<usize>,
    pub urgent: bool,
    pub committed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    pub spots: Vec<Spot>,
    pub moves: Vec<Move>,
    pub priority: u32,
}

/// A network. Channels: 0 is binary, 1 broadcast, 2 urgent, 3 binary with a higher priority, 4 an
/// urgent broadcast.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub language: Language,
    pub clocks: usize,
    pub automata: Vec<Automaton>,
    /// Process, event, weak.
    pub vectors: Vec<Vec<(usize, usize, bool)>>,
    /// The largest constant that clocks are compared with.
    pub most: i32,
}

const BROADCAST: [usize; 2] = [1, 4];
const URGENT: [usize; 2] = [2, 4];
const PRIORITIES: [u32; 5] = [0, 0, 0, 1, 0];

impl Sketch {
    pub(crate) fn network(&self) -> Network {
        let atom = |atom: &Atom| ClockAtom {
            when: None,
            left: atom.left.map(|clock| ClockCell::fixed(ClockId(clock as u32))),
            right: atom.right.map(|clock| ClockCell::fixed(ClockId(clock as u32))),
            strict: atom.strict,
            bound: Expression::Constant(atom.bound),
            place: 0..0,
        };
        let rate = |&clock: &usize| Rate {
            when: None,
            clock: ClockCell::fixed(ClockId(clock as u32)),
            value: Expression::Constant(0),
            place: 0..0,
        };
        let process = |(index, automaton): (usize, &Automaton)| Process {
            name: format!("P{index}"),
            locations: automaton
                .spots
                .iter()
                .enumerate()
                .map(|(number, spot)| Location {
                    name: format!("l{number}"),
                    invariant: Constraint {
                        data: Vec::new(),
                        clocks: spot.invariant.iter().map(atom).collect(),
                    },
                    rates: spot.stands.iter().map(rate).collect(),
                    urgent: spot.urgent,
                    committed: spot.committed,
                    ..Location::default()
                })
                .collect(),
            initial: vec![LocationId(0)],
            edges: automaton.moves.iter().map(|one| edge(one, &atom)).collect(),
            priority: automaton.priority,
        };
        let mut moves = self.automata.iter().flat_map(|automaton| &automaton.moves);
        let events = moves.any(|one| matches!(one.with, With::Event(_)));
        let channel = |(id, priority): (usize, &u32)| Channel {
            name: format!("c{id}"),
            broadcast: BROADCAST.contains(&id),
            urgent: URGENT.contains(&id),
            priority: *priority,
        };
        let participant = |&(process, event, weak): &(usize, usize, bool)| Participant {
            process: ProcessId(process as u32),
            event: EventId(event as u32),
            weak,
        };
        Network {
            clocks: (0..self.clocks).map(|clock| format!("x{clock}")).collect(),
            variables: vec![Variable { name: "v".to_owned(), low: 0, high: 2, initial: 0, meta: false }],
            processes: self.automata.iter().enumerate().map(process).collect(),
            // A network has events or channels.
            events: (0..if events { 3 } else { 0 }).map(|event| format!("e{event}")).collect(),
            vectors: self.vectors.iter().map(|vector| vector.iter().map(participant).collect()).collect(),
            channels: PRIORITIES.iter().enumerate().map(channel).collect(),
            language: self.language,
            ..Network::default()
        }
    }
}

fn edge(one: &Move, atom: &impl Fn(&Atom) -> ClockAtom) -> Edge {
    let cell = || Cells::fixed(Space::Global, 0);
    let channel = |id: usize| ChannelCell { base: ChannelId(id as u32), offset: None };
    let equal = |value| {
        let read = Box::new(Expression::Read(cell()));
        Expression::Binary(Binary::Equal, read, Box::new(Expression::Constant(value)), 0..0)
    };
    let mut update: Vec<Statement> = Vec::new();
    update.extend(one.sets.map(|value| Statement::Assign {
        target: cell(),
        value: Expression::Constant(value),
        place: 0..0,
    }));
    update.extend(one.resets.iter().map(|&(clock, value)| Statement::Clock {
        clock: ClockCell::fixed(ClockId(clock as u32)),
        value: ClockValue::Constant(Expression::Constant(value)),
        place: 0..0,
    }));
    Edge {
        source: LocationId(one.from as u32),
        target: LocationId(one.to as u32),
        sync: match one.with {
            With::Alone => Sync::Internal,
            With::Send(id) => Sync::Send(channel(id)),
            With::Receive(id) => Sync::Receive(channel(id)),
            With::Event(id) => Sync::Event(EventId(id as u32)),
        },
        guard: Constraint {
            data: one.needs.map(equal).into_iter().collect(),
            clocks: one.guard.iter().map(atom).collect(),
        },
        update,
        locals: Vec::new(),
        place: 0..0,
    }
}

/// Locations and the variable.
pub(crate) type Discrete = (Vec<usize>, i32);

/// A region: for each clock its integer part and the rank of its fraction (0: none); both are
/// constant above the largest number.
type Region = Vec<(i32, i32)>;

/// Moves that are taken together, by process and position, and their channel.
type Together = (Vec<(usize, usize)>, Option<usize>);

/// The target of moves, and the moves.
type Taken = ((Discrete, Region), Vec<(usize, usize)>);

/// The result of exploring all regions.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// Reachable discrete states.
    pub reached: BTreeSet<Discrete>,
    /// Those with a deadlock for some clock values.
    pub dead: BTreeSet<Discrete>,
    /// Those reached with clock 0 above 1 and clock 1 at most 1.
    pub met: BTreeSet<Discrete>,
}

struct Slow<'s> {
    sketch: &'s Sketch,
    /// Number of fraction ranks per unit of time.
    unit: i32,
}

impl<'s> Slow<'s> {
    fn regions(sketch: &'s Sketch) -> Self {
        Slow { sketch, unit: sketch.clocks as i32 + 1 }
    }

    fn normal(&self, region: Region) -> Region {
        let most = self.sketch.most;
        // A value equal to the largest constant still counts.
        let above = |&(whole, rank): &(i32, i32)| whole > most || (whole == most && rank > 0);
        let ranks: BTreeSet<i32> =
            region.iter().filter(|clock| !above(clock) && clock.1 > 0).map(|clock| clock.1).collect();
        let rank = |rank: i32| if rank == 0 { 0 } else { ranks.range(..=rank).count() as i32 };
        region
            .iter()
            .map(|clock| if above(clock) { (most + 1, 0) } else { (clock.0, rank(clock.1)) })
            .collect()
    }

    fn holds(&self, atoms: &[Atom], region: &Region) -> bool {
        let unit = self.unit;
        let value = |clock: Option<usize>| clock.map_or(0, |clock| region[clock].0 * unit + region[clock].1);
        atoms.iter().all(|atom| {
            let (difference, bound) = (value(atom.left) - value(atom.right), atom.bound * unit);
            if atom.strict { difference < bound } else { difference <= bound }
        })
    }

    fn invariant(&self, locations: &[usize], region: &Region) -> bool {
        let mut all = self.sketch.automata.iter().zip(locations);
        all.all(|(automaton, &at)| self.holds(&automaton.spots[at].invariant, region))
    }

    /// The next region as time passes; `None` if all clocks are above the constants.
    fn later(&self, region: &Region) -> Option<Region> {
        let most = self.sketch.most;
        let counts = |clock: &&(i32, i32)| clock.0 <= most;
        let largest = region.iter().filter(counts).map(|clock| clock.1).max()?;
        let whole = region.iter().filter(counts).any(|clock| clock.1 == 0);
        let next = region.iter().map(|&(at, rank)| match (at <= most, whole) {
            (false, _) => (at, rank),
            (true, true) => (at, rank + 1),
            (true, false) if rank == largest => (at + 1, 0),
            (true, false) => (at, rank),
        });
        Some(self.normal(next.collect()))
    }

    fn open(&self, one: &Move, at: &[usize], process: usize, value: i32) -> bool {
        one.from == at[process] && one.needs.is_none_or(|needed| needed == value)
    }

    /// All combinations of moves that are taken together, with their channel. Clocks count only
    /// where they decide which processes receive a broadcast.
    fn combinations(&self, (at, value): &Discrete, region: &Region) -> Vec<Together> {
        let sketch = self.sketch;
        let all: Vec<(usize, usize)> = (0..sketch.automata.len())
            .flat_map(|process| (0..sketch.automata[process].moves.len()).map(move |index| (process, index)))
            .collect();
        let get = |(process, index): (usize, usize)| &sketch.automata[process].moves[index];
        let open = |&one: &(usize, usize)| self.open(get(one), at, one.0, *value);
        let mut found = Vec::new();
        for &one in all.iter().filter(|one| open(one)) {
            match get(one).with {
                With::Alone => found.push((vec![one], None)),
                With::Event(event) => {
                    let listed =
                        |&(process, other, _): &(usize, usize, bool)| (process, other) == (one.0, event);
                    if !sketch.vectors.iter().any(|vector| vector.len() > 1 && vector.iter().any(listed)) {
                        found.push((vec![one], None));
                    }
                }
                With::Receive(_) => {}
                With::Send(channel) if BROADCAST.contains(&channel) => {
                    let mut lists = vec![vec![one]];
                    for process in (0..sketch.automata.len()).filter(|&process| process != one.0) {
                        let can = |other: &&(usize, usize)| {
                            other.0 == process
                                && open(other)
                                && get(**other).with == With::Receive(channel)
                                && self.holds(&get(**other).guard, region)
                        };
                        let able: Vec<(usize, usize)> = all.iter().filter(can).copied().collect();
                        if !able.is_empty() {
                            lists = product(lists, &able);
                        }
                    }
                    found.extend(lists.into_iter().map(|list| (list, Some(channel))));
                }
                With::Send(channel) => {
                    for &other in all.iter().filter(|other| other.0 != one.0 && open(other)) {
                        if get(other).with == With::Receive(channel) {
                            found.push((vec![one, other], Some(channel)));
                        }
                    }
                }
            }
        }
        for vector in sketch.vectors.iter().filter(|vector| vector.len() > 1) {
            let mut lists = vec![Vec::new()];
            for &(process, event, weak) in vector {
                let here = |one: &&(usize, usize)| {
                    one.0 == process
                        && get(**one).with == With::Event(event)
                        && get(**one).from == at[process]
                };
                let present: Vec<(usize, usize)> = all.iter().filter(here).copied().collect();
                if !weak || !present.is_empty() {
                    let able: Vec<(usize, usize)> = present.into_iter().filter(|one| open(one)).collect();
                    lists = product(lists, &able);
                }
            }
            found.extend(lists.into_iter().filter(|list| !list.is_empty()).map(|list| (list, None)));
        }
        found
    }

    fn take(
        &self,
        (at, value): &Discrete,
        region: &Region,
        moves: &[(usize, usize)],
    ) -> Option<(Discrete, Region)> {
        let (mut at, mut value, mut next) = (at.clone(), *value, region.clone());
        for &(process, index) in moves {
            let one = &self.sketch.automata[process].moves[index];
            if !self.holds(&one.guard, region) {
                return None;
            }
            at[process] = one.to;
            value = one.sets.unwrap_or(value);
            for &(clock, number) in &one.resets {
                next[clock] = (number, 0);
            }
        }
        self.invariant(&at, &next).then_some(((at, value), next))
    }

    /// The steps that are possible without delay, with their moves, in regions.
    fn steps(&self, discrete: &Discrete, region: &Region) -> Vec<Taken> {
        let normal = |((discrete, region), moves): Taken| ((discrete, self.normal(region)), moves);
        self.moves(discrete, region).into_iter().map(normal).collect()
    }

    /// The steps that are possible without delay, with their moves.
    fn moves(&self, discrete: &Discrete, region: &Region) -> Vec<Taken> {
        let automata = &self.sketch.automata;
        let committed = |process: usize| automata[process].spots[discrete.0[process]].committed;
        let some = (0..automata.len()).any(committed);
        let mut possible = Vec::new();
        for (moves, channel) in self.combinations(discrete, region) {
            if some && !moves.iter().any(|one| committed(one.0)) {
                continue;
            }
            let level = (
                channel.map_or(0, |channel| PRIORITIES[channel]),
                moves.iter().map(|one| automata[one.0].priority).max(),
            );
            possible.extend(self.take(discrete, region, &moves).map(|target| (level, (target, moves))));
        }
        let highest = possible.iter().map(|(level, _)| *level).max();
        possible.into_iter().filter(|(level, _)| Some(*level) == highest).map(|(_, target)| target).collect()
    }

    /// Whether a synchronisation on the urgent channel is possible.
    fn is_urgent(&self, discrete: &Discrete, region: &Region) -> bool {
        let guard = |&(process, index): &(usize, usize)| &self.sketch.automata[process].moves[index].guard;
        self.combinations(discrete, region).iter().any(|(moves, channel)| {
            channel.is_some_and(|channel| URGENT.contains(&channel))
                && moves.iter().all(|one| self.holds(guard(one), region))
        })
    }

    /// Whether some location forbids delays.
    fn rests(&self, discrete: &Discrete) -> bool {
        let mut spots = self.spots(discrete);
        spots.any(|spot| spot.urgent || spot.committed)
    }

    fn spots<'a>(&'a self, discrete: &'a Discrete) -> impl Iterator<Item = &'a Spot> {
        self.sketch.automata.iter().zip(&discrete.0).map(|(automaton, &at)| &automaton.spots[at])
    }

    /// The next region as time passes, which is the same one above all constants; `None` if time
    /// must not pass.
    fn wait(&self, discrete: &Discrete, region: &Region) -> Option<Region> {
        if self.rests(discrete) || self.is_urgent(discrete, region) {
            return None;
        }
        let next = self.later(region).unwrap_or_else(|| region.clone());
        // A region with a duration is entered before its end: only its first moment may be urgent.
        let lasts = !next.iter().any(|clock| clock.0 <= self.sketch.most && clock.1 == 0);
        let stops = lasts && self.is_urgent(discrete, &next);
        (!stops && self.invariant(&discrete.0, &next)).then_some(next)
    }
}

fn product(lists: Vec<Vec<(usize, usize)>>, able: &[(usize, usize)]) -> Vec<Vec<(usize, usize)>> {
    let longer = |list: Vec<(usize, usize)>| {
        able.iter().map(move |&one| list.iter().copied().chain([one]).collect()).collect::<Vec<_>>()
    };
    lists.into_iter().flat_map(longer).collect()
}

/// Explores all regions.
pub(crate) fn explore(sketch: &Sketch) -> Truth {
    let slow = Slow::regions(sketch);
    let mut truth = Truth::default();
    let discrete = (vec![0; sketch.automata.len()], 0);
    let region = vec![(0, 0); sketch.clocks];
    let mut seen: BTreeSet<(Discrete, Region)> = BTreeSet::new();
    let mut open = Vec::new();
    if slow.invariant(&discrete.0, &region) {
        open.push((discrete, region));
    }
    // Which regions have a successor, by an action or a delay.
    let mut acts: BTreeMap<(Discrete, Region), bool> = BTreeMap::new();
    while let Some((discrete, region)) = open.pop() {
        if !seen.insert((discrete.clone(), region.clone())) {
            continue;
        }
        truth.reached.insert(discrete.clone());
        let test = [
            Atom { left: None, right: Some(0), strict: true, bound: -1 },
            Atom { left: Some(1), right: None, strict: false, bound: 1 },
        ];
        if slow.holds(&test, &region) {
            truth.met.insert(discrete.clone());
        }
        let steps = slow.steps(&discrete, &region);
        acts.insert((discrete.clone(), region.clone()), !steps.is_empty());
        open.extend(steps.into_iter().map(|(target, _)| target));
        if let Some(next) = slow.wait(&discrete, &region) {
            open.push((discrete, next));
        }
    }
    for ((discrete, region), &act) in &acts {
        let (mut now, mut able) = (region.clone(), act);
        while !able && let Some(next) = slow.wait(discrete, &now) {
            able = acts[&(discrete.clone(), next.clone())];
            if next == now {
                break;
            }
            now = next;
        }
        if !able {
            truth.dead.insert(discrete.clone());
        }
    }
    truth
}
