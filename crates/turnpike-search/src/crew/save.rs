//! Writes what a crew knows at the end of a level, and gives it to another crew, of any size.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::owners::owner;
use super::peers::Peers;
use super::worker::{Keeper, Parents, Place, Worker};
use super::{Crew, Run};
use crate::checkpoint::{PartReader, Schedule, Title, name_execution};
use crate::error::{Halt, SearchError};
use crate::objective::{HitKind, Sightings};
use crate::wire::{Reader, Writer};
use crate::witness::Witness;

/// What the loop over levels knows besides the crew.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) depth: u32,
    pub(crate) deadlocks: u64,
    pub(crate) passed_over: bool,
}

fn failed(error: &io::Error) -> Halt {
    refused(&format!("cannot write a checkpoint: {error}"))
}

/// A part of a checkpoint was not written, so there is nothing new to go on from.
fn unwritten(process: Option<usize>, error: &str, schedule: &Schedule) -> Halt {
    let folder = schedule.folder().display();
    let message = match process {
        Some(process) => format!("process {process} cannot write its part of a checkpoint: {error}"),
        None => format!("cannot write a checkpoint: {error}"),
    };
    let help = format!("the search can go on from the checkpoint before it in {folder}, if there is one");
    SearchError::from(turnpike_model::Diagnostic::error(message).help(help)).into()
}

fn refused(message: &str) -> Halt {
    SearchError::from(turnpike_model::Diagnostic::error(message)).into()
}

fn unreadable() -> Halt {
    refused("the checkpoint cannot be read: it has something else than it should")
}

impl<'m, K: Keeper> Crew<'m, K> {
    /// When checkpoints are due, if they are wanted. All processes name the execution as the first does, and
    /// must see the same folder.
    pub(crate) fn schedule(&self, run: &Run<'m>) -> Result<Option<Schedule>, Halt> {
        let Some((folder, every)) = &run.options.checkpoints.write else { return Ok(None) };
        let mut execution = name_execution();
        if let Some(peers) = &self.peers {
            let name = peers.hear(0, || execution.to_le_bytes().to_vec())?;
            execution = u64::from_le_bytes(name.try_into().map_err(|_| unreadable())?);
            check_shared(peers, folder, execution)?;
        }
        Ok(Some(Schedule::new(folder, *every, execution)))
    }

    /// Makes sure that all processes write checkpoints or none does, and that they go on from the same one.
    fn agree_on_checkpoints(&self, run: &Run<'m>) -> Result<(), Halt> {
        let Some(peers) = &self.peers else { return Ok(()) };
        let checkpoints = &run.options.checkpoints;
        let mut own = Writer::default();
        own.byte(checkpoints.write.is_some().into());
        own.byte(checkpoints.resume.is_some().into());
        if let Some(chosen) = &checkpoints.resume {
            own.word(chosen.depth);
            own.long(chosen.execution);
        }
        let parts = peers.gather(own.as_slice())?;
        match parts.iter().all(|part| part == own.as_slice()) {
            true => Ok(()),
            false => Err(refused("the processes neither write nor go on from the same checkpoints")),
        }
    }

    /// Writes a checkpoint if one is due. Process 0 has the clock.
    pub(crate) fn save(
        &mut self,
        run: &mut Run<'m>,
        schedule: &mut Option<Schedule>,
        standing: Standing,
    ) -> Result<(), Halt> {
        let Some(schedule) = schedule else { return Ok(()) };
        let mut due = schedule.is_due();
        if let Some(peers) = &self.peers {
            due = peers.hear(0, || vec![due.into()])? == [1];
        }
        if !due {
            return Ok(());
        }
        let written = self.write_part(run, schedule, standing).map_err(|error| error.to_string());
        match &self.peers {
            Some(peers) => {
                // Older ones go when all parts of this one are there.
                let own = written.err().unwrap_or_default();
                let errors = peers.gather(own.as_bytes())?;
                if let Some(process) = errors.iter().position(|error| !error.is_empty()) {
                    let error = String::from_utf8_lossy(&errors[process]);
                    return Err(unwritten(Some(process), &error, schedule));
                }
            }
            None => written.map_err(|error| unwritten(None, &error, schedule))?,
        }
        if self.workers[0].number == 0 {
            schedule.tidy(standing.depth).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    fn write_part(
        &mut self,
        run: &mut Run<'m>,
        schedule: &mut Schedule,
        standing: Standing,
    ) -> io::Result<()> {
        let Standing { depth, deadlocks, passed_over } = standing;
        let (part, parts) =
            self.peers.as_ref().map_or((0, 1), |peers| (peers.processes.index(), peers.processes.count()));
        let mut out = schedule.begin(depth, part as u32)?;
        let identity = run.options.checkpoints.identity.clone();
        let execution = schedule.execution;
        Title { identity, execution, part: part as u32, parts: parts as u32, depth }.write(out.chunk());
        out.end_chunk()?;
        let chunk = out.chunk();
        chunk.word(self.size);
        chunk.long(deadlocks);
        chunk.byte(passed_over.into());
        for number in [run.counters.states, run.counters.transitions, run.counters.depth.into()] {
            chunk.long(number);
        }
        chunk.byte(run.counters.held.is_some().into());
        chunk.long(run.counters.held.unwrap_or_default());
        write_findings(run, chunk);
        self.write_sightings(run, part == 0, out.chunk());
        out.chunk().count(self.workers.len());
        out.end_chunk()?;
        for worker in &mut self.workers {
            let count = worker.keeper.visited().len() as u32;
            let chunk = out.chunk();
            chunk.word(worker.number as u32);
            chunk.word(count);
            chunk.byte(worker.parents.is_some().into());
            let mut state = Vec::new();
            for id in 0..count {
                worker.keeper.visited().load(id, &mut state);
                out.chunk().block(|bytes| worker.view.explorer.encode(&state, bytes));
                if let Some(parents) = &worker.parents {
                    out.chunk().long(parents.get(id).pack());
                }
                out.pause()?;
            }
            out.chunk().count(worker.ids.len());
            for (&id, &rank) in worker.ids.iter().zip(&worker.ranks) {
                out.chunk().word(id);
                out.chunk().word(rank);
                out.pause()?;
            }
            let prints = worker.keeper.prints();
            out.chunk().byte(prints.is_some().into());
            out.chunk().count(prints.as_ref().map_or(0, Vec::len));
            for (print, visited) in prints.into_iter().flatten() {
                out.chunk().long(print);
                out.chunk().byte(visited.into());
                out.pause()?;
            }
        }
        out.finish()
    }

    /// What the monitors of this process saw; the first process adds what was seen by all before.
    fn write_sightings(&mut self, run: &mut Run<'m>, all: bool, out: &mut Writer) {
        out.count(self.workers.len() + usize::from(all));
        if all {
            run.view.monitor.sightings(&mut *run.view.explorer).write(out);
        }
        for worker in &mut self.workers {
            worker.view.monitor.sightings(&mut *worker.view.explorer).write(out);
        }
    }

    /// Takes over what another crew left behind in a checkpoint, if the search is to go on from one.
    pub(crate) fn restore(&mut self, run: &mut Run<'m>) -> Result<Option<Standing>, Halt> {
        self.agree_on_checkpoints(run)?;
        let Some(chosen) = &run.options.checkpoints.resume else { return Ok(None) };
        let mut taken = Taken { next: vec![0; self.all_workers()], ..Taken::default() };
        for (index, part) in chosen.open().enumerate() {
            let mut source = Source { reader: part.map_err(|why| refused(&why))?, chunk: Vec::new(), at: 0 };
            self.restore_part(run, &mut source, &mut taken, index == 0).ok_or_else(unreadable)?;
        }
        self.finish_restoring(&taken).ok_or_else(unreadable)?;
        Ok(Some(Standing { depth: chosen.depth, ..taken.standing }))
    }

    fn restore_part(
        &mut self,
        run: &mut Run<'m>,
        source: &mut Source,
        taken: &mut Taken,
        first: bool,
    ) -> Option<()> {
        source.refill()?;
        let title = source.read(Title::read)?;
        // Another search may have written into the folder since the checkpoint was chosen.
        let chosen = run.options.checkpoints.resume.as_ref()?;
        ((title.depth, title.execution) == (chosen.depth, chosen.execution)).then_some(())?;
        let size = source.word()?;
        taken.size = size;
        taken.standing.deadlocks = source.long()?;
        taken.standing.passed_over = source.byte()? == 1;
        run.counters.states = source.long()?;
        run.counters.transitions = source.long()?;
        run.counters.depth = u32::try_from(source.long()?).ok()?;
        let held = source.byte()? == 1;
        run.counters.held = Some(source.long()?).filter(|_| held);
        source.read(|reader| read_findings(run, reader, first))?;
        for _ in 0..source.word()? {
            run.view.monitor.add_sightings(&source.read(Sightings::read)?);
        }
        for _ in 0..source.word()? {
            self.restore_worker(run, source, taken)?;
        }
        Some(())
    }

    /// The states of one worker, each to the worker that owns it now.
    fn restore_worker(&mut self, run: &mut Run<'m>, source: &mut Source, taken: &mut Taken) -> Option<()> {
        let number = source.word()? as usize;
        let count = source.word()?;
        let with_parents = source.byte()? == 1;
        if taken.places.len() <= number {
            taken.places.resize_with(number + 1, Vec::new);
        }
        let first = self.workers[0].number;
        let (mut state, explorer) = (Vec::new(), &mut *run.view.explorer);
        for _ in 0..count {
            state.clear();
            source.read(|reader| explorer.portable_states()?.decode(reader.bytes()?, &mut state))?;
            let parent = if with_parents { Some(source.long()?) } else { None };
            let owner = self.owners.of(explorer, &state);
            let place = Place { worker: owner as u32, id: taken.next[owner] };
            taken.next[owner] += 1;
            taken.places[number].push(place.pack());
            if let Some(index) = owner.checked_sub(first).filter(|index| *index < self.workers.len()) {
                let inserted = self.workers[index].keeper.insert(&state);
                // The same state twice: nothing that was written so.
                (inserted == place.id).then_some(())?;
                taken.parents.resize_with(self.workers.len().max(taken.parents.len()), Vec::new);
                taken.parents[index].extend(parent);
            }
        }
        for _ in 0..source.word()? {
            let (id, rank) = (source.word()?, source.word()?);
            taken.level.push((*taken.places[number].get(id as usize)?, rank));
        }
        let counted = source.byte()? == 1;
        let prints = source.word()?;
        let share = prints as usize / self.all_workers();
        self.workers.iter_mut().for_each(|worker| worker.keeper.expect_prints(share));
        for _ in 0..prints {
            let (print, visited) = (source.long()?, source.byte()? == 1);
            let owner = owner(print, self.all_workers() as u64).checked_sub(first);
            if let Some(worker) = owner.and_then(|index| self.workers.get_mut(index)) {
                worker.keeper.add_print(print, visited);
            }
        }
        if !counted {
            self.workers.iter_mut().for_each(|worker| worker.keeper.give_up_prints());
        }
        Some(())
    }

    /// Parents and the level, once all places are known.
    fn finish_restoring(&mut self, taken: &Taken) -> Option<()> {
        for (worker, old) in self.workers.iter_mut().zip(&taken.parents) {
            let Some(parents) = &mut worker.parents else { continue };
            *parents = Parents::default();
            for &parent in old {
                let parent = Place::unpack(parent);
                parents.push(match parent == Place::NOWHERE {
                    true => parent,
                    false => {
                        Place::unpack(*taken.places.get(parent.worker as usize)?.get(parent.id as usize)?)
                    }
                });
            }
        }
        for worker in &mut self.workers {
            let Worker { number, ids, ranks, .. } = worker;
            let own = |&&(place, _): &&(u64, u32)| Place::unpack(place).worker as usize == *number;
            let mut level: Vec<(u32, u32)> = taken
                .level
                .iter()
                .filter(own)
                .map(|&(place, rank)| (rank, Place::unpack(place).id))
                .collect();
            level.sort_unstable();
            (*ranks, *ids) = level.into_iter().unzip();
            worker.keeper.end_restoring();
        }
        (taken.level.len() == taken.size as usize).then(|| self.begin(taken.size))
    }
}

/// Refuses a folder that is another one for each process: its parts would never meet.
fn check_shared(peers: &Peers, folder: &Path, execution: u64) -> Result<(), Halt> {
    let marker = folder.join(format!("shared-{execution:016x}"));
    let first = peers.processes.index() == 0;
    let made = match first {
        true => fs::create_dir_all(folder).and_then(|()| File::create_new(&marker)).map(drop),
        false => Ok(()),
    };
    let made = made.map_err(|error| error.to_string()).err().unwrap_or_default();
    let made = peers.hear(0, || made.into_bytes())?;
    let missing = made.is_empty() && !marker.exists();
    let seen = peers.gather(&[missing.into()]);
    if first {
        let _ = fs::remove_file(&marker);
    }
    if !made.is_empty() {
        let error = String::from_utf8_lossy(&made);
        return Err(refused(&format!("cannot write checkpoints into {}: {error}", folder.display())));
    }
    let Some(process) = seen?.iter().position(|missing| missing == &[1]) else { return Ok(()) };
    let shown = folder.display();
    let error = turnpike_model::Diagnostic::error(format!(
        "the folder {shown} of process {process} is not that of process 0"
    ));
    Err(SearchError::from(error.help("checkpoints need a folder that all processes see")).into())
}

/// What is known while a checkpoint is read.
#[derive(Default)]
struct Taken {
    standing: Standing,
    size: u32,
    /// By worker of then and number of the state: where it is now.
    places: Vec<Vec<u64>>,
    /// By worker of this process, in the order of its states: the parents, as they were called then.
    parents: Vec<Vec<u64>>,
    /// States of the level, where they are now, with their ranks.
    level: Vec<(u64, u32)>,
    /// How many states each worker has.
    next: Vec<u32>,
}

/// A part of a checkpoint, read thing by thing.
struct Source {
    reader: PartReader,
    chunk: Vec<u8>,
    at: usize,
}

impl Source {
    fn refill(&mut self) -> Option<()> {
        self.chunk = self.reader.next().ok()??;
        self.at = 0;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        self.read(|reader| reader.byte())
    }

    fn word(&mut self) -> Option<u32> {
        self.read(|reader| reader.word())
    }

    fn long(&mut self) -> Option<u64> {
        self.read(|reader| reader.long())
    }

    /// Reads one thing, which is never cut between chunks.
    fn read<T>(&mut self, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        if self.at == self.chunk.len() {
            self.refill()?;
        }
        let mut reader = Reader::new(&self.chunk[self.at..]);
        let thing = read(&mut reader)?;
        self.at = self.chunk.len() - reader.left();
        Some(thing)
    }
}

fn write_findings(run: &Run<'_>, out: &mut Writer) {
    out.word(run.findings.first.map_or(u32::MAX, |first| first as u32));
    let found: Vec<&Witness> = run.findings.witnesses.iter().flatten().collect();
    out.count(found.len());
    for Witness { objective, choices, loop_start: _, kind, stem } in found {
        out.count(*objective);
        out.count(*stem);
        out.count(choices.len());
        choices.iter().for_each(|&choice| out.word(choice));
        // Cycles are not looked for by owners of states.
        let step = if let HitKind::Step(choice) = kind { Some(*choice) } else { None };
        out.byte(step.is_some().into());
        out.word(step.unwrap_or_default());
    }
}

fn read_findings(run: &mut Run<'_>, reader: &mut Reader<'_>, keep: bool) -> Option<()> {
    let first = reader.word()?;
    let count = reader.word()?;
    if keep {
        run.findings.first = (first != u32::MAX).then_some(first as usize);
    }
    for _ in 0..count {
        let (objective, stem) = (reader.word()? as usize, reader.word()? as usize);
        let choices = (0..reader.word()?).map(|_| reader.word()).collect::<Option<Vec<u32>>>()?;
        let is_step = reader.byte()? == 1;
        let choice = reader.word()?;
        let kind = if is_step { HitKind::Step(choice) } else { HitKind::Here };
        let witness = Witness { objective, choices, loop_start: None, kind, stem };
        let slot = run.findings.witnesses.get_mut(objective)?;
        if keep {
            *slot = Some(witness);
        }
    }
    Some(())
}
