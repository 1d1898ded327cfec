//! States that move to files change no result: on random systems, wherever a search ends.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use turnpike_search::generate::{Discard, GenerateOptions, GenerateReport, generate};
use turnpike_search::strategy::{Bfs, Highway};
use turnpike_search::{Limits, SearchOptions, Spill, StopReason, StoreKind, search};

use crate::owners::{Random, outcome, request};

fn below(folder: &Path, room: u64) -> Option<Spill> {
    Some(Spill { folder: folder.join("new"), room: Some(room) })
}

fn is_empty(folder: &Path) -> bool {
    folder.join("new").read_dir().expect("the folder was made").next().is_none()
}

#[test]
fn states_in_files_give_the_result_of_states_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut found, mut limited, mut failed) = (0, 0, 0);
    for number in 0..200 {
        let model = Random::new(number);
        let mut options = request(number, Bfs::default().into());
        let alone = outcome(&model, &options);
        found += u32::from(alone["verdict"] == "found");
        limited += u32::from(alone["stop"] == "max-states");
        failed += u32::from(alone.is_string());
        // No room: after every level all states move to a file. Some room: only sometimes.
        for (room, threads) in [(0, 1), (3_000, 2)] {
            options.spill = below(folder.path(), room);
            options.threads = threads;
            assert_eq!(outcome(&model, &options), alone, "system {number} with room for {room} bytes");
        }
        assert!(is_empty(folder.path()), "files are left behind");
    }
    assert!(found > 30 && limited > 10 && failed > 10, "{found} found, {limited} limited, {failed} failed");
}

fn philosophers(seats: u32, options: &GenerateOptions) -> GenerateReport {
    let model = turnpike_builtin::build("philosophers", &[("n".into(), seats.to_string())]).expect("a model");
    generate(&*model, options, &mut Discard, &|_| {}, &AtomicBool::new(false)).expect("a report")
}

#[test]
fn a_space_of_many_times_the_room_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    for (store, room) in [(StoreKind::Exact, 1 << 16), (StoreKind::Tree, 1 << 17)] {
        let mut options = GenerateOptions { store, ..GenerateOptions::default() };
        let alone = philosophers(10, &options);
        options.spill = below(folder.path(), room);
        let spilled = philosophers(10, &options);
        // a(10) - 1 where a(n) = 3 a(n-1) + a(n-2), see the model.
        assert_eq!((spilled.stop, spilled.states), (StopReason::Exhausted, 154_450));
        let counts = |report: &GenerateReport| {
            (report.states, report.transitions, report.deadlocks, report.levels, report.actions.clone())
        };
        assert_eq!(counts(&spilled), counts(&alone));
        let (all, left) = (alone.store_bytes, spilled.store_bytes);
        assert!(all > 10 * room && left < all / 2, "{all} bytes alone, {left} with room for {room}");
        assert!(is_empty(folder.path()), "files are left behind");
    }
}

#[test]
fn limits_count_as_without_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for (states, depth) in [(Some(20_000), None), (None, Some(9)), (Some(1), None)] {
        let limits = Limits { states, depth, ..Limits::default() };
        let mut options = GenerateOptions { limits, ..GenerateOptions::default() };
        let alone = philosophers(9, &options);
        options.spill = below(folder.path(), 1 << 14);
        let spilled = philosophers(9, &options);
        let counts =
            |report: &GenerateReport| (report.stop, report.states, report.transitions, report.levels);
        assert_eq!(counts(&spilled), counts(&alone));
    }
}

#[test]
fn what_cannot_be_done_with_files_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Random::new(1);
    let refusal = |change: &dyn Fn(&mut SearchOptions)| {
        let mut options = SearchOptions::new(Bfs::default());
        options.spill = below(folder.path(), 0);
        change(&mut options);
        search(&model, &options, &|_| {}, &AtomicBool::new(false)).expect_err("refused").to_string()
    };
    assert!(refusal(&|options| options.strategy = Highway { width: 9 }.into()).contains("strategy highway"));
    assert!(refusal(&|options| options.runs = 2).contains("several runs"));
    assert!(refusal(&|options| options.store = StoreKind::Compact).contains("store compact"));
    // A folder that cannot be made: something else has its name.
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let words = refusal(&|options| options.spill = Some(Spill { folder: file.clone(), room: None }));
    assert!(words.contains("cannot move states to files"), "{words}");
}

#[test]
fn a_limit_that_leaves_no_room_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let spill = Some(Spill { folder: folder.path().to_owned(), room: None });
    let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
    let options = GenerateOptions { limits, spill, ..GenerateOptions::default() };
    let model = Random::new(1);
    let ended = generate(&model, &options, &mut Discard, &|_| {}, &AtomicBool::new(false));
    let error = ended.expect_err("turnpike takes more itself").to_string();
    assert!(error.contains("the limit on memory leaves no room for states"), "{error}");
}
