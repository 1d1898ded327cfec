//! Adds a strategy to turnpike, and compares it with random walks in an experiment.

// ANCHOR: strategy
use std::collections::HashMap;

use turnpike_lab::strategy::{
    Descriptor, Halt, OptionInfo, Parallel, Path, Run, Search, StopReason, ValueKind,
};

/// Walks on to the state that it has visited least often.
#[derive(Debug)]
struct LeastVisited {
    /// Steps after which a walk begins again.
    patience: u32,
}

const PATIENCE: OptionInfo = OptionInfo {
    name: "patience",
    value: ValueKind::POSITIVE,
    default: "1000",
    doc: "steps after which a walk begins again",
};

static LEAST_VISITED: Descriptor = Descriptor {
    name: "least-visited",
    summary: "walks on to the state visited least often",
    guarantee: "none",
    memory: "the states visited",
    when: "random walks return to where they were",
    options: &[PATIENCE],
    settings: &[],
    stores_states: false,
    programs_only: false,
    parallel: Parallel::Nothing,
    build: |given| Ok(LeastVisited { patience: given.count(&PATIENCE)?.unwrap_or(1000) }.into()),
};

impl Search for LeastVisited {
    fn descriptor(&self) -> &'static Descriptor {
        &LEAST_VISITED
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let (start, mut successors) = (run.initial()?, run.buffer());
        let mut visits: HashMap<Vec<u32>, u64> = HashMap::new();
        loop {
            let (mut state, mut choices) = (start.clone(), Vec::new());
            while (choices.len() as u32) < self.patience {
                let path = || Path::Choices(choices.clone());
                run.expand(&state, choices.len() as u32, &mut successors, &path)?;
                run.check(&state, &successors, &path)?;
                let count = |choice: &usize| visits.get(successors.state(*choice)).copied().unwrap_or(0);
                let all = 0..successors.len();
                let Some(least) = all.clone().map(|choice| count(&choice)).min() else { break };
                // Equals are decided by chance, which the seed of the run governs.
                let equals: Vec<usize> = all.filter(|choice| count(choice) == least).collect();
                let choice = equals[run.draw(equals.len() as u64) as usize];
                state = successors.state(choice).to_vec();
                *visits.entry(state.clone()).or_default() += 1;
                choices.push(choice as u32);
            }
        }
    }

    fn is_endless(&self) -> bool {
        true
    }
}
// ANCHOR_END: strategy

// ANCHOR: experiment
use std::path::Path as FilePath;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use turnpike_lab::experiment::ExperimentFile;
use turnpike_lab::{How, Lab, Problem, report, strategy};

/// Runs the experiment, and writes its report into a folder.
fn compare(experiment: &FilePath, folder: &FilePath) -> Result<u64, Problem> {
    strategy::register(&LEAST_VISITED)?;
    let file = ExperimentFile::read(experiment)?;
    let mut lab = Lab::open(&folder.join("results.db"))?;
    let new = lab.run(&[file], &How::default(), &AtomicBool::new(false), &mut |_| {})?;
    let results: Vec<_> = lab.results("experiment")?.into_iter().collect();
    report::write(&results, turnpike_lab::VERSION, folder)?;
    Ok(new)
}

fn main() -> ExitCode {
    match compare(FilePath::new("experiment.toml"), FilePath::new(".")) {
        Ok(new) => {
            println!("{new} new runs; see index.html");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
// ANCHOR_END: experiment

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment() -> ExperimentFile {
        let file = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("experiment.toml");
        ExperimentFile::read(&file).expect("an experiment")
    }

    #[test]
    fn the_strategy_takes_part_and_wins() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("experiment.toml");
        assert_eq!(compare(&file, folder.path()).expect("runs"), 2 * 3 * 20);
        // The same program finds all runs done, and registers the same strategy again.
        assert_eq!(compare(&file, folder.path()).expect("nothing to do"), 0);
        assert!(folder.path().join("index.html").is_file());

        let lab = Lab::open(&folder.path().join("results.db")).expect("a database");
        let results = lab.results("experiment").expect("results").expect("the experiment");
        let cell = |strategy: &str| results.cell("backloops(16)", strategy).expect("a cell");
        // Walks fall back at every step with probability one half; memory keeps them going.
        let rate = |strategy: &str| cell(strategy).rate().rate().expect("runs");
        assert!(rate("least visited, 1000 steps") > 2.0 * rate("random"), "{}", rate("random"));
        assert!(cell("least visited, 1000 steps").figure("length").is_some());
    }

    #[test]
    fn its_options_are_checked_before_any_run() {
        strategy::register(&LEAST_VISITED).expect("a new strategy");
        let folder = tempfile::tempdir().expect("a folder");
        for (wrong, said) in [("--patience 0", "patience"), ("--patiense 5", "did you mean `patience`?")] {
            let text = experiment().text.replace("--patience {patience}", wrong);
            let text =
                text.replace("vary = { patience = [100, 1000] }", "").replace(", {patience} steps", "");
            let path = folder.path().join("wrong.toml");
            std::fs::write(&path, text).expect("written");
            let file = ExperimentFile::read(&path).expect("an experiment");
            let mut lab = Lab::open(&folder.path().join("results.db")).expect("a database");
            let problem = lab
                .run(&[file], &How::default(), &AtomicBool::new(false), &mut |_| panic!("nothing runs"))
                .expect_err(wrong);
            assert!(problem.to_string().contains(said), "{problem}");
        }
    }

    #[test]
    fn names_that_are_taken_are_refused() {
        static BFS: Descriptor = Descriptor { name: "bfs", options: &[], ..LEAST_VISITED };
        static SEED: Descriptor = Descriptor {
            name: "seeded",
            options: &[OptionInfo { name: "seed", ..PATIENCE }],
            ..LEAST_VISITED
        };
        static WIDTH: Descriptor = Descriptor {
            name: "wide",
            options: &[OptionInfo { name: "width", ..PATIENCE }],
            ..LEAST_VISITED
        };
        static BLANK: Descriptor = Descriptor { name: "two words", options: &[], ..LEAST_VISITED };
        for (wrong, said) in [
            (&BFS, "there is already a strategy `bfs`"),
            (&SEED, "one of every search already"),
            (&WIDTH, "means something else in the strategy `highway`"),
            (&BLANK, "`two words` is not a name"),
        ] {
            let error = strategy::register(wrong).expect_err(said);
            assert!(error.message.contains(said), "{}", error.message);
        }
    }
}
