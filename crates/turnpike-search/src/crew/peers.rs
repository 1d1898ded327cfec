//! The workers of other processes: what all processes of a search agree on.
//!
//! Every process makes the same decisions, because it makes them from numbers that all have gathered.
//! Limits on time and memory and the user's wish to stop are seen by some processes only; they count
//! from the next number that is gathered on.

use turnpike_model::{Explorer, StepError, StepErrorKind};

use super::order::{Entry, Ranges, Standing};
use super::part::Part;
use super::worker::{Incident, Moment, Place, Tally};
use super::{Run, for_each};
use crate::error::Halt;
use crate::exchange::{ProcessLost, Processes};
use crate::limits::StopReason;
use crate::objective::{Hit, HitKind};
use crate::wire::{Reader, Writer};

/// What stops one process and not another.
const OUTSIDE: [StopReason; 3] = [StopReason::MaxTime, StopReason::MaxMemory, StopReason::Interrupted];

/// The processes of a search, and which workers each has.
pub(crate) struct Peers {
    pub(crate) processes: Processes,
    /// The number of the first worker of each process, then that of all workers.
    firsts: Vec<usize>,
}

/// Another process does not take part any more.
pub(super) fn lost(_: ProcessLost) -> Halt {
    Halt::Stop(StopReason::ProcessLost)
}

/// Another process sent what it cannot have meant.
pub(super) fn garbled() -> Halt {
    Halt::Stop(StopReason::ProcessLost)
}

/// Agrees on how the part of a search ended that every process does by itself.
pub(crate) fn agree<T>(run: &Run<'_>, ended: Result<T, Halt>) -> Result<T, Halt> {
    let Some(processes) = &run.options.processes else { return ended };
    let codes = processes.exchange().gather(&[code(&ended)]).map_err(lost)?;
    match (ended, outside(codes.iter().map(|part| part.first().copied().unwrap_or_default()))) {
        (Ok(_), Some(stop)) => Err(Halt::Stop(stop)),
        (ended, _) => ended,
    }
}

/// What stopped this process and not others, if anything.
pub(crate) fn code<T>(outcome: &Result<T, Halt>) -> u8 {
    let Err(Halt::Stop(stop)) = outcome else { return 0 };
    OUTSIDE.iter().position(|one| one == stop).map_or(0, |at| at as u8 + 1)
}

/// Why all processes stop, if one of them has to.
pub(crate) fn outside(codes: impl Iterator<Item = u8>) -> Option<StopReason> {
    codes.max().and_then(|code| OUTSIDE.get(usize::from(code).checked_sub(1)?).copied())
}

impl Peers {
    /// Tells the others how many workers this process has.
    pub(crate) fn meet(processes: &Processes, workers: usize) -> Result<Peers, Halt> {
        let counts = processes.exchange().gather(&(workers as u64).to_le_bytes()).map_err(lost)?;
        let mut firsts = vec![0];
        for part in counts {
            let count = Reader::new(&part).long().ok_or_else(garbled)?;
            firsts.push(firsts[firsts.len() - 1] + count as usize);
        }
        Ok(Peers { processes: processes.clone(), firsts })
    }

    /// The number of the first worker of this process.
    pub(crate) fn first(&self) -> usize {
        self.firsts[self.processes.index()]
    }

    /// Workers of all processes.
    pub(crate) fn workers(&self) -> usize {
        self.firsts[self.processes.count()]
    }

    /// The process of a worker.
    pub(crate) fn home(&self, worker: usize) -> usize {
        self.firsts.partition_point(|&first| first <= worker) - 1
    }

    /// The workers of a process.
    pub(crate) fn workers_of(&self, process: usize) -> std::ops::Range<usize> {
        self.firsts[process]..self.firsts[process + 1]
    }

    pub(crate) fn gather(&self, part: &[u8]) -> Result<Vec<Vec<u8>>, Halt> {
        self.processes.exchange().gather(part).map_err(lost)
    }

    pub(crate) fn sum(&self, numbers: &[u64]) -> Result<Vec<u64>, Halt> {
        self.processes.exchange().sum(numbers).map_err(lost)
    }

    /// What the process of a worker says here.
    pub(crate) fn hear(&self, worker: usize, say: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, Halt> {
        let home = self.home(worker);
        let part = if home == self.processes.index() { say() } else { Vec::new() };
        Ok(self.gather(&part)?.swap_remove(home))
    }

    /// The part of states that process 0 chose to decide who owns them.
    pub(crate) fn agree_on_part(&self, own: &[(usize, u32)], width: usize) -> Result<Part, Halt> {
        let said = self.hear(0, || {
            let mut out = Writer::default();
            for &(position, mask) in own {
                out.count(position);
                out.word(mask);
            }
            out.finish()
        })?;
        let (mut reader, mut part) = (Reader::new(&said), Part::new());
        while let (Some(position), Some(mask)) = (reader.word(), reader.word()) {
            part.push((position as usize, mask));
        }
        let fits = part.iter().all(|&(position, _)| position < width);
        fits.then_some(part).ok_or_else(garbled)
    }

    /// Ends a pass: what each process counted, and whether something stopped one of them.
    pub(crate) fn agree_on_pass(
        &self,
        outcome: Result<(), Halt>,
        own: Tally,
    ) -> (Result<(), Halt>, Vec<Tally>) {
        let mut out = Writer::default();
        out.byte(code(&outcome));
        out.long(own.states);
        out.long(own.transitions);
        out.long(own.deadlocks);
        let parts = match self.gather(out.as_slice()) {
            Ok(parts) => parts,
            Err(halt) => return (Err(halt), vec![own]),
        };
        let (mut codes, mut tallies) = (Vec::new(), Vec::new());
        for part in &parts {
            let mut reader = Reader::new(part);
            codes.push(reader.byte().unwrap_or_default());
            let mut next = || reader.long().unwrap_or_default();
            tallies.push(Tally { states: next(), transitions: next(), deadlocks: next() });
        }
        let outcome = match outside(codes.into_iter()) {
            Some(stop) => Err(Halt::Stop(stop)),
            None => outcome,
        };
        (outcome, tallies)
    }

    /// The incidents of all processes.
    pub(crate) fn share_incidents(&self, own: Vec<Incident>) -> Result<Vec<Incident>, Halt> {
        let mut out = Writer::default();
        out.count(own.len());
        own.iter().for_each(|incident| write_incident(incident, &mut out));
        let mut all = Vec::new();
        for part in self.gather(out.as_slice())? {
            let mut reader = Reader::new(&part);
            for _ in 0..reader.word().ok_or_else(garbled)? {
                all.push(read_incident(&mut reader).ok_or_else(garbled)?);
            }
        }
        Ok(all)
    }

    /// Ranks the new states of all processes. `split` has the discoveries of this process's workers by
    /// range. For each range: where the discoveries of each of these workers stand in it, and its size.
    pub(crate) fn rank(
        &self,
        ranges: Ranges,
        split: &[Vec<Vec<Entry>>],
        together: bool,
    ) -> Result<(Vec<Vec<Standing>>, Vec<u32>), Halt> {
        let own = self.workers_of(self.processes.index());
        let mut all: Vec<Vec<Vec<Entry>>> = Vec::with_capacity(self.workers());
        for (process, part) in self.scatter_keys(split)?.into_iter().enumerate() {
            let lists = read_keys(&part, self.workers_of(process).len(), own.len());
            all.extend(lists.ok_or_else(garbled)?);
        }
        let sorted = for_each(own.enumerate(), together, |(index, range)| {
            let lists: Vec<&[Entry]> = all.iter().map(|lists| lists[index].as_slice()).collect();
            ranges.sort(range, &lists)
        });
        drop(all);
        self.return_places(split, &sorted)
    }

    /// Hands the discoveries to those who sort their ranges.
    fn scatter_keys(&self, split: &[Vec<Vec<Entry>>]) -> Result<Vec<Vec<u8>>, Halt> {
        let part = |process: usize| {
            let mut out = Writer::default();
            for lists in split {
                for range in self.workers_of(process) {
                    out.count(lists[range].len());
                    lists[range].iter().for_each(|&(key, _)| out.long(key));
                }
            }
            out.finish()
        };
        let parts = (0..self.processes.count()).map(part).collect();
        self.processes.exchange().scatter(parts).map_err(lost)
    }

    /// Tells every process where its discoveries stand in the ranges that were sorted here, and hears the
    /// same of the other ranges.
    fn return_places(
        &self,
        split: &[Vec<Vec<Entry>>],
        sorted: &[Vec<Standing>],
    ) -> Result<(Vec<Vec<Standing>>, Vec<u32>), Halt> {
        let part = |process: usize| {
            let mut out = Writer::default();
            for standings in sorted {
                out.count(standings.iter().map(Vec::len).sum());
                for worker in self.workers_of(process) {
                    let mut places = vec![0; standings[worker].len()];
                    standings[worker].iter().for_each(|&(index, place)| places[index as usize] = place);
                    places.into_iter().for_each(|place| out.word(place));
                }
            }
            out.finish()
        };
        let parts = (0..self.processes.count()).map(part).collect();
        let received = self.processes.exchange().scatter(parts).map_err(lost)?;
        let (mut standings, mut sizes) = (Vec::new(), Vec::new());
        for (process, part) in received.iter().enumerate() {
            let mut reader = Reader::new(part);
            for range in self.workers_of(process) {
                let size = reader.word().ok_or_else(garbled)?;
                sizes.push(size);
                let mut of_workers = Vec::with_capacity(split.len());
                for lists in split {
                    of_workers.push(read_places(&mut reader, &lists[range], size).ok_or_else(garbled)?);
                }
                standings.push(of_workers);
            }
        }
        Ok((standings, sizes))
    }
}

/// The discoveries of a process's workers in each of the ranges that are sorted here. An entry's index is
/// its place in its list.
fn read_keys(bytes: &[u8], workers: usize, ranges: usize) -> Option<Vec<Vec<Vec<Entry>>>> {
    let mut reader = Reader::new(bytes);
    let mut list = || (0..reader.word()?).map(|index| Some((reader.long()?, index))).collect();
    let mut lists = || (0..ranges).map(|_| list()).collect();
    (0..workers).map(|_| lists()).collect()
}

/// Where the discoveries of a list stand in a range of so many, in order.
fn read_places(reader: &mut Reader<'_>, list: &[Entry], size: u32) -> Option<Standing> {
    const NOBODY: u32 = u32::MAX;
    // Every place is taken at most once, so nothing has to be sorted.
    let mut by_place = vec![NOBODY; size as usize];
    for &(_, index) in list {
        *by_place.get_mut(reader.word()? as usize)? = index;
    }
    let taken = (0..).zip(by_place).filter(|&(_, index)| index != NOBODY);
    Some(taken.map(|(place, index)| (index, place)).collect())
}

fn write_incident(incident: &Incident, out: &mut Writer) {
    let Incident { rank, moment, place, outcome } = incident;
    out.word(*rank);
    out.byte(*moment as u8);
    out.long(place.pack());
    match outcome {
        Ok(hits) => {
            out.byte(0);
            out.count(hits.len());
            for Hit { objective, kind } in hits {
                out.count(*objective);
                match kind {
                    HitKind::Here => out.byte(0),
                    HitKind::Step(choice) => {
                        out.byte(1);
                        out.word(*choice);
                    }
                    HitKind::Lasso { .. } => unreachable!("who looks for cycles does not share states out"),
                }
            }
        }
        Err(StepError { kind, message }) => {
            out.byte(if *kind == StepErrorKind::Nondeterministic { 2 } else { 1 });
            out.bytes(message.as_bytes());
        }
    }
}

fn read_incident(reader: &mut Reader<'_>) -> Option<Incident> {
    let rank = reader.word()?;
    let moment = match reader.byte()? {
        0 => Moment::Popped,
        1 => Moment::Expanded,
        _ => Moment::Checked,
    };
    let place = Place::unpack(reader.long()?);
    let outcome = match reader.byte()? {
        0 => {
            let mut hits = Vec::new();
            for _ in 0..reader.word()? {
                let objective = reader.word()? as usize;
                let kind = match reader.byte()? {
                    0 => HitKind::Here,
                    _ => HitKind::Step(reader.word()?),
                };
                hits.push(Hit { objective, kind });
            }
            Ok(hits)
        }
        1 => Err(StepError::new(reader.text()?)),
        _ => Err(StepError::nondeterministic(reader.text()?)),
    };
    Some(Incident { rank, moment, place, outcome })
}

/// Reads a state that another process encoded.
pub(crate) fn decode(explorer: &mut dyn Explorer, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
    explorer.portable_states()?.decode(bytes, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incidents_survive_the_journey() {
        let place = Place { worker: 3, id: 9 };
        let hits =
            vec![Hit { objective: 2, kind: HitKind::Here }, Hit { objective: 0, kind: HitKind::Step(7) }];
        let outcomes = [Ok(hits), Err(StepError::new("no")), Err(StepError::nondeterministic("yes"))];
        for (moment, outcome) in [Moment::Popped, Moment::Expanded, Moment::Checked].into_iter().zip(outcomes)
        {
            let mut out = Writer::default();
            write_incident(&Incident { rank: 5, moment, place, outcome: outcome.clone() }, &mut out);
            let mut reader = Reader::new(out.as_slice());
            let read = read_incident(&mut reader).expect("whole");
            assert!(reader.is_empty());
            assert_eq!((read.rank, read.moment, read.place, read.outcome), (5, moment, place, outcome));
        }
    }

    #[test]
    fn limits_of_one_process_count_for_all() {
        let stop = |stop| Err::<(), _>(Halt::Stop(stop));
        assert_eq!(outside([0, 0].into_iter()), None);
        let codes = [code(&Ok(())), code(&stop(StopReason::Found)), code(&stop(StopReason::MaxMemory))];
        assert_eq!(outside(codes.into_iter()), Some(StopReason::MaxMemory));
    }
}
