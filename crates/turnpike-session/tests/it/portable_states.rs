//! States that an explorer encodes can be decoded by an explorer of another copy of the model.
//!
//! The copies have explored different parts of the model, as in two processes, so the ids of
//! interned values and zones differ.

use std::path::PathBuf;

use turnpike_model::{Explorer, LabelId, Model, Successors};
use turnpike_session::{
    Location, OutOfRange, Purpose, Reading, Session, Source, TimedReading, ZoneExtrapolation,
};

/// The number of random walks of each model, and their length.
const WALKS: u64 = 4;
const STEPS: usize = 60;
/// The steps of the copy before it receives states.
const WARMING: usize = 150;

/// All kinds of data in one state: lists, sets and bags, complements, function updates, lambdas
/// with captured variables, large numbers, fractions, and structures.
const DATA: &str = "
sort Tree = struct leaf(value: Nat) | node(left: Tree, right: Tree);
map twice: Tree -> Tree;
    grown: (Nat -> Nat) # Nat -> (Nat -> Nat);
var t: Tree; f: Nat -> Nat; n: Nat;
eqn twice(t) = node(t, t);
    grown(f, n) = lambda m: Nat. f(m) + n;
act push, pop, add, drop, set, grow, half, double, flip, plant, cut, look: Nat;
proc P(l: List(Nat), s: Set(Nat), b: FBag(Nat), f: Nat -> Nat, big: Nat, less: Int, r: Real, t: Tree, q: List(FSet(Pos))) =
    sum n: Nat. (n < 3) -> (
        (#l < 4) -> push(n) . P(l = n |> l)
      + (l != []) -> pop(n) . P(l = tail(l))
      + add(n) . P(s = s + {n}, b = if(count(n, b) < 3, b + {n: 1}, b))
      + drop(n) . P(s = s - {n}, b = b - {n: 1})
      + flip(n) . P(s = !s)
      + set(n) . P(f = f[n -> (f(n) + n) mod 5])
      + (f(n) < 40) -> grow(n) . P(f = grown(f, n + 1))
      + (big < exp(2, 200)) -> double(n) . P(big = big * big + n + 1, less = less * 3 - n)
      + half(n) . P(r = if(r > 1 / 1000, r / (n + 2), 7 / 3), less = -5000000000 * n)
      + (value(leftmost(t)) < 4) -> plant(n) . P(t = if(n == 0, twice(t), node(leaf(value(leftmost(t)) + 1), t)))
      + cut(n) . P(t = leaf(n), q = if(#q < 3, {n + 1, n + 7} |> q, []))
      + (n in s || count(n, b) == 1 || less == n || r == n || (q != [] && n + 1 in head(q))) -> look(n) . P()
    );
map leftmost: Tree -> Tree;
var n: Nat; t, u: Tree;
eqn leftmost(leaf(n)) = leaf(n);
    leftmost(node(t, u)) = leftmost(t);
init P([], {}, {:}, lambda n: Nat. n, 1, -1, 1 / 3, leaf(0), []);
";

/// A fixed pseudo-random sequence.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

fn open(location: &str, reading: &Reading) -> Session {
    let source = Source::Model { location: Location::from(location), reading: reading.clone() };
    Session::open(&source).unwrap_or_else(|problem| panic!("{location}: {problem:?}"))
}

fn encode(explorer: &mut dyn Explorer, state: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    explorer.encode(state, &mut bytes);
    bytes
}

fn decode(explorer: &mut dyn Explorer, bytes: &[u8]) -> Option<Vec<u32>> {
    let mut state = Vec::new();
    let portable = explorer.portable_states().expect("states can be sent");
    portable.decode(bytes, &mut state).map(|()| state)
}

/// All properties of a state that an explorer computes, in a form that is the same for all copies.
#[derive(Debug, PartialEq)]
struct Account {
    hash: u64,
    bytes: Vec<u8>,
    values: Vec<String>,
    deadlock: bool,
    /// The labels, and the hashes and bytes of the targets; or the error.
    steps: Result<Vec<(String, u64, Vec<u8>)>, String>,
}

fn account(explorer: &mut dyn Explorer, state: &[u32]) -> Account {
    let mut values = Vec::new();
    explorer.state_values(state, &mut values);
    let mut out = Successors::new(state.len());
    let steps = explorer.successors(state, &mut out).map_err(|error| error.message).map(|()| {
        let step = |(label, target): (LabelId, &[u32])| {
            (explorer.label(label).text, explorer.content_hash(target), encode(explorer, target))
        };
        out.iter().map(step).collect()
    });
    let deadlock = steps.is_ok() && explorer.is_deadlock(state, &out);
    Account { hash: explorer.content_hash(state), bytes: encode(explorer, state), values, deadlock, steps }
}

/// Calls `visit` for all states of a random walk, until there is no successor.
fn walk(
    explorer: &mut dyn Explorer,
    seed: u64,
    steps: usize,
    mut visit: impl FnMut(&mut dyn Explorer, &[u32]),
) {
    let mut draws = Draws(seed);
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let mut out = Successors::new(state.len());
    for _ in 0..steps {
        visit(explorer, &state);
        if explorer.successors(&state, &mut out).is_err() || out.is_empty() {
            return;
        }
        state = out.state(draws.below(out.len())).to_vec();
    }
}

/// Sends the states of random walks from one copy of a model to the other. Returns their number,
/// and whether the words of some states differ there.
fn check_journeys(name: &str, here: &dyn Model, there: &dyn Model) -> (usize, bool) {
    let mut away = there.explorer();
    walk(&mut *away, 77, WARMING, |_, _| ());
    let (mut sent, mut renamed) = (0, false);
    for seed in 0..WALKS {
        walk(&mut *here.explorer(), seed, STEPS, |explorer, state| {
            let bytes = encode(explorer, state);
            assert_eq!(decode(explorer, &bytes).as_deref(), Some(state), "{name}: the same words at home");
            let arrived =
                decode(&mut *away, &bytes).unwrap_or_else(|| panic!("{name}: {bytes:?} is refused"));
            assert_eq!(account(&mut *away, &arrived), account(explorer, state), "{name}");
            sent += 1;
            renamed |= arrived != state;
            // Another explorer of that copy knows the states as well.
            if sent % 16 == 0 {
                assert_eq!(account(&mut *there.explorer(), &arrived), account(explorer, state), "{name}");
            }
        });
    }
    (sent, renamed)
}

fn check(location: &str, reading: &Reading, purpose: &Purpose) -> (usize, bool) {
    let prepare = || open(location, reading).prepare(purpose).expect("can be explored").model;
    check_journeys(location, &*prepare(), &*prepare())
}

fn with_settings(settings: &[&str]) -> Reading {
    Reading { settings: settings.iter().map(|&setting| setting.to_owned()).collect(), ..Reading::default() }
}

fn bundled(path: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(path).display().to_string()
}

#[test]
fn states_of_built_in_models() {
    for entry in turnpike_builtin::catalogue() {
        let (sent, _) = check(&format!("builtin:{}", entry.name), &Reading::default(), &Purpose::default());
        assert!(sent > 4, "{}: {sent} states", entry.name);
    }
}

#[test]
fn states_of_explicit_systems() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("system.aut");
    std::fs::write(&path, "des (2,6,4)\n(2,\"a\",0)\n(0,b(1),3)\n(0,i,1)\n(1,tau,2)\n(3,c,2)\n(3,c,3)\n")
        .expect("a file");
    let (sent, _) = check(&path.display().to_string(), &Reading::default(), &Purpose::default());
    assert_eq!(sent, WALKS as usize * STEPS);
}

#[test]
fn states_of_specifications() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data.mcrl2");
    std::fs::write(&data, DATA).expect("a file");
    let (sent, renamed) = check(&data.display().to_string(), &Reading::default(), &Purpose::default());
    assert!(sent == WALKS as usize * STEPS && renamed, "{sent} states, other words: {renamed}");
    for file in
        ["abp.mcrl2", "brp.mcrl2", "conference.mcrl2", "linklayer.mcrl2", "othello.mcrl2", "swp.mcrl2"]
    {
        let (sent, _) = check(&bundled(file), &Reading::default(), &Purpose::default());
        assert!(sent > 20, "{file}: {sent} states");
    }
}

#[test]
fn states_of_timed_automata() {
    let mut renamed = 0;
    let kept = |extrapolation, delay_first| Reading {
        timed_automata: TimedReading {
            extrapolation,
            delay_first,
            out_of_range: OutOfRange::default(),
            ..TimedReading::default()
        },
        ..Reading::default()
    };
    let deadlock = Purpose { deadlock: true, ..Purpose::default() };
    let exact = Purpose { exact: true, ..Purpose::default() };
    for file in
        ["bang_olufsen.xta", "csma_cd.xta", "fddi.xta", "fischer.xta", "philips.xta", "train_gate.xta"]
    {
        let file = bundled(&format!("timed/{file}"));
        for (reading, purpose) in [
            (Reading::default(), &Purpose::default()),
            (Reading::default(), &deadlock),
            (Reading::default(), &exact),
            (kept(Some(ZoneExtrapolation::M), false), &Purpose::default()),
            (kept(None, true), &Purpose::default()),
        ] {
            let (sent, other) = check(&file, &reading, purpose);
            assert!(sent > 4, "{file}: {sent} states");
            renamed += usize::from(other);
        }
    }
    assert!(renamed > 10, "zones had other ids in {renamed} of 30 models");
}

#[test]
fn states_of_runs_of_a_formula() {
    let runs = |text: &str| Purpose { runs: Some(text.to_owned()), cycles: true, ..Purpose::default() };
    for (file, formula) in [
        ("fischer.xta", "not (P(1).writing --> P(1).critical)"),
        ("train_gate.xta", "E[] not Train(0).crossing"),
    ] {
        let reading = with_settings(&["N=3"]);
        let (sent, _) = check(&bundled(&format!("timed/{file}")), &reading, &runs(formula));
        assert!(sent > 4, "{file}: {sent} states");
    }
}

/// Truncated states, or those with additional bytes, are not states of another model by accident.
#[test]
fn truncated_bytes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data.mcrl2");
    std::fs::write(&data, DATA).expect("a file");
    for location in
        ["builtin:philosophers".to_owned(), data.display().to_string(), bundled("timed/fischer.xta")]
    {
        let model = open(&location, &Reading::default()).prepare(&Purpose::default()).expect("a model").model;
        walk(&mut *model.explorer(), 5, 12, |explorer, state| {
            let mut bytes = encode(explorer, state);
            for length in 1..bytes.len() {
                let cut = decode(explorer, &bytes[..length]);
                assert!(cut.is_none_or(|other| other != state), "{location}: {length} bytes are enough");
            }
            bytes.push(0);
            assert_eq!(decode(explorer, &bytes), None, "{location}");
        });
    }
}
