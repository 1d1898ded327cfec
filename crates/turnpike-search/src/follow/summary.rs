//! What is kept of an execution once it is over.

use turnpike_model::paths::{Detail, PathEnd, Paths, Request, StepCounts};

use super::pool::Digest;
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::objective::{ExecutionHit, HitKind, Judge};
use crate::run::Run;
use crate::wire::{Reader, Writer};
use crate::witness::Witness;

/// Steps whose fingerprints are compared, to estimate how many are distinct.
const SAMPLED_STEPS: u64 = 100_000;

/// How an execution came to its end, as far as counting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself.
    Completed,
    /// At the limit on steps.
    Cut,
    /// Because what follows is redundant.
    Asleep,
    /// The schedule did not fit, at this step.
    Diverged(u32),
}

/// What is kept of an execution.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) ending: Ending,
    pub(crate) steps: usize,
    /// Steps with more than one choice.
    pub(crate) contested: u32,
    pub(crate) hits: Vec<ExecutionHit>,
    /// Of the error, when several are looked for.
    pub(crate) signature: u64,
    /// The same in words, one for each error.
    pub(crate) signatures: Vec<String>,
    /// Errors that are to be passed over.
    pub(crate) suppressed: Vec<String>,
    /// The schedule, if something was hit.
    pub(crate) choices: Vec<u32>,
    /// Fingerprints of the states, if they are counted.
    pub(crate) prints: Vec<u64>,
    /// Steps of each thread, by id.
    pub(crate) events: Vec<u32>,
    pub(crate) incomplete: bool,
}

impl Digest for Summary {
    fn write(&self, out: &mut Writer) {
        let (ending, at) = match self.ending {
            Ending::Completed => (0, 0),
            Ending::Cut => (1, 0),
            Ending::Asleep => (2, 0),
            Ending::Diverged(step) => (3, step),
        };
        out.byte(ending);
        out.word(at);
        out.number(self.steps as u64);
        out.word(self.contested);
        out.count(self.hits.len());
        for ExecutionHit { objective, steps } in &self.hits {
            out.count(*objective);
            out.number(*steps as u64);
        }
        out.long(self.signature);
        for texts in [&self.signatures, &self.suppressed] {
            out.count(texts.len());
            texts.iter().for_each(|text| out.bytes(text.as_bytes()));
        }
        out.words(&self.choices);
        out.longs(&self.prints);
        out.words(&self.events);
        out.byte(self.incomplete.into());
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (ending, at) = (reader.byte()?, reader.word()?);
        let ending = match ending {
            0 => Ending::Completed,
            1 => Ending::Cut,
            2 => Ending::Asleep,
            _ => Ending::Diverged(at),
        };
        let (steps, contested) = (usize::try_from(reader.number()?).ok()?, reader.word()?);
        let mut hits = Vec::new();
        for _ in 0..reader.word()? {
            let objective = reader.word()? as usize;
            hits.push(ExecutionHit { objective, steps: usize::try_from(reader.number()?).ok()? });
        }
        let signature = reader.long()?;
        let mut texts = || (0..reader.word()?).map(|_| reader.text()).collect::<Option<Vec<_>>>();
        let (signatures, suppressed) = (texts()?, texts()?);
        Some(Summary {
            ending,
            steps,
            contested,
            hits,
            signature,
            signatures,
            suppressed,
            choices: reader.words()?,
            prints: reader.longs()?,
            events: reader.words()?,
            incomplete: reader.byte()? == 1,
        })
    }
}

/// How executions are summed up.
pub(crate) struct Summarise {
    judge: Judge,
    all: bool,
    sample: bool,
}

impl Summarise {
    pub(crate) fn new(run: &Run<'_>) -> Result<Self, Halt> {
        let judge = Judge::new(run.objectives).map_err(SearchError::from)?;
        let sample = run.counters.executions.sampled < SAMPLED_STEPS;
        Ok(Summarise { judge, all: run.options.all, sample })
    }

    /// How much must be recorded.
    pub(crate) fn detail(&self) -> Detail {
        match () {
            () if self.all || self.judge.needs_labels() => Detail::Full,
            () if self.sample => Detail::Steps,
            () => Detail::Positions,
        }
    }

    /// Stops comparing fingerprints once enough were.
    pub(crate) fn refresh(&mut self, run: &Run<'_>) {
        self.sample = run.counters.executions.sampled < SAMPLED_STEPS;
    }

    /// Follows and books one path, which can then be inspected.
    pub(crate) fn follow<'r>(
        &mut self,
        run: &'r mut Run<'_>,
        request: &Request<'_>,
    ) -> Result<&'r mut dyn Paths, Halt> {
        run.admit_execution()?;
        let summary = self.of(run.follow(request)?);
        run.book_execution(&summary)?;
        self.refresh(run);
        run.followed()
    }

    pub(crate) fn of(&self, paths: &mut dyn Paths) -> Summary {
        let hits = self.judge.hits(paths);
        let ending = match paths.end() {
            PathEnd::StepLimit => Ending::Cut,
            PathEnd::Asleep => Ending::Asleep,
            PathEnd::Diverged(step) => Ending::Diverged(step),
            _ => Ending::Completed,
        };
        let mut counts = StepCounts::default();
        paths.count_steps(&mut counts);
        let hit = !hits.is_empty();
        let mut prints = Vec::new();
        if self.sample {
            paths.fingerprints(&mut prints);
        }
        Summary {
            ending,
            steps: paths.len(),
            contested: counts.contested,
            signature: if hit && self.all { paths.signature() } else { 0 },
            signatures: if hit && self.all { self.judge.signatures(paths) } else { Vec::new() },
            suppressed: paths.suppressed().to_vec(),
            choices: if hit { (0..paths.len()).map(|at| paths.step(at).taken).collect() } else { Vec::new() },
            hits,
            prints,
            events: counts.by_actor,
            incomplete: paths.is_incomplete(),
        }
    }
}

impl Run<'_> {
    /// Books an execution: counts it, and leaves when it ends the search.
    pub(crate) fn book_execution(&mut self, summary: &Summary) -> Result<(), Halt> {
        if let Ending::Diverged(step) = summary.ending {
            let message =
                format!("step {} of a schedule that was recorded cannot be taken any more", step + 1);
            return Err(SearchError::Nondeterministic(message).into());
        }
        self.counters.execute(summary);
        self.findings.pass_over(&summary.suppressed);
        // Not the share of a portfolio: that may be exceeded by the last execution.
        let limit = self.options.limits.states.unwrap_or(u64::MAX);
        if self.counters.states > limit {
            // What the limit forbids was not seen.
            self.counters.states = limit;
            return Err(Halt::Stop(StopReason::MaxStates));
        }
        if summary.hits.is_empty() {
            return Ok(());
        }
        let witnesses = summary.hits.iter().map(|hit| {
            let kind = HitKind::Here;
            let choices = summary.choices[..hit.steps.min(summary.choices.len())].to_vec();
            Witness { objective: hit.objective, stem: choices.len(), choices, loop_start: None, kind }
        });
        let (witnesses, all) = (witnesses.collect(), self.options.all);
        self.findings.meet_by_execution(witnesses, &summary.signatures, self.objectives, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_survive_the_journey() {
        for ending in [Ending::Completed, Ending::Cut, Ending::Asleep, Ending::Diverged(7)] {
            let summary = || Summary {
                ending,
                steps: 300,
                contested: 4,
                hits: vec![ExecutionHit { objective: 1, steps: 299 }],
                signature: 1 << 60,
                signatures: vec!["assertion@a.c:1".to_owned(), "crash@b.c:2".to_owned()],
                suppressed: vec!["deadlock@c.c:3".to_owned()],
                choices: vec![0, 2, u32::MAX],
                prints: vec![5, u64::MAX],
                events: vec![9],
                incomplete: true,
            };
            let mut out = Writer::default();
            summary().write(&mut out);
            let mut reader = Reader::new(out.as_slice());
            assert_eq!(Summary::read(&mut reader), Some(summary()));
            assert!(reader.is_empty());
            assert_eq!(Summary::read(&mut Reader::new(&out.as_slice()[..out.len() - 1])), None);
        }
    }
}
