//! Explains deadlocks: for each process, its possible actions and what each of them lacks.

use turnpike_model::{Counterpart, Obstacle, Obstacles, Offer, StepError, StuckComponent, TimeStop};

use super::condition::asks_for_deadlock;
use super::fire::evaluate;
use super::walker::{NO_ROW, RowAtom, Walker, conjoin};
use super::{TIMELOCK, TimedModel};
use crate::evaluate::Outcome;
use crate::network::{ClockAtom, Expression, Sync, Visitor, visit_parts};
use crate::zone::{Bound, Dbm};

impl Obstacles for Walker<'_> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        let model = self.model;
        if self.is_root(state) || !condition.is_none_or(|text| model.is_about_deadlocks(text)) {
            return Ok(Vec::new());
        }
        let possible = match condition {
            None => self.possible_steps(state)?,
            Some(_) => Vec::new(),
        };
        let explained = self.explain(state, &possible);
        self.machine.undo();
        explained.map_err(|fault| model.error(&fault))
    }

    fn leaves_out_possible(&self) -> bool {
        true
    }
}

impl TimedModel {
    fn is_about_deadlocks(&self, condition: &str) -> bool {
        let read = || self.names.condition(&self.network, condition);
        condition == TIMELOCK || read().is_ok_and(|condition| asks_for_deadlock(&condition))
    }

    /// A bound on clocks, numbered from 1, as text.
    fn atom_text(&self, (left, right, bound): RowAtom) -> String {
        let name = |clock: u32| self.network.clocks[clock as usize - 1].as_str();
        let number = |value: i32| {
            let value = i64::from(value) * i64::from(self.unit);
            match self.network.parts_per_unit() {
                1 => value.to_string(),
                parts => format!("{value}/{parts}"),
            }
        };
        let (less, more) = if bound.is_strict() { ("<", ">") } else { ("<=", ">=") };
        match (left, right) {
            (0, 0) => format!("0 {less} {}", number(bound.value())),
            (0, clock) => format!("{} {more} {}", name(clock), number(-bound.value())),
            (clock, 0) => format!("{} {less} {}", name(clock), number(bound.value())),
            (one, other) => format!("{} - {} {less} {}", name(one), name(other), number(bound.value())),
        }
    }
}

/// Collects the cells that a condition reads by name.
struct Reads(Vec<u32>);

impl Visitor for Reads {
    fn expression(&mut self, expression: &Expression) {
        if let Expression::Read(cells) = expression
            && cells.space == crate::network::Space::Global
            && cells.offset.is_none()
            && !self.0.contains(&cells.base)
        {
            self.0.push(cells.base);
        }
        visit_parts(self, expression);
    }
}

impl Walker<'_> {
    /// Explains a state without transitions. If a transition exists but leaves the condition that a
    /// formula restricts runs to, the model itself is not stuck, and there is nothing to explain.
    pub(crate) fn explain_end(&mut self, state: &[u32]) -> Result<Vec<StuckComponent>, StepError> {
        if !self.possible_steps(state)?.is_empty() {
            return Ok(Vec::new());
        }
        let components = self.stuck_components(state, None)?;
        let mut obstacles =
            components.iter().flat_map(|component| &component.offers).flat_map(|offer| &offer.obstacles);
        let may_go_on = obstacles.any(|obstacle| matches!(obstacle, Obstacle::Target { .. }));
        Ok(if may_go_on { Vec::new() } else { components })
    }

    /// The edges that take part in some transition, sorted.
    fn possible_steps(&mut self, state: &[u32]) -> Result<Vec<u32>, StepError> {
        let transitions = self.edges_of_successors(state, usize::MAX)?;
        let mut steps: Vec<u32> = transitions.into_iter().flatten().collect();
        steps.sort_unstable();
        steps.dedup();
        Ok(steps)
    }

    /// Explains the part of a state in which nothing can happen. If there is none, explains the
    /// edges that are not in `possible`, unless that is empty.
    fn explain(&mut self, state: &[u32], possible: &[u32]) -> Outcome<Vec<StuckComponent>> {
        let model = self.model;
        self.load(state)?;
        let whole = self.base.clone();
        let (dead, possible) = match self.deadlocked()?.into_iter().next() {
            Some(dead) => (dead, &[][..]),
            None if possible.is_empty() => return Ok(Vec::new()),
            None => (whole, possible),
        };
        self.base = dead.clone();
        // Everything that time leads to: waiting cannot enable a guard that fails there.
        let future = match self.delay_allowed()? {
            true => self.delay_zone(self.source, dead.clone())?.unwrap_or(dead),
            false => dead,
        };
        let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); model.network.processes.len()];
        for (step, known) in model.tables.steps.iter().enumerate() {
            let source = model.edge(step as u32).source.0;
            if self.machine.locations[known.process as usize] == source {
                leaving[known.process as usize].push(step as u32);
            }
        }
        let mut components = Vec::new();
        for (index, process) in model.network.processes.iter().enumerate() {
            // A process that only counts time is not the user's.
            if model.network.ticker.is_some_and(|ticker| ticker.0 as usize == index) {
                continue;
            }
            let location = &process.locations[self.machine.locations[index] as usize];
            let mut offers = Vec::new();
            for &step in leaving[index].iter().filter(|step| possible.binary_search(step).is_err()) {
                let obstacles = self.obstacles_of(step, &leaving, &future)?;
                offers.push(Offer { action: self.action(step), obstacles });
            }
            let stops_time = if location.committed {
                Some(TimeStop::Committed)
            } else if location.urgent {
                Some(TimeStop::Urgent)
            } else {
                self.stopping_invariant(index, &future)?
            };
            components.push(StuckComponent {
                component: process.name.clone(),
                position: location.name.clone(),
                offers,
                stops_time,
            });
        }
        Ok(components)
    }

    /// The upper bound of a process's invariant that stops time.
    fn stopping_invariant(&mut self, process: usize, future: &Dbm) -> Outcome<Option<TimeStop>> {
        let model = self.model;
        let location = self.machine.locations[process];
        let locals = model.tables.slot(process, location).locals as usize;
        let invariant = &model.network.processes[process].locations[location as usize].invariant;
        let mut bounds = Vec::new();
        for atom in &invariant.clocks {
            self.machine.enter_condition(locals);
            let Some((clock, 0, bound)) = evaluate(&mut self.machine, atom)? else { continue };
            let row = self.rows[clock as usize];
            if row != NO_ROW && clock != 0 && future.get(row as usize, 0) == bound {
                bounds.push(model.atom_text((clock, 0, bound)));
            }
        }
        let condition = bounds.join(" && ");
        Ok((!condition.is_empty()).then_some(TimeStop::Invariant { condition }))
    }

    /// An edge in the notation of its process.
    fn action(&mut self, step: u32) -> String {
        let network = &self.model.network;
        match &self.model.edge(step).sync {
            Sync::Internal => "tau".to_owned(),
            Sync::Event(event) => network.events[event.0 as usize].clone(),
            Sync::Send(cell) => format!("{}!", self.channel_name(step, cell)),
            Sync::Receive(cell) => format!("{}?", self.channel_name(step, cell)),
        }
    }

    fn channel_name(&mut self, step: u32, cell: &crate::network::ChannelCell) -> String {
        let network = &self.model.network;
        let known = self.known_channel(step).map_or(cell.base.0, |channel| channel);
        network.channels[known as usize].name.clone()
    }

    /// The channel of an edge, if it can be evaluated in this state.
    fn known_channel(&mut self, step: u32) -> Option<u32> {
        match &self.model.edge(step).sync {
            Sync::Send(cell) | Sync::Receive(cell) => self.channel(step, cell).ok().flatten(),
            _ => None,
        }
    }

    fn obstacles_of(&mut self, step: u32, leaving: &[Vec<u32>], future: &Dbm) -> Outcome<Vec<Obstacle>> {
        let model = self.model;
        let mut found = self.own_obstacles(step, future)?;
        let process = model.tables.steps[step as usize].process as usize;
        let mut fits = Vec::new();
        match &model.edge(step).sync {
            Sync::Send(_) | Sync::Receive(_) => {
                let Some(channel) = self.known_channel(step) else { return Ok(found) };
                let sends = matches!(model.edge(step).sync, Sync::Send(_));
                if !(sends && model.network.channels[channel as usize].broadcast) {
                    let partner = self.partner(step, channel, !sends, leaving, future, &mut fits)?;
                    found.extend(partner);
                }
            }
            Sync::Event(event) => {
                for vector in &model.network.vectors {
                    let seat = |one: &&crate::network::Participant| {
                        one.process.0 as usize == process && one.event == *event
                    };
                    if vector.iter().any(|one| seat(&one)) {
                        for other in vector.iter().filter(|one| !seat(one) && !one.weak) {
                            found.extend(self.seat_obstacle(other, leaving, future)?);
                        }
                    }
                }
            }
            Sync::Internal => {}
        }
        if found.is_empty() {
            found.push(self.last_obstacle(step, &fits));
        }
        Ok(found)
    }

    /// Why the guard of an edge never holds from now on.
    fn own_obstacles(&mut self, step: u32, future: &Dbm) -> Outcome<Vec<Obstacle>> {
        let model = self.model;
        let edge = model.edge(step);
        let mut found = Vec::new();
        for condition in &edge.guard.data {
            self.machine.enter(&edge.locals);
            let holds = self.machine.holds(condition);
            if !self.tolerate(holds, false)? {
                let mut reads = Reads(Vec::new());
                reads.expression(condition);
                let value = |&cell: &u32| {
                    let name = &model.network.variables[cell as usize].name;
                    format!("{name} == {}", self.machine.cells[cell as usize])
                };
                let actual = reads.0.iter().map(value).collect::<Vec<_>>().join(" and ");
                found.push(Obstacle::Condition {
                    condition: model.network.expression_text(condition),
                    actual: (!actual.is_empty()).then_some(actual),
                });
            }
        }
        let mut together = Some(future.clone());
        let mut texts = Vec::new();
        for atom in &edge.guard.clocks {
            let Some((text, row_atom)) = self.guard_atom(step, atom)? else { continue };
            if let Some(zone) = &mut together
                && !conjoin(zone, row_atom)
            {
                together = None;
            }
            if conjoin(&mut future.clone(), row_atom) {
                texts.push(text);
            } else {
                let actual = self.opposite(row_atom, future);
                found.push(Obstacle::Condition { condition: text, actual });
            }
        }
        if found.is_empty() && together.is_none() {
            found.push(Obstacle::Condition { condition: texts.join(" && "), actual: None });
        }
        Ok(found)
    }

    /// A bound of a guard as text and by rows; `None` if it does not apply.
    fn guard_atom(&mut self, step: u32, atom: &ClockAtom) -> Outcome<Option<(String, RowAtom)>> {
        let model = self.model;
        self.machine.enter(&model.edge(step).locals);
        let value = evaluate(&mut self.machine, atom);
        let Some((left, right, bound)) = self.tolerate(value, None)? else { return Ok(None) };
        let rows = (self.rows[left as usize], self.rows[right as usize]);
        Ok(match rows {
            (NO_ROW, _) | (_, NO_ROW) => None,
            (row, column) => Some((model.atom_text((left, right, bound)), (row, column, bound))),
        })
    }

    /// The bound that clocks satisfy instead.
    fn opposite(&self, (left, right, _): RowAtom, future: &Dbm) -> Option<String> {
        let actual = future.get(right as usize, left as usize);
        let clock = |row: u32| match row {
            0 => 0,
            row => self.rows.iter().position(|&other| other == row).unwrap_or(0) as u32,
        };
        let is_trivial = left != 0 && right == 0 && actual == Bound::ZERO;
        let shown = !actual.is_infinite() && !is_trivial;
        shown.then(|| self.model.atom_text((clock(right), clock(left), actual)))
    }

    /// Which other processes could take the other side of a synchronisation, and what prevents
    /// them.
    fn partner(
        &mut self,
        step: u32,
        channel: u32,
        sends: bool,
        leaving: &[Vec<u32>],
        future: &Dbm,
        fits: &mut Vec<u32>,
    ) -> Outcome<Option<Obstacle>> {
        let model = self.model;
        let own = model.tables.steps[step as usize].process;
        let is_side = |step: u32| match model.edge(step).sync {
            Sync::Send(_) => sends,
            Sync::Receive(_) => !sends,
            _ => false,
        };
        let (mut instead, mut elsewhere): (Vec<Counterpart>, Vec<String>) = (Vec::new(), Vec::new());
        for (process, steps) in leaving.iter().enumerate().filter(|&(process, _)| process as u32 != own) {
            for &other in steps.iter().filter(|&&other| is_side(other)) {
                if self.known_channel(other) != Some(channel) {
                    continue;
                }
                match self.own_obstacles(other, future)?.first() {
                    None => fits.push(other),
                    Some(obstacle) => instead.push(Counterpart {
                        component: model.network.processes[process].name.clone(),
                        action: self.action(other),
                        reason: Some(reason(obstacle)),
                    }),
                }
            }
        }
        if !fits.is_empty() {
            return Ok(None);
        }
        for (other, known) in model.tables.steps.iter().enumerate() {
            let name = &model.network.processes[known.process as usize].name;
            let can = known.process != own && is_side(other as u32) && known.channel == Some(channel);
            if can && !elsewhere.contains(name) && !instead.iter().any(|one| one.component == *name) {
                elsewhere.push(name.clone());
            }
        }
        let mark = if sends { '!' } else { '?' };
        let action = format!("{}{mark}", model.network.channels[channel as usize].name);
        Ok(Some(Obstacle::Partner { action, elsewhere, instead }))
    }

    /// Why a process cannot take part in a vector of events.
    fn seat_obstacle(
        &mut self,
        seat: &crate::network::Participant,
        leaving: &[Vec<u32>],
        future: &Dbm,
    ) -> Outcome<Option<Obstacle>> {
        let model = self.model;
        let process = &model.network.processes[seat.process.0 as usize];
        let takes = |step: u32| model.edge(step).sync == Sync::Event(seat.event);
        let mut instead = Vec::new();
        for &step in leaving[seat.process.0 as usize].iter().filter(|&&step| takes(step)) {
            match self.own_obstacles(step, future)?.first() {
                None => return Ok(None),
                Some(obstacle) => instead.push(Counterpart {
                    component: process.name.clone(),
                    action: self.action(step),
                    reason: Some(reason(obstacle)),
                }),
            }
        }
        let can = process.edges.iter().any(|edge| edge.sync == Sync::Event(seat.event));
        let elsewhere = if can && instead.is_empty() { vec![process.name.clone()] } else { Vec::new() };
        let action = format!("{}@{}", process.name, model.network.events[seat.event.0 as usize]);
        Ok(Some(Obstacle::Partner { action, elsewhere, instead }))
    }

    /// The invariant of a process's current location, as text.
    fn invariant_text(&mut self, process: usize) -> String {
        let model = self.model;
        let location = self.machine.locations[process];
        let locals = model.tables.slot(process, location).locals as usize;
        let location = &model.network.processes[process].locations[location as usize];
        let mut texts: Vec<String> =
            location.invariant.data.iter().map(|part| model.network.expression_text(part)).collect();
        for atom in &location.invariant.clocks {
            self.machine.enter_condition(locals);
            if let Ok(Some(atom)) = evaluate(&mut self.machine, atom) {
                texts.push(model.atom_text(atom));
            }
        }
        if texts.is_empty() { format!("of {}", location.name) } else { texts.join(" && ") }
    }

    /// The remaining obstacle when guards hold and partners are available.
    fn last_obstacle(&mut self, step: u32, fits: &[u32]) -> Obstacle {
        let model = self.model;
        let edges: Vec<u32> = std::iter::once(step).chain(fits.iter().copied()).collect();
        let name = |process: usize| model.network.processes[process].name.clone();
        if !self.leaves_committed(&edges) {
            let committed = (0..self.machine.locations.len())
                .find(|&process| model.tables.slot(process, self.machine.locations[process]).committed);
            return Obstacle::Precedence { component: committed.map_or(String::new(), name) };
        }
        let own = model.tables.steps[step as usize].process as usize;
        match fits.first() {
            // The guards, updates or invariants of the two are incompatible.
            Some(&other) => {
                let process = model.tables.steps[other as usize].process as usize;
                let action = self.action(other);
                let reason = Some("their guards and the target invariants exclude each other".to_owned());
                let counterpart = Counterpart { component: name(process), action: action.clone(), reason };
                Obstacle::Partner { action, elsewhere: Vec::new(), instead: vec![counterpart] }
            }
            None => {
                self.participants.clear();
                self.participants.push(step);
                let updated = self.update();
                let invariant = self.invariant_text(own);
                self.machine.undo();
                self.put_back();
                match updated {
                    Err(fault) => Obstacle::Disallowed { by: format!("its update: {}", fault.message) },
                    Ok(()) => Obstacle::Target { component: name(own), condition: invariant },
                }
            }
        }
    }
}

/// An obstacle of a partner, in a few words.
fn reason(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Condition { condition, .. } => format!("{condition} does not hold"),
        _ => "it cannot be taken".to_owned(),
    }
}
