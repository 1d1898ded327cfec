//! The zone graphs of public models have as many states and transitions as TChecker visits.

use rustc_hash::FxHashSet;
use serde_json::Value;
use turnpike_model::{Model, Successors};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::query::Names;
use turnpike_timed::uppaal::Format;
use turnpike_timed::{tck, uppaal};

/// Larger graphs are covered by benchmarks.
const MOST_STATES: u64 = 300_000;

/// Public systems available in both languages.
const PAIRS: [&str; 7] = [
    "corsso_2_2_10_1_2",
    "csmacd_3",
    "dining-philosophers_3_3_10_0",
    "fire-alarm_3",
    "fischer_3_10",
    "leader-election_3_4",
    "train_gate_3",
];

/// The total number of states and transitions.
fn size(model: &TimedModel) -> Result<(u64, u64), String> {
    let mut explorer = model.explorer();
    let width = model.info().width;
    let (mut state, mut out) = (Vec::new(), Successors::new(width));
    explorer.initial(&mut state).map_err(|error| error.message)?;
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    seen.insert(state.clone());
    let mut open = vec![state];
    let (mut states, mut transitions) = (0, 0);
    while let Some(state) = open.pop() {
        explorer.successors(&state, &mut out).map_err(|error| error.message)?;
        states += 1;
        transitions += out.len() as u64;
        for (_, target) in out.iter() {
            if !seen.contains(target) {
                seen.insert(target.to_vec());
                open.push(target.to_vec());
            }
        }
    }
    if model.info().virtual_root {
        let initial = {
            let mut root = Vec::new();
            explorer.initial(&mut root).map_err(|error| error.message)?;
            explorer.successors(&root, &mut out).map_err(|error| error.message)?;
            out.len() as u64
        };
        return Ok((states - 1, transitions - initial));
    }
    Ok((states, transitions))
}

#[test]
fn graphs_are_as_large_as_tchecker_says() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let oracle = corpus.read("oracle/timed.jsonl");
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in oracle.lines() {
        let record: Value = serde_json::from_str(line).expect("one object a line");
        // A search that found its target stopped early.
        let run = &record["reach_bfs"];
        if run["reachable"] != Value::Bool(false) {
            continue;
        }
        let (Some(states), Some(transitions)) =
            (run["visited_states"].as_u64(), run["visited_transitions"].as_u64())
        else {
            continue;
        };
        let file = record["file"].as_str().expect("a name");
        if run["outcome"] != "complete" || states > MOST_STATES {
            continue;
        }
        let text = std::fs::read_to_string(corpus.path("models/timed").join(file)).expect("readable");
        let found = tck::read(&text)
            .and_then(|(network, _)| {
                TimedModel::new(file, &text, network, Names::default(), &Options::default())
            })
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            .and_then(|(model, _)| size(&model));
        checked += 1;
        if found != Ok((states, transitions)) {
            wrong.push(format!("{file}: {found:?} instead of {:?}", (states, transitions)));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 50, "only {checked} were compared");
}

#[test]
fn systems_in_both_languages_have_graphs_of_the_same_size() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let told = |errors: Vec<turnpike_model::Diagnostic>| errors[0].to_string();
    let mut found = Vec::new();
    for name in PAIRS {
        let text = |end: &str| {
            std::fs::read_to_string(corpus.path("models/timed/pairs").join(format!("{name}.{end}")))
                .expect("readable")
        };
        let (xta, tck) = (text("xta"), text("tck"));
        let sizes = uppaal::read(&xta, Format::Xta, &[]).map_err(told).and_then(|(network, names, _)| {
            let (one, _) = TimedModel::new(name, &xta, network, names, &Options::default()).map_err(told)?;
            let (network, _) = tck::read(&tck).map_err(told)?;
            let (two, _) =
                TimedModel::new(name, &tck, network, Names::default(), &Options::default()).map_err(told)?;
            Ok((size(&one)?, size(&two)?))
        });
        found.push((name, sizes));
    }
    let wrong: Vec<_> = found
        .iter()
        .filter(|(_, sizes)| !matches!(sizes, Ok((one, two)) if one == two && one.0 > 10))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
