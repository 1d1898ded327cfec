//! Checkpoints of several processes: they agree on them, and a part that cannot be written ends all.

use std::time::Duration;

use turnpike_search::checkpoint::Checkpoints;
use turnpike_search::strategy::{Bfs, Highway};
use turnpike_search::{Limits, SearchOptions, Strategy};

use crate::owners::{Random, in_processes, outcome, request};

/// A search with several levels, of a system that can be expanded everywhere.
fn whole_search(strategy: Strategy) -> SearchOptions {
    let mut options = request(6, strategy);
    options.limits = Limits::default();
    options.objectives = vec!["action none".parse().expect("a goal")];
    options.checkpoints.identity = "one search".into();
    options
}

/// How two processes end that have these checkpoints.
fn end(options: &SearchOptions, checkpoints: [Checkpoints; 2]) -> Vec<String> {
    let outcomes = in_processes(2, |process, all| {
        let checkpoints = checkpoints[process].clone();
        let options = SearchOptions { processes: Some(all), checkpoints, ..options.clone() };
        outcome(&Random::copy(6, process), &options)
    });
    outcomes.iter().map(ToString::to_string).collect()
}

#[test]
fn processes_with_different_checkpoints_end_with_an_error() {
    for strategy in [Strategy::from(Bfs::default()), Strategy::from(Highway { width: 50 })] {
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let options = whole_search(strategy);
        let identity = options.checkpoints.identity.clone();
        let writing = |folder: &tempfile::TempDir| Checkpoints {
            write: Some((folder.path().to_owned(), Duration::ZERO)),
            resume: None,
            identity: identity.clone(),
        };
        let chosen = [0, 1].map(|index: usize| {
            let checkpoints = writing(&folders[index]);
            outcome(&Random::new(6), &SearchOptions { checkpoints, ..options.clone() });
            let resume = Checkpoints::choose(folders[index].path(), &identity).expect("a checkpoint");
            Checkpoints { resume: Some(resume), write: None, identity: identity.clone() }
        });
        let none = Checkpoints { identity: identity.clone(), ..Checkpoints::default() };
        for different in [
            [writing(&folders[0]), none.clone()],
            [chosen[0].clone(), none.clone()],
            [none, chosen[1].clone()],
            chosen.clone(),
        ] {
            for end in end(&options, different) {
                assert!(end.contains("the same checkpoints"), "{end}");
            }
        }
        // Each has a folder of its own.
        for end in end(&options, [writing(&folders[0]), writing(&folders[1])]) {
            assert!(end.contains("of process 1 is not that of process 0"), "{end}");
        }
    }
}

#[test]
fn a_part_that_cannot_be_written_names_its_process() {
    let folder = tempfile::tempdir().expect("a folder");
    // What the second process wants to write has the name of a folder.
    for depth in 0..40 {
        let level = folder.path().join(format!("level-{depth:08}"));
        std::fs::create_dir_all(level.join("part-1.unfinished")).expect("a folder");
    }
    let mut options = whole_search(Bfs::default().into());
    options.checkpoints.write = Some((folder.path().to_owned(), Duration::ZERO));
    for end in end(&options, [options.checkpoints.clone(), options.checkpoints.clone()]) {
        assert!(end.contains("process 1 cannot write its part of a checkpoint"), "{end}");
    }
}
