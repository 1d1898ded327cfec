//! Writes networks as `.tck` files.
//!
//! A network read from such a file is written as it was. Others are translated: channels become
//! events and vectors, names are made legal, quantifiers are expanded and functions inlined. What
//! the format cannot express is an error, with its place in the source.

mod channels;
mod names;
mod plan;
mod simplify;
mod text;
mod update;
mod visit;

use std::fmt::Write as _;

use turnpike_model::Diagnostic;

use self::names::{Group, Layout, Names, Use, groups};
use self::simplify::{Refusal, Simplify, Values, refusal};
use self::text::Text;
use crate::network::{
    ClockAtom, ClockCell, ClockId, Constraint, Edge, Expression, Language, Local, Location, LocationId,
    Network, Place, Space, Unary,
};

type Result<T> = std::result::Result<T, Refusal>;

/// Limit on the conditions of a guard that decide whether other conditions apply: the edge is
/// written once for each combination.
const CASES: usize = 4;

/// Writes a network.
pub(super) fn write(network: &Network) -> std::result::Result<String, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let output = Output::new(network, &mut diagnostics);
    let text = output.text(&mut diagnostics);
    if diagnostics.is_empty() { Ok(text) } else { Err(diagnostics) }
}

/// The names and events of the output.
struct Output<'a> {
    network: &'a Network,
    globals: Layout,
    clocks: Layout,
    /// Names of clocks and variables.
    variable_names: Names,
    variable_groups: Vec<(Group, String)>,
    clock_groups: Vec<(Group, String)>,
    events: channels::Events,
}

impl<'a> Output<'a> {
    fn new(network: &'a Network, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let (mut variables, mut clocks) = (Vec::new(), Vec::new());
        visit::everything(
            network,
            &mut |cells| {
                if cells.space == Space::Global && cells.offset.is_some() {
                    variables.push((cells.base, cells.count));
                }
            },
            &mut |clock| {
                if clock.offset.is_some() {
                    clocks.push((clock.base.0, clock.count));
                }
            },
        );
        let names: Vec<String> = network.variables.iter().map(|variable| variable.name.clone()).collect();
        let alike = |a: usize, b: usize| {
            let (a, b) = (&network.variables[a], &network.variables[b]);
            (a.low, a.high, a.initial) == (b.low, b.high, b.initial)
        };
        let variable_groups = groups(&names, variables, alike);
        let clock_groups = groups(&network.clocks, clocks, |_, _| true);
        // In a `.tck` file names may contain dots, though such variables cannot be used.
        let used_as = if network.language == Language::Tck { Use::DottedVariable } else { Use::Variable };
        let mut taken = Names::default();
        let mut named = |groups: Vec<Group>, layout: &mut Layout| -> Vec<(Group, String)> {
            let name = |group: Group| {
                let name = taken.pick(&group.wanted, used_as);
                layout.name(&group, &name);
                (group, name)
            };
            groups.into_iter().map(name).collect()
        };
        let (mut globals, mut clocks) = (Layout::default(), Layout::default());
        let clock_groups = named(clock_groups, &mut clocks);
        let variable_groups = named(variable_groups, &mut globals);
        let events = channels::events(network, diagnostics);
        Output { network, globals, clocks, variable_names: taken, variable_groups, clock_groups, events }
    }

    fn text(&self, diagnostics: &mut Vec<Diagnostic>) -> String {
        let network = self.network;
        let mut text = String::new();
        self.declarations(&mut text, diagnostics);
        let mut taken = Names::default();
        let names: Vec<String> =
            network.processes.iter().map(|process| taken.pick(&process.name, Use::Declaration)).collect();
        for (index, name) in names.iter().enumerate() {
            self.process(index, name, &mut text, diagnostics);
        }
        for vector in &self.events.vectors {
            let member = |&(process, event, weak): &(usize, usize, bool)| {
                format!("{}@{}{}", names[process], self.events.names[event], if weak { "?" } else { "" })
            };
            let members: Vec<String> = vector.iter().map(member).collect();
            line(&mut text, format_args!("sync:{}", members.join(":")));
        }
        text
    }

    /// The system, its clocks, variables and events.
    fn declarations(&self, text: &mut String, diagnostics: &mut Vec<Diagnostic>) {
        let network = self.network;
        if let Some(parts) = network.parts {
            line(text, format_args!("# clocks count 1/{parts} of the unit of time of the original"));
        }
        line(text, format_args!("system:{}", Names::default().pick(&network.name, Use::Declaration)));
        text.push('\n');
        for (group, name) in &self.clock_groups {
            line(text, format_args!("clock:{}:{name}", group.count));
        }
        for (group, name) in &self.variable_groups {
            let cells = &network.variables[group.base as usize..][..group.count as usize];
            let first = &cells[0];
            if cells.iter().any(|cell| cell.meta) {
                diagnostics.push(
                    Diagnostic::error(format!(
                        "the `meta` variable `{}` cannot be written in this format",
                        first.name
                    ))
                    .help("make it an ordinary variable"),
                );
            }
            line(
                text,
                format_args!("int:{}:{}:{}:{}:{name}", group.count, first.low, first.high, first.initial),
            );
        }
        for event in &self.events.names {
            line(text, format_args!("event:{event}"));
        }
    }

    /// A process with its locations and edges.
    fn process(&self, index: usize, name: &str, text: &mut String, diagnostics: &mut Vec<Diagnostic>) {
        let process = &self.network.processes[index];
        line(text, format_args!("\nprocess:{name}"));
        if process.priority != 0 {
            diagnostics.push(Diagnostic::error(format!(
                "the priority of the process `{}` cannot be written in this format",
                process.name
            )));
        }
        let mut taken = Names::default();
        let locations: Vec<String> =
            process.locations.iter().map(|location| taken.pick(&location.name, Use::Declaration)).collect();
        for (at, location) in process.locations.iter().enumerate() {
            let initial = process.initial.contains(&LocationId(u32::try_from(at).unwrap_or(u32::MAX)));
            let attributes = self.location(location, initial).unwrap_or_else(|refusal| {
                diagnostics.push(*refusal);
                String::new()
            });
            line(text, format_args!("location:{name}:{}{attributes}", locations[at]));
        }
        for (edge, variants) in process.edges.iter().zip(&self.events.variants[index]) {
            let (source, target) = (&locations[edge.source.0 as usize], &locations[edge.target.0 as usize]);
            for variant in variants {
                let event = &self.events.names[variant.event];
                match self.edge(edge, variant.condition.as_ref()) {
                    Ok(cases) => cases.iter().for_each(|attributes| {
                        line(text, format_args!("edge:{name}:{source}:{target}:{event}{attributes}"));
                    }),
                    Err(refusal) => {
                        diagnostics.push(*refusal);
                        break;
                    }
                }
            }
        }
    }

    /// The attributes of a location.
    fn location(&self, location: &Location, initial: bool) -> Result<String> {
        let mut attributes = Vec::new();
        if initial {
            attributes.push("initial:".to_owned());
        }
        let cases = self.constraint(&location.invariant, None, &[], &location.place)?;
        match cases.as_slice() {
            [invariant] if invariant.is_empty() => {}
            [invariant] => attributes.push(format!("invariant:{invariant}")),
            _ => {
                return Err(refusal(
                    "an invariant whose bounds on clocks depend on variables",
                    &location
                        .invariant
                        .clocks
                        .first()
                        .map_or(location.place.clone(), |atom| atom.place.clone()),
                ));
            }
        }
        if let Some(rate) = location.rates.first() {
            return Err(refusal("a clock that stands still", &rate.place));
        }
        if location.committed {
            attributes.push("committed:".to_owned());
        }
        if location.urgent {
            attributes.push("urgent:".to_owned());
        }
        if !location.labels.is_empty() {
            attributes.push(format!("labels:{}", location.labels.join(",")));
        }
        Ok(braces(&attributes))
    }

    /// The attributes of an edge: once for each case of its guard.
    fn edge(&self, edge: &Edge, condition: Option<&Expression>) -> Result<Vec<String>> {
        let guards = self.constraint(&edge.guard, condition, &edge.locals, &edge.place)?;
        let updates = update::update(self, edge)?;
        let attributes = |guard: String| {
            let mut attributes = Vec::new();
            if !guard.is_empty() {
                attributes.push(format!("provided:{guard}"));
            }
            attributes.extend(updates.iter().map(|update| format!("do:{update}")));
            braces(&attributes)
        };
        Ok(guards.into_iter().map(attributes).collect())
    }

    /// A constraint as text, for each case of the conditions that its atoms depend on.
    fn constraint(
        &self,
        constraint: &Constraint,
        condition: Option<&Expression>,
        locals: &[Local],
        place: &Place,
    ) -> Result<Vec<String>> {
        let mut simplify = Simplify::new(self.network, place);
        let nothing = Values::default();
        let frame = Layout::default();
        let mut data = Vec::new();
        for part in constraint.data.iter().chain(condition) {
            let part = simplify.expression(part, &nothing)?;
            if !matches!(part, Expression::Constant(value) if value != 0) {
                data.push(part);
            }
        }
        // Conditions that decide whether atoms apply, with their atoms.
        let mut always: Vec<ClockAtom> = Vec::new();
        let mut cases: Vec<(Expression, Vec<ClockAtom>)> = Vec::new();
        for atom in &constraint.clocks {
            let mut atom = atom.clone();
            for clock in atom.left.iter_mut().chain(&mut atom.right) {
                self.simplify_clock(&mut simplify, clock)?;
            }
            atom.bound = simplify.expression(&atom.bound, &nothing)?;
            match atom.when.take().map(|when| simplify.expression(&when, &nothing)).transpose()? {
                Some(Expression::Constant(0)) => {}
                None | Some(Expression::Constant(_)) => always.push(atom),
                Some(when) => match cases.iter_mut().find(|(known, _)| *known == when) {
                    Some((_, atoms)) => atoms.push(atom),
                    None => cases.push((when, vec![atom])),
                },
            }
        }
        if cases.len() > CASES {
            return Err(refusal("a condition on clocks with this many cases", place));
        }
        let mut texts = Vec::new();
        for case in 0..1usize << cases.len() {
            let mut parts = Vec::new();
            let mut atoms = always.clone();
            let mut conditions = data.clone();
            for (index, (when, guarded)) in cases.iter().enumerate() {
                // In the first case all atoms apply.
                if case >> index & 1 == 0 {
                    conditions.push(when.clone());
                    atoms.extend(guarded.iter().cloned());
                } else {
                    conditions.push(Expression::Unary(Unary::Not, Box::new(when.clone())));
                }
            }
            let text = Text {
                network: self.network,
                globals: &self.globals,
                clocks: &self.clocks,
                frame: &frame,
                locals,
                place,
            };
            for condition in &conditions {
                text.conjuncts(condition, &mut parts)?;
            }
            text.atoms(&atoms, &mut parts)?;
            texts.push(parts.join("&&"));
        }
        Ok(texts)
    }

    /// Replaces a constant index of a clock array by the clock.
    fn simplify_clock(&self, simplify: &mut Simplify<'_>, clock: &mut ClockCell) -> Result<()> {
        let Some(offset) = &clock.offset else { return Ok(()) };
        let offset = simplify.expression(offset, &Values::default())?;
        *clock = match offset {
            Expression::Constant(index) if u32::try_from(index).is_ok_and(|index| index < clock.count) => {
                ClockCell::fixed(ClockId(clock.base.0 + index.unsigned_abs()))
            }
            offset => ClockCell { offset: Some(offset), ..clock.clone() },
        };
        Ok(())
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(line);
    text.push('\n');
}

fn braces(attributes: &[String]) -> String {
    if attributes.is_empty() { String::new() } else { format!("{{{}}}", attributes.join(" : ")) }
}
