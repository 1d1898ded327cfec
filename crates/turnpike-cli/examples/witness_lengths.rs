//! How long are the witnesses of `turnpike search`, next to the shortest ones that are known?
//!
//! `cargo run --release -p turnpike-cli --example witness_lengths -- [--public MCRL2_EXAMPLES] NAME=BINARY…`
//!
//! Searches the bundled models, and public ones when their folder is given, with each of the binaries,
//! once for each seed and without options that change how a witness is shortened. The shortest length is
//! that of breadth-first search where that ends in time, and else (`*`) the shortest that any search
//! found. A number in parentheses says how many searches found something, if not all did.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool of its own")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::Value;

const STRATEGIES: [&str; 4] = ["auto", "random", "drs", "highway"];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Time for each search. Within it, results depend on the seed alone.
const SECONDS: &str = "3s";
/// Time for the breadth-first search of each model.
const SECONDS_OF_BFS: &str = "8s";

/// A model, relative to its folder, with the flags that say what to look for.
type Case = (&'static str, &'static [&'static str]);

const BUNDLED: &[Case] = &[
    ("builtin:philosophers", &["--set", "n=9"]),
    ("builtin:philosophers", &["--set", "n=12"]),
    ("builtin:philosophers-either", &["--set", "n=5"]),
    ("builtin:philosophers-parity", &["--set", "n=6"]),
    ("builtin:backloops", &[]),
    ("builtin:diamond", &["--find", "label report(0)"]),
    ("builtin:bakery", &["--set", "n=2", "--set", "limit=8", "--find", "assertion"]),
    ("builtin:sliding-puzzle", &["--find", "action solved"]),
    ("models/abp.mcrl2", &["--find", "livelock"]),
    ("models/philosophers.mcrl2", &["--set", "N=9"]),
    ("models/backloops.mcrl2", &[]),
    ("models/diamond.mcrl2", &["--find", "label report(0)"]),
    ("models/parking.mcrl2", &["--find", "action collision"]),
    ("models/linklayer.mcrl2", &["--set", "N=2", "--find", "action LDres"]),
    ("models/linklayer.mcrl2", &["--set", "N=4", "--find", "action LDres"]),
    ("models/brp.mcrl2", &["--set", "RETRIES=10", "--find", "action resync"]),
    ("models/conference.mcrl2", &["--find", "action CFSAP_out"]),
    ("models/lift.mcrl2", &["--set", "N=3", "--find", "action protocol_error"]),
    ("models/lift.mcrl2", &["--set", "N=6", "--find", "action protocol_error"]),
    ("models/othello.mcrl2", &["--set", "N=4", "--find", "action Draw"]),
    ("models/swp.mcrl2", &["--set", "W=2", "--find", "action error"]),
    ("models/swp.mcrl2", &["--set", "W=4", "--find", "action error"]),
    ("models/swp.mcrl2", &["--set", "W=6", "--find", "action error"]),
    (
        "models/timed/bang_olufsen.xta",
        &[
            "--find",
            "state exists (i : id_t) finished[i] && (differs[i] || exists (j : id_t) j != i && verdict[j] != 0)",
        ],
    ),
    (
        "models/timed/fischer.xta",
        &[
            "--set",
            "N=6",
            "--set",
            "WAIT=1",
            "--set",
            "WRITE=2",
            "--find",
            "state exists (i : name_t) exists (j : name_t) P(i).critical && P(j).critical && i != j",
        ],
    ),
    ("models/timed/philips.xta", &["--set", "DEN=17", "--find", "state wrong"]),
    (
        "models/timed/train_gate.xta",
        &[
            "--set",
            "N=4",
            "--set",
            "FAULTY=true",
            "--find",
            "state exists (i : train_t) exists (j : train_t) Train(i).crossing && Train(j).crossing && i != j",
        ],
    ),
];

const PUBLIC: &[Case] = &[
    ("academic/dining/dining3.mcrl2", &[]),
    ("academic/dining/dining8.mcrl2", &[]),
    ("academic/leader/leader.mcrl2", &[]),
    ("academic/swp/swp_with_tanenbaums_bug.mcrl2", &["--find", "action error"]),
    ("games/house_santa_claus/house_santa_claus.mcrl2", &[]),
    ("games/tictactoe/tictactoe.mcrl2", &[]),
    ("games/wolf_goat_cabbage/wolf_goat_cabbage.mcrl2", &[]),
    ("industrial/1394/1394-fin.mcrl2", &["--find", "action LDres"]),
    ("industrial/brp/brp.mcrl2", &["--unhide", "c10", "--find", "action c10"]),
    ("industrial/lift/lift3-init.mcrl2", &[]),
    ("industrial/lift/lift3-init.mcrl2", &["--find", "action protocol_error"]),
    ("project/wafer_stepper/wafer_stepper.mcrl2", &[]),
    ("probabilistic/sultan_of_persia/sultan_of_persia.mcrl2", &[]),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut public, mut binaries) = (None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.split_once('=') {
            _ if argument == "--public" => public = arguments.next().map(PathBuf::from),
            Some((name, path)) => binaries.push((name.to_owned(), path.to_owned())),
            None => {
                eprintln!("expected --public DIR or NAME=BINARY, found {argument}");
                return ExitCode::from(2);
            }
        }
    }
    let Some((_, newest)) = binaries.last().cloned() else {
        eprintln!("expected at least one NAME=BINARY");
        return ExitCode::from(2);
    };
    let bundled = BUNDLED.iter().map(|(model, flags)| ((*model).to_owned(), *model, *flags));
    let public = public.into_iter().flat_map(|folder| {
        PUBLIC.iter().map(move |(model, flags)| (folder.join(model).display().to_string(), *model, *flags))
    });
    let mut ratios: BTreeMap<(String, &str), Vec<f64>> = BTreeMap::new();
    print!("{:<70}{:>9}", "model", "shortest");
    for (name, _) in &binaries {
        for strategy in STRATEGIES {
            print!("{:>17}", format!("{strategy} {name}"));
        }
    }
    println!();
    for (path, name, flags) in bundled.chain(public) {
        let mut lengths: Vec<((String, &str), Vec<u64>)> = Vec::new();
        for (binary_name, binary) in &binaries {
            for strategy in STRATEGIES {
                let search = |seed: u64| length(binary, &path, flags, strategy, seed, SECONDS);
                let found = SEEDS.filter_map(search).collect();
                lengths.push(((binary_name.clone(), strategy), found));
            }
        }
        let breadth_first = length(&newest, &path, flags, "bfs", 0, SECONDS_OF_BFS);
        let seen = lengths.iter().flat_map(|(_, found)| found).copied().min();
        let Some(shortest) = breadth_first.or(seen) else {
            println!("{name} {}: nothing found", flags.join(" "));
            continue;
        };
        let sure = if breadth_first.is_some() { "" } else { "*" };
        print!("{:<70}{:>9}", short(&format!("{name} {}", flags.join(" "))), format!("{shortest}{sure}"));
        for (key, mut found) in lengths {
            found.sort_unstable();
            let median = found.get(found.len() / 2).copied();
            let ratio = median.map(|median| median as f64 / shortest.max(1) as f64);
            ratios.entry(key).or_default().extend(ratio);
            let count =
                if found.len() == SEEDS.count() { String::new() } else { format!(" ({})", found.len()) };
            print!("{:>17}", median.map_or("-".to_owned(), |median| format!("{median}{count}")));
        }
        println!();
    }
    println!();
    println!("median length over the shortest known one: over all models, median, geometric mean, largest");
    for ((name, strategy), mut ratios) in ratios {
        ratios.sort_by(f64::total_cmp);
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
        let (median, most) = (ratios.get(ratios.len() / 2), ratios.last());
        if let (Some(median), Some(most)) = (median, most) {
            println!("{name:<10}{strategy:<10}{:>4} models{median:>8.2}{mean:>8.2}{most:>8.2}", ratios.len());
        }
    }
    ExitCode::SUCCESS
}

/// Long names lose their end.
fn short(text: &str) -> String {
    match text.char_indices().nth(68) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The length of the witness that a search reports; `None` when it finds nothing in time.
fn length(binary: &str, model: &str, flags: &[&str], strategy: &str, seed: u64, time: &str) -> Option<u64> {
    let output = Command::new(binary)
        .args(["search", model])
        .args(flags)
        .args(["--strategy", strategy, "--seed", &seed.to_string(), "--max-time", time])
        .args(["--threads", "1", "--max-memory", "2GiB", "--format", "json"])
        .output()
        .map_err(|error| eprintln!("{binary}: {error}"))
        .ok()?;
    let report: Value = serde_json::from_slice(&output.stdout).ok()?;
    if let Some(error) = report["error"].as_str() {
        eprintln!("{model} with {strategy}: {error}");
    }
    report["witness"]["length"].as_u64()
}
