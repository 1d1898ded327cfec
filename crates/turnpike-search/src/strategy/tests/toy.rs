//! A strategy that always takes the same turn: the example of the book's chapter "Adding a strategy".

// ANCHOR: strategy
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::strategy::Search;
use crate::strategy::descriptor::{Descriptor, OptionInfo, Parallel, ValueKind};
use crate::witness::Path;

/// Takes the same turn in every state.
#[derive(Clone, Copy, Debug)]
struct SameTurn {
    /// Which transition, from 0; the last one where there are fewer.
    turn: u32,
}

const TURN: OptionInfo = OptionInfo {
    name: "turn",
    value: ValueKind::NATURAL,
    default: "0",
    doc: "which transition to take, from 0; the last one where there are fewer",
};

static DESCRIPTOR: Descriptor = Descriptor {
    name: "same-turn",
    summary: "one walk that takes the same turn everywhere",
    guarantee: "none",
    memory: "the length of the walk",
    when: "you want an example",
    options: &[TURN],
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| Ok(SameTurn { turn: given.count(&TURN)?.unwrap_or(0) }.into()),
};

impl Search for SameTurn {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let (mut state, mut successors) = (run.initial()?, run.buffer());
        let mut choices: Vec<u32> = Vec::new();
        loop {
            let path = || Path::Choices(choices.clone());
            run.expand(&state, choices.len() as u32, &mut successors, &path)?;
            run.check(&state, &successors, &path)?;
            let Some(last) = successors.len().checked_sub(1) else {
                // The end of one walk proves nothing about the others.
                return Ok(StopReason::Finished);
            };
            let choice = (self.turn as usize).min(last);
            state = successors.state(choice).to_vec();
            choices.push(choice as u32);
        }
    }

    fn is_endless(&self) -> bool {
        true
    }
}
// ANCHOR_END: strategy

mod tests {
    use std::sync::atomic::AtomicBool;

    use super::DESCRIPTOR;
    use crate::strategy::Options;
    use crate::{SearchOptions, SearchReport, StopReason, Verdict, search};

    /// Searches a way with a loop back to its start at every node for the deadlock at its end.
    fn run(turn: &str) -> SearchReport {
        let model = turnpike_builtin::build("backloops", &[]).expect("a model");
        let mut options = Options::new();
        options.set("turn", turn);
        let strategy = DESCRIPTOR.build(&options, model.info()).expect("an option of the strategy");
        let mut request = SearchOptions::new(strategy);
        request.objectives = vec!["deadlock".parse().expect("an objective")];
        request.limits.states = Some(100);
        search(&*model, &request, &|_| {}, &AtomicBool::new(false)).expect("searches")
    }

    #[test]
    fn a_toy_strategy_searches_and_is_confirmed() {
        let (onwards, back) = (run("0"), run("1"));
        assert_eq!(onwards.verdict, Verdict::Found);
        assert_eq!(onwards.witness().map(|witness| witness.length), Some(10));
        assert_eq!((back.verdict, back.runs[0].stop), (Verdict::Inconclusive, StopReason::MaxStates));
    }

    #[test]
    fn its_options_are_checked() {
        let mut options = Options::new();
        options.set("turn", "left");
        assert!(DESCRIPTOR.check(&options).is_err_and(|error| error.message.contains("turn")));
    }
}
