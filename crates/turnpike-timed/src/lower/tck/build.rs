//! Builds a network from declarations.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::Diagnostic;

use super::expressions::{Global, Lower, Wrong, cell_name, suggest};
use crate::network::{
    Constraint, Edge, EventId, Location, LocationId, Network, Participant, Place, Process, ProcessId, Sync,
    Variable,
};
use crate::syntax::tck::EXPRESSION_WORDS;
use crate::syntax::tck::lines::{Attribute, Declaration, Kind, Number, SyncItem, Word};
use crate::syntax::tck::parse;

/// Limit on the clocks of a network: a zone has the square of this many entries.
const CLOCKS: u32 = 1 << 13;
/// Limit on the integer cells of a network.
const CELLS: u32 = 1 << 16;

/// Builds the network. If there are errors, the returned network must not be used.
pub(crate) fn network<'a>(
    text: &'a str,
    declarations: &[Declaration<'a>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Network {
    let mut build = Build {
        network: Network::default(),
        globals: FxHashMap::default(),
        processes: FxHashMap::default(),
        events: FxHashMap::default(),
        locations: Vec::new(),
        seen: FxHashSet::default(),
        event_used: Vec::new(),
        diagnostics,
    };
    build.check_system(text, declarations);
    for declaration in declarations {
        // The error has been reported; errors that follow from it are reported at their own places.
        let _reported: Result<(), Wrong> = build.declaration(declaration);
    }
    // Expressions may refer to later declarations.
    for declaration in declarations {
        build.expressions(declaration);
    }
    build.check_weak(declarations);
    build.warn(declarations);
    build.network
}

struct Build<'a, 'd> {
    network: Network,
    globals: FxHashMap<&'a str, Global>,
    processes: FxHashMap<&'a str, ProcessId>,
    events: FxHashMap<&'a str, EventId>,
    /// Locations by name, for each process.
    locations: Vec<FxHashMap<&'a str, LocationId>>,
    /// The synchronisation vectors so far.
    seen: FxHashSet<Vec<(ProcessId, EventId, bool)>>,
    event_used: Vec<bool>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Build<'a, '_> {
    fn wrong<T>(&mut self, diagnostic: Diagnostic) -> Result<T, Wrong> {
        self.diagnostics.push(diagnostic);
        Err(Wrong)
    }

    fn check_system(&mut self, text: &'a str, declarations: &[Declaration<'a>]) {
        let is_system = |declaration: &Declaration<'a>| matches!(declaration.kind, Kind::System(_));
        if declarations.first().is_none_or(|first| !is_system(first))
            // An error in the `system` line has been reported.
            && self.diagnostics.is_empty()
        {
            let place = declarations.first().map_or(text.len()..text.len(), |first| first.place.clone());
            self.diagnostics.push(
                Diagnostic::error("the first declaration must name the system")
                    .at(place, "")
                    .help("begin the file with `system:NAME`"),
            );
        }
        for again in declarations.iter().filter(|&declaration| is_system(declaration)).skip(1) {
            self.diagnostics.push(
                Diagnostic::error("the system is named twice")
                    .at(again.place.clone(), "")
                    .help("a file holds one system"),
            );
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'a>) -> Result<(), Wrong> {
        let allowed: &[&str] = match &declaration.kind {
            Kind::Location(..) => &["initial", "invariant", "labels", "committed", "urgent"],
            Kind::Edge(_) => &["provided", "do"],
            _ => &[],
        };
        for attribute in &declaration.attributes {
            self.known_attribute(attribute, allowed);
        }
        match &declaration.kind {
            Kind::System(name) => {
                name.text.clone_into(&mut self.network.name);
                Ok(())
            }
            Kind::Clock(size, name) => self.clock(size, name),
            Kind::Int(numbers, name) => self.int(numbers, name),
            Kind::Process(name) => self.process(name),
            Kind::Event(name) => self.event(name),
            Kind::Location(process, name) => self.location(process, name, declaration),
            Kind::Edge(words) => self.edge(words, declaration),
            Kind::Sync(items) => self.sync(items, declaration),
        }
    }

    fn known_attribute(&mut self, attribute: &Attribute<'a>, allowed: &[&str]) {
        let key = attribute.key.text;
        if allowed.contains(&key) {
            return;
        }
        let warning = Diagnostic::warning(format!("the attribute `{key}` has no meaning here"))
            .at(attribute.key.place.clone(), "")
            .suggest_or_list(key, allowed.iter().copied(), "the supported attributes are")
            .help_if_none("only locations and edges have supported attributes");
        self.diagnostics.push(warning);
    }

    fn duplicate(&mut self, what: &str, name: &Word<'a>) -> Result<(), Wrong> {
        self.wrong(
            Diagnostic::error(format!("{what} `{}` is declared twice", name.text))
                .at(name.place.clone(), "")
                .help("choose another name"),
        )
    }

    /// Checks the size of an array and returns its first cell.
    fn size(&mut self, size: &Number, base: usize, limit: u32, what: &str) -> Result<(u32, u32), Wrong> {
        if size.value < 1 {
            return self.wrong(
                Diagnostic::error(format!("an array cannot have {} cells", size.value))
                    .at(size.place.clone(), "")
                    .help("the size is 1 or more; 1 declares a single one"),
            );
        }
        let base = u32::try_from(base).unwrap_or(limit);
        match u32::try_from(size.value).ok().filter(|&size| size <= limit.saturating_sub(base)) {
            Some(size) => Ok((base, size)),
            None => self.wrong(
                Diagnostic::error(format!("there are too many {what}"))
                    .at(size.place.clone(), "")
                    .help(format!("a network may have {limit} of them")),
            ),
        }
    }

    /// Clocks and integers share a namespace.
    fn declare(&mut self, name: &Word<'a>, global: Global) -> Result<(), Wrong> {
        if EXPRESSION_WORDS.contains(&name.text) {
            return self.wrong(
                Diagnostic::error(format!("`{}` is a word of the expression language", name.text))
                    .at(name.place.clone(), "")
                    .help("choose another name"),
            );
        }
        if !parse::is_expression_name(name.text) {
            self.diagnostics.push(
                Diagnostic::warning(format!("`{}` cannot be used in expressions", name.text))
                    .at(name.place.clone(), "")
                    .help("names in expressions contain no dots"),
            );
        }
        match self.globals.entry(name.text) {
            Entry::Vacant(entry) => {
                entry.insert(global);
                Ok(())
            }
            Entry::Occupied(_) => self.duplicate("the clock or variable", name),
        }
    }

    fn clock(&mut self, size: &Number, name: &Word<'a>) -> Result<(), Wrong> {
        let (base, size) = self.size(size, self.network.clocks.len(), CLOCKS, "clocks")?;
        let place = name.place.clone();
        self.declare(name, Global { clock: true, base, size, range: (0, 0), used: false, place })?;
        self.network.clocks.extend((0..size).map(|cell| cell_name(name.text, size, cell)));
        Ok(())
    }

    fn int(&mut self, numbers: &[Number; 4], name: &Word<'a>) -> Result<(), Wrong> {
        let [size, low, high, initial] = numbers;
        let mut values = [0; 3];
        for (value, number) in values.iter_mut().zip([low, high, initial]) {
            match i32::try_from(number.value) {
                Ok(fits) => *value = fits,
                Err(_) => {
                    return self.wrong(
                        Diagnostic::error("this number does not fit into 32 bits")
                            .at(number.place.clone(), ""),
                    );
                }
            }
        }
        let [least, most, first] = values;
        if least > most {
            return self.wrong(
                Diagnostic::error(format!("`{}` has no values: {least} is more than {most}", name.text))
                    .at(low.place.start..high.place.end, "")
                    .help("the order is `int:SIZE:MIN:MAX:INIT:NAME`"),
            );
        }
        if !(least..=most).contains(&first) {
            return self.wrong(
                Diagnostic::error(format!("the initial value {first} of `{}` is out of range", name.text))
                    .at(initial.place.clone(), "")
                    .help(format!(
                        "it must lie between {least} and {most}; the order is `int:SIZE:MIN:MAX:INIT:NAME`"
                    )),
            );
        }
        let (base, size) = self.size(size, self.network.variables.len(), CELLS, "variables")?;
        let (range, place) = ((least, most), name.place.clone());
        self.declare(name, Global { clock: false, base, size, range, used: false, place })?;
        self.network.variables.extend((0..size).map(|cell| Variable {
            name: cell_name(name.text, size, cell),
            low: least,
            high: most,
            initial: first,
            meta: false,
        }));
        Ok(())
    }

    fn process(&mut self, name: &Word<'a>) -> Result<(), Wrong> {
        let id = ProcessId(number(self.network.processes.len()));
        if self.processes.contains_key(name.text) {
            return self.duplicate("the process", name);
        }
        self.processes.insert(name.text, id);
        self.locations.push(FxHashMap::default());
        self.network.processes.push(Process { name: name.text.to_owned(), ..Process::default() });
        Ok(())
    }

    fn event(&mut self, name: &Word<'a>) -> Result<(), Wrong> {
        let id = EventId(number(self.network.events.len()));
        if self.events.contains_key(name.text) {
            return self.duplicate("the event", name);
        }
        self.events.insert(name.text, id);
        self.event_used.push(false);
        self.network.events.push(name.text.to_owned());
        Ok(())
    }

    fn location(
        &mut self,
        process: &Word<'a>,
        name: &Word<'a>,
        declaration: &Declaration<'a>,
    ) -> Result<(), Wrong> {
        let process = self.find_process(process)?;
        let known = &mut self.locations[process.0 as usize];
        let id = LocationId(number(known.len()));
        if known.contains_key(name.text) {
            return self.duplicate("the location", name);
        }
        known.insert(name.text, id);
        let mut location =
            Location { name: name.text.to_owned(), place: declaration.place.clone(), ..Location::default() };
        let mut initial = false;
        for attribute in &declaration.attributes {
            match attribute.key.text {
                "initial" => initial = true,
                "urgent" => location.urgent = true,
                "committed" => location.committed = true,
                "labels" => self.labels(&attribute.value, &mut location.labels),
                _ => {}
            }
        }
        let process = &mut self.network.processes[process.0 as usize];
        if initial {
            process.initial.push(id);
        }
        process.locations.push(location);
        Ok(())
    }

    fn labels(&mut self, value: &Word<'a>, out: &mut Vec<String>) {
        for label in value.text.split(',').map(str::trim_ascii).filter(|label| !label.is_empty()) {
            if label.contains(|c: char| c.is_ascii_whitespace()) {
                self.diagnostics.push(
                    Diagnostic::warning(format!("the label `{}` contains a blank", label.escape_debug()))
                        .at(value.place.clone(), "")
                        .help("labels are separated by commas"),
                );
            }
            if !out.iter().any(|known| known == label) {
                out.push(label.to_owned());
            }
        }
    }

    fn find_process(&mut self, name: &Word<'a>) -> Result<ProcessId, Wrong> {
        match self.processes.get(name.text) {
            Some(&process) => Ok(process),
            None => {
                let error = undeclared(self.diagnostics, "process", name, self.processes.keys().copied());
                self.wrong(error)
            }
        }
    }

    fn find_event(&mut self, name: &Word<'a>) -> Result<EventId, Wrong> {
        match self.events.get(name.text) {
            Some(&event) => {
                self.event_used[event.0 as usize] = true;
                Ok(event)
            }
            None => {
                let error = undeclared(self.diagnostics, "event", name, self.events.keys().copied());
                self.wrong(error)
            }
        }
    }

    fn find_location(
        &mut self,
        process: &Word<'a>,
        id: ProcessId,
        name: &Word<'a>,
    ) -> Result<LocationId, Wrong> {
        let known = &self.locations[id.0 as usize];
        match known.get(name.text) {
            Some(&location) => Ok(location),
            None => {
                let what = format!("location of process `{}`", process.text);
                let error = undeclared(self.diagnostics, &what, name, known.keys().copied());
                self.wrong(error)
            }
        }
    }

    fn edge(&mut self, words: &[Word<'a>; 4], declaration: &Declaration<'a>) -> Result<(), Wrong> {
        let [process_name, source, target, event] = words;
        let event = self.find_event(event);
        let process = self.find_process(process_name)?;
        let source = self.find_location(process_name, process, source);
        let target = self.find_location(process_name, process, target);
        self.network.processes[process.0 as usize].edges.push(Edge {
            source: source?,
            target: target?,
            sync: Sync::Event(event?),
            guard: Constraint::default(),
            update: Vec::new(),
            locals: Vec::new(),
            place: declaration.place.clone(),
        });
        Ok(())
    }

    fn sync(&mut self, items: &[SyncItem<'a>], declaration: &Declaration<'a>) -> Result<(), Wrong> {
        let mut vector: Vec<Participant> = Vec::new();
        let mut result = Ok(());
        for item in items {
            let process = self.find_process(&item.process);
            let event = self.find_event(&item.event);
            let (Ok(process), Ok(event)) = (process, event) else {
                result = Err(Wrong);
                continue;
            };
            if vector.iter().any(|other| other.process == process) {
                result = self.wrong(
                    Diagnostic::error(format!("process `{}` takes part twice", item.process.text))
                        .at(item.process.place.clone(), "")
                        .help("a process takes at most one edge of a transition"),
                );
            }
            vector.push(Participant { process, event, weak: item.weak });
        }
        result?;
        // Vectors that differ only in the order of processes are equal.
        let mut key: Vec<_> = vector.iter().map(|item| (item.process, item.event, item.weak)).collect();
        key.sort_unstable();
        if !self.seen.insert(key) {
            return self.wrong(
                Diagnostic::error("this synchronisation is declared twice")
                    .at(declaration.place.clone(), "")
                    .help("remove one of them; the order of the processes makes no difference"),
            );
        }
        if vector.len() < 2 {
            self.diagnostics.push(
                Diagnostic::warning("a synchronisation of a single process has no effect")
                    .at(declaration.place.clone(), "")
                    .help(
                        "edges with this event are taken alone, unless another synchronisation mentions it",
                    ),
            );
        } else {
            self.network.vectors.push(vector);
        }
        Ok(())
    }

    /// Reads the attributes of a location or an edge that contain expressions.
    fn expressions(&mut self, declaration: &Declaration<'a>) {
        // Expressions of rejected locations and edges are checked as well.
        let mut constraint = Constraint::default();
        let mut update = Vec::new();
        let keys = match &declaration.kind {
            Kind::Location(..) => ("invariant", ""),
            Kind::Edge(_) => ("provided", "do"),
            _ => return,
        };
        let mut lower = Lower {
            globals: &mut self.globals,
            diagnostics: self.diagnostics,
            visible: Vec::new(),
            locals: Vec::new(),
        };
        for attribute in &declaration.attributes {
            let (key, value) = (attribute.key.text, &attribute.value);
            if (key != keys.0 && key != keys.1) || key.is_empty() {
                continue;
            }
            if value.text.is_empty() {
                lower.diagnostics.push(
                    Diagnostic::warning(format!("the attribute `{key}` is empty"))
                        .at(attribute.key.place.clone(), "")
                        .help("without it the meaning is the same"),
                );
                continue;
            }
            let parsed = if key == keys.0 {
                lower.visible.clear();
                parse::expression(value).map(|tree| lower.constraint(&tree, &mut constraint))
            } else {
                parse::statements(value).map(|steps| lower.update(&steps, &mut update))
            };
            match parsed {
                Ok(Ok(()) | Err(Wrong)) => {}
                Err(diagnostic) => lower.diagnostics.push(*diagnostic),
            }
        }
        let locals = lower.locals;
        match &declaration.kind {
            Kind::Location(process, _) => {
                if let Some(location) = self.location_at(process, &declaration.place) {
                    location.invariant = constraint;
                }
            }
            Kind::Edge([process, ..]) => {
                if let Some(edge) = self.edge_at(process, &declaration.place) {
                    edge.guard = constraint;
                    edge.update = update;
                    edge.locals = locals;
                }
            }
            _ => {}
        }
    }

    /// The location declared at a place; places are ascending within a process.
    fn location_at(&mut self, process: &Word<'a>, place: &Place) -> Option<&mut Location> {
        let process = self.processes.get(process.text)?;
        let locations = &mut self.network.processes[process.0 as usize].locations;
        let index = locations.binary_search_by_key(&place.start, |item| item.place.start).ok()?;
        locations.get_mut(index)
    }

    fn edge_at(&mut self, process: &Word<'a>, place: &Place) -> Option<&mut Edge> {
        let process = self.processes.get(process.text)?;
        let edges = &mut self.network.processes[process.0 as usize].edges;
        let index = edges.binary_search_by_key(&place.start, |item| item.place.start).ok()?;
        edges.get_mut(index)
    }

    /// Locations alone decide whether a weak participant takes part, so its edges cannot have
    /// guards.
    fn check_weak(&mut self, declarations: &[Declaration<'a>]) {
        let weak: FxHashSet<(ProcessId, EventId)> = self
            .network
            .vectors
            .iter()
            .flatten()
            .filter(|participant| participant.weak)
            .map(|participant| (participant.process, participant.event))
            .collect();
        if weak.is_empty() {
            return;
        }
        for declaration in declarations {
            let Kind::Edge([process, _, _, event]) = &declaration.kind else { continue };
            let (Some(&id), Some(&event_id)) =
                (self.processes.get(process.text), self.events.get(event.text))
            else {
                continue;
            };
            if !weak.contains(&(id, event_id)) {
                continue;
            }
            let guarded = self.edge_at(process, &declaration.place).is_some_and(|edge| {
                let constant = |condition: &crate::network::Expression| {
                    matches!(condition, crate::network::Expression::Constant(_))
                };
                !edge.guard.clocks.is_empty() || !edge.guard.data.iter().all(constant)
            });
            if guarded {
                let guard = declaration.attributes.iter().find(|item| item.key.text == "provided");
                let place = guard.map_or(declaration.place.clone(), |item| item.value.place.clone());
                self.diagnostics.push(
                    Diagnostic::error(format!(
                        "an edge with the weakly synchronised event `{}` cannot have a guard",
                        event.text
                    ))
                    .at(place, "")
                    .help(format!(
                        "a synchronisation mentions `{}@{}?`, and whether the process takes part is decided by its location alone",
                        process.text, event.text
                    )),
                );
            }
        }
    }

    fn warn(&mut self, declarations: &[Declaration<'a>]) {
        for declaration in declarations {
            match &declaration.kind {
                Kind::Process(name) => {
                    let process = self.processes.get(name.text);
                    let process = process.map(|id| &self.network.processes[id.0 as usize]);
                    if process.is_some_and(|process| process.initial.is_empty()) {
                        self.diagnostics.push(
                            Diagnostic::warning(format!("process `{}` has no initial location", name.text))
                                .at(name.place.clone(), "the system has no initial state")
                                .help("mark a location with `{initial:}`"),
                        );
                    }
                }
                Kind::Event(name) => {
                    let event = self.events.get(name.text);
                    if event.is_some_and(|event| !self.event_used[event.0 as usize]) {
                        self.diagnostics.push(
                            Diagnostic::warning(format!("event `{}` is never used", name.text))
                                .at(name.place.clone(), ""),
                        );
                    }
                }
                Kind::Clock(_, name) | Kind::Int(_, name) => {
                    let global = self.globals.get(name.text);
                    if global.is_some_and(|global| {
                        !global.used && global.place == name.place && parse::is_expression_name(name.text)
                    }) {
                        self.diagnostics.push(
                            Diagnostic::warning(format!("`{}` is never used", name.text))
                                .at(name.place.clone(), ""),
                        );
                    }
                }
                _ => {}
            }
        }
    }
}

/// Names have at least one byte each, and files are shorter than 4 GiB.
fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn undeclared<'n>(
    diagnostics: &[Diagnostic],
    what: &str,
    name: &Word<'_>,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let error =
        Diagnostic::error(format!("there is no {what} called `{}`", name.text)).at(name.place.clone(), "");
    suggest(error, diagnostics, name, known).help_if_none("it must be declared before it is used")
}
