//! Observers: automata that watch a model without restricting it. They are added to the network
//! before exploration, so their clocks can be compared with those of the model; the search then
//! looks for a location of the observer.
//!
//! In a `.tck` model an observer takes part weakly in the events that it watches:
//! `sync:P@a:Watch@seen?` means that whenever `P` takes part with `a`, alone or with others,
//! `Watch` does too, provided that its location has an edge with `seen`. As everywhere in that
//! format, such edges have no guards. In a UPPAAL model an observer receives on broadcast channels,
//! which never block their senders, and reads variables. In both, an observer compares clocks on
//! edges that it takes alone, for example to `late` with `y > 5` while it waits for an answer.

use turnpike_model::Diagnostic;

use crate::compile::analysis::Written;
use crate::network::{Network, Participant, Sync};
use crate::query::Names;
use crate::syntax::uppaal::tree::Model;
use crate::syntax::uppaal::{parse_xml, parse_xta};
use crate::tck;
use crate::uppaal::{self, Format};

/// The text of a model, followed by those of its observers.
#[derive(Clone, Debug, Default)]
pub struct Joined {
    /// All texts.
    pub text: String,
    /// The start of each observer's text.
    pub starts: Vec<usize>,
}

impl Joined {
    /// The text that a byte belongs to, and the offset in it: `None` for the model, else the number
    /// of an observer.
    pub fn place(&self, byte: usize) -> (Option<usize>, usize) {
        match self.starts.partition_point(|&start| start <= byte) {
            0 => (None, byte),
            number => (Some(number - 1), byte - self.starts[number - 1]),
        }
    }

    /// Concatenates texts.
    pub fn new(model: &str, observers: &[String]) -> Joined {
        let mut joined = Joined { text: model.to_owned(), starts: Vec::new() };
        for observer in observers {
            joined.text.push('\n');
            joined.starts.push(joined.text.len());
            joined.text.push_str(observer);
        }
        joined
    }
}

/// Reads a `.tck` model with its observers. Spans of errors count bytes of [`Joined::new`].
pub fn tck(model: &str, observers: &[String]) -> Result<(Network, Vec<Diagnostic>), Vec<Diagnostic>> {
    if observers.is_empty() {
        return tck::read(model);
    }
    let (alone, _) = tck::read(model)?;
    let unnamed: Vec<String> = observers.iter().map(|text| without_system(text)).collect();
    let (mut network, warnings) = tck::read(&Joined::new(model, &unnamed).text)?;
    let processes = alone.processes.len();
    let watching = network.vectors.split_off(alone.vectors.len());
    let mut lone: Vec<Vec<Participant>> = Vec::new();
    for vector in watching {
        let (seen, watched): (Vec<Participant>, Vec<Participant>) =
            vector.iter().partition(|part| part.process.0 as usize >= processes);
        let reject = |message: &str| Err(vec![Diagnostic::error(message).help("write sync:P@a:Watch@seen?")]);
        let [watched] = watched.as_slice() else {
            return reject("an observer watches one process in each of its sync lines");
        };
        if watched.weak || seen.is_empty() || seen.iter().any(|part| !part.weak) {
            return reject("an observer must take part weakly in an event of a process of the model");
        }
        let same = |part: &&Participant| (part.process, part.event) == (watched.process, watched.event);
        let mut known = false;
        for other in &mut network.vectors {
            let Some(part) = other.iter().find(same) else { continue };
            if part.weak {
                return reject("an observer cannot watch a weak participant");
            }
            other.extend_from_slice(&seen);
            known = true;
        }
        if !known {
            match lone.iter_mut().find(|other| other.iter().any(|part| same(&part))) {
                Some(other) => other.extend_from_slice(&seen),
                None => lone.push(vector),
            }
        }
    }
    network.vectors.append(&mut lone);
    only_reads(&alone, &network)?;
    Ok((network, warnings))
}

/// Blanks out the line that names a system: the model has a name.
fn without_system(text: &str) -> String {
    let line = |line: &str| match line.trim_start().starts_with("system:") {
        // Keep all offsets.
        true => line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect(),
        false => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Reads a UPPAAL model with its observers, which are written in the textual syntax and end with a
/// `system` line that lists them. Spans of errors count bytes of the model's text; errors in
/// observers have none.
pub fn uppaal(
    text: &str,
    format: Format,
    settings: &[(String, String)],
    observers: &[String],
) -> Result<(Network, Names, Vec<Diagnostic>), Vec<Diagnostic>> {
    if observers.is_empty() {
        return uppaal::read(text, format, settings);
    }
    let parse = |text: &str| if format == Format::Xml { parse_xml(text) } else { parse_xta(text) };
    let (mut model, _) = parse(text)?;
    let (alone, _, _) = uppaal::read(text, format, settings)?;
    for (number, observer) in observers.iter().enumerate() {
        let (tree, _) =
            parse_xta(observer).map_err(|errors| placeless(errors, Some((number + 1, observer))))?;
        join(&mut model, tree).map_err(|error| vec![error])?;
    }
    let lowered = uppaal::lower_model(model, settings).map_err(|errors| placeless(errors, None))?;
    for process in &lowered.0.processes[alone.processes.len()..] {
        for edge in &process.edges {
            let (cell, sends) = match &edge.sync {
                Sync::Send(cell) => (cell, true),
                Sync::Receive(cell) => (cell, false),
                Sync::Internal | Sync::Event(_) => continue,
            };
            let channel = &lowered.0.channels[cell.base.0 as usize];
            if sends || !channel.broadcast {
                let (name, channel) = (&process.name, &channel.name);
                let message = format!("the observer {name} would synchronise on channel {channel}");
                return Err(vec![Diagnostic::error(message).help(
                    "observers receive on broadcast channels and read variables; make the channel broadcast, \
                     or let the model note what happened in a variable",
                )]);
            }
        }
    }
    only_reads(&alone, &lowered.0)?;
    Ok(lowered)
}

/// Rejects observers that assign variables or clocks of the model.
fn only_reads(alone: &Network, joined: &Network) -> Result<(), Vec<Diagnostic>> {
    for process in &joined.processes[alone.processes.len()..] {
        let written = Written::by(joined, std::slice::from_ref(process));
        let of_model = |name: &&String| {
            alone.clocks.contains(name) || alone.variables.iter().any(|variable| variable.name == **name)
        };
        let variables = joined.variables.iter().map(|variable| &variable.name).zip(written.variables);
        let mut assigned =
            variables.chain(joined.clocks.iter().zip(written.clocks)).filter(|(_, written)| *written);
        if let Some(name) = assigned.find_map(|(name, _)| Some(name).filter(of_model)) {
            let message =
                format!("the observer {} would assign {name}, which belongs to the model", process.name);
            let help = "an observer may read the model, but assign only its own variables and clocks";
            return Err(vec![Diagnostic::error(message).help(help)]);
        }
    }
    Ok(())
}

/// Adds an observer's declarations and processes to a model.
fn join(model: &mut Model, observer: Model) -> Result<(), Diagnostic> {
    if model.system.levels.len() > 1 || observer.system.levels.len() > 1 {
        return Err(Diagnostic::error("systems with priorities of processes cannot be observed"));
    }
    model.declarations.extend(observer.declarations);
    model.templates.extend(observer.templates);
    model.system.declarations.extend(observer.system.declarations);
    model.system.instantiations.extend(observer.system.instantiations);
    if let Some(level) = model.system.levels.last_mut() {
        level.extend(observer.system.levels.into_iter().flatten());
    }
    Ok(())
}

/// Moves the position of errors outside the model's text into the message.
fn placeless(errors: Vec<Diagnostic>, observer: Option<(usize, &String)>) -> Vec<Diagnostic> {
    let located = |mut error: Diagnostic| {
        let span = error.span.take();
        if let (Some((number, text)), Some(span)) = (observer, span) {
            let line = text.get(..span.range.start).map_or(1, |before| before.matches('\n').count() + 1);
            error.message = format!("observer {number}, line {line}: {}", error.message);
        } else {
            error.message = format!("with its observers: {}", error.message);
        }
        error
    };
    errors.into_iter().map(located).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "system:m\nevent:a\nevent:b\nclock:1:x\nprocess:P\nlocation:P:l{initial:}\n\
                         edge:P:l:l:a{}\nprocess:Q\nlocation:Q:l{initial:}\nedge:Q:l:l:b{}\nsync:P@b:Q@b\n";

    fn joined(lines: &str) -> Result<Network, Vec<Diagnostic>> {
        let observer = format!(
            "system:o\nevent:seen\nprocess:W\nlocation:W:l{{initial:}}\nedge:W:l:l:seen{{}}\n{lines}"
        );
        tck(MODEL, &[observer]).map(|(network, _)| network)
    }

    #[test]
    fn vectors_get_observers() {
        let network = joined("sync:P@a:W@seen?\nsync:Q@b:W@seen?\n").expect("a network");
        let vectors: Vec<Vec<(u32, bool)>> = network
            .vectors
            .iter()
            .map(|vector| vector.iter().map(|part| (part.process.0, part.weak)).collect())
            .collect();
        assert_eq!(vectors, [vec![(0, false), (1, false), (2, true)], vec![(0, false), (2, true)]]);
        assert_eq!(network.processes.len(), 3);
    }

    #[test]
    fn observers_do_not_assign_what_the_model_has() {
        let told = |lines: &str| joined(lines).expect_err("refused").swap_remove(0).message;
        assert_eq!(
            told("edge:W:l:l:seen{do:x=0}\n"),
            "the observer W would assign x, which belongs to the model"
        );
        assert!(joined("clock:1:own\nedge:W:l:l:seen{do:own=0}\n").is_ok());
        let model = "int n; clock x; process P() { state a; init a; } system P;";
        for (assigned, allowed) in
            [("n = 1", false), ("x = 0", false), ("m = n, y = 0", true), ("f()", false), ("g()", true)]
        {
            let observer = format!(
                "int m; clock y; void f() {{ n++; }} void g() {{ m++; }} \
                 process W() {{ state a; init a; trans a -> a {{ assign {assigned}; }}; }} system W;"
            );
            let read = uppaal(model, Format::Xta, &[], &[observer]);
            assert_eq!(read.is_ok(), allowed, "{assigned}");
        }
    }

    #[test]
    fn observers_do_not_hinder() {
        for lines in ["sync:P@a:W@seen\n", "sync:P@a:Q@b:W@seen?\n", "sync:P@a?:W@seen?\n"] {
            assert!(joined(lines).is_err(), "{lines}");
        }
        let model = "chan c; process P() { state a; init a; trans a -> a { sync c!; }; } \
                     process R() { state a; init a; trans a -> a { sync c?; }; } system P, R;";
        let observer = "process W() { state a; init a; trans a -> a { sync c?; }; } system W;".to_owned();
        let read = |model: &str| uppaal(model, Format::Xta, &[], std::slice::from_ref(&observer));
        assert!(read(model).is_err_and(|errors| errors[0].message.contains("channel c")));
        let (network, ..) = read(&model.replace("chan c", "broadcast chan c")).expect("a network");
        assert_eq!(network.processes.len(), 3);
        assert_eq!(network.processes[2].name, "W");
    }
}
