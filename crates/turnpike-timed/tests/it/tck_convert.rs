//! UPPAAL models written as `.tck` files have the same zone graphs, or are rejected with a reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use turnpike_model::{Model, Successors};
use turnpike_timed::explore::{Options, TimedModel};
use turnpike_timed::network::Network;
use turnpike_timed::query::Names;
use turnpike_timed::tck;
use turnpike_timed::uppaal::{self, Format};

/// States and transitions, unless there are too many.
fn size(network: Network, names: Names, limit: usize) -> Result<Option<(usize, usize)>, String> {
    let (model, _) = TimedModel::new("m", "", network, names, &Options::default())
        .map_err(|errors| errors[0].message.clone())?;
    let mut explorer = model.explorer();
    let (mut state, mut out) = (Vec::new(), Successors::new(model.info().width));
    explorer.initial(&mut state).map_err(|error| error.message)?;
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    seen.insert(state.clone());
    let mut open = vec![state];
    let mut transitions = 0;
    while let Some(state) = open.pop() {
        explorer.successors(&state, &mut out).map_err(|error| error.message)?;
        transitions += out.len();
        for (_, target) in out.iter() {
            if seen.insert(target.to_vec()) {
                open.push(target.to_vec());
            }
        }
        if seen.len() > limit {
            return Ok(None);
        }
    }
    Ok(Some((seen.len(), transitions)))
}

fn convert(text: &str) -> Result<String, Vec<String>> {
    let (network, ..) = uppaal::read(text, Format::Xta, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    tck::write(&network).map_err(|errors| errors.into_iter().map(|error| error.message).collect())
}

/// Converts, and compares the graphs of both.
fn check(text: &str) -> String {
    let (network, names, _) =
        uppaal::read(text, Format::Xta, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let written = tck::write(&network).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let (again, _) = tck::read(&written).unwrap_or_else(|errors| panic!("{errors:#?}\n{written}"));
    let other = Names::of(&again);
    let expected = size(network, names, 10_000).expect("explored");
    assert!(expected.is_some_and(|(states, _)| states > 1), "{expected:?}");
    assert_eq!(size(again, other, 10_000).expect("explored"), expected, "{written}");
    written
}

#[test]
fn channels_become_synchronisations() {
    let text = check(
        "chan go; broadcast chan all; clock x; int[0,3] n;
         process A() { state s, t; init s; trans s -> t { sync go!; assign n = 2; }, t -> s { guard x > 1; sync all!; assign x = 0; }; }
         process B() { state s, t; init s; trans s -> t { sync go?; }, t -> s { sync all?; assign n = n - 1; }, t -> t { sync go!; }; }
         process C() { state s; init s; trans s -> s { sync go?; }, s -> s { sync all?; assign n = 0; }; }
         system A, B, C;",
    );
    for line in [
        "event:go_out",
        "event:go_in",
        "sync:A@go_out:B@go_in",
        "sync:A@go_out:C@go_in",
        "sync:B@go_out:C@go_in",
        "sync:A@all:B@all?:C@all?",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn channels_without_a_direction_become_vectors() {
    let text = check(
        "typedef int[1,2] id; chan go[id], all, own; clock x;
         process A(const id i) { state s, t; init s; trans s -> t { guard x > 1; sync go[i]; }, t -> s { sync all; assign x = 0; }, s -> s { }; }
         process B() { state s; init s; trans s -> s { select i : id; sync go[i]; }, s -> s { sync own; }, s -> s { sync all; }; }
         system A, B;
         IO A(1) { go[1], all } IO A(2) { go[2], all } IO B { go, own, all }",
    );
    let syncs: Vec<&str> = text.lines().filter(|line| line.starts_with("sync:")).collect();
    assert_eq!(
        syncs,
        ["sync:A_1@go_1:B@go_1", "sync:A_2@go_2:B@go_2", "sync:A_1@all:A_2@all:B@all"],
        "{text}"
    );
    for line in ["event:own", "event:tau", "edge:A_1:s:s:tau", "edge:B:s:s:own"] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn what_the_format_lacks_is_expressed_otherwise() {
    let text = check(
        "const int N = 3; int[0,9] a[N] = {1, 2, 3}; int[0,5] b[N]; int[0,1] m[2][N]; int[0,9] n; clock x, y[N]; const int table[N] = {3, 1, 2};
         chan c[N];
         int twice(int v) { return 2 * v; }
         bool any(int v) { int i; for (i = 0; i < N; i++) { if (a[i] == v) return true; } return false; }
         void shift() { int i; int old = b[0]; for (i = 0; i < N - 1; i++) { b[i] = b[i + 1]; } b[N - 1] = old; }
         int largest() { int i = 0; int most = 0; while (i < N && b[i] >= 0) { if (b[i] > most) most = b[i]; i++; } return most; }
         process P(int[0,2] id) { int[0,4] k;
           state s { x <= 5 }, t, u; commit u; init s;
           trans s -> t { guard (n == 0 || any(n)) && x >= 1; sync c[id]!; assign a[k % N] = twice(k), b[id] = table[id], y[id] = 0; },
                 t -> u { guard forall (i : int[0,2]) b[i] < 5; assign shift(), m[k % 2][id] = 1 - m[k % 2][id], x = 0; },
                 u -> s { guard exists (i : int[0,2]) b[i] != i; assign n = largest() % 4, k = (k + 1) % 3; }; }
         process Q() { state s; init s; trans s -> s { select i : int[0,2]; sync c[i]?; assign n = n > 3 ? 0 : n; }, s -> s { sync c[n % 3]?; assign n = 0; }; }
         P0 = P(0); P1 = P(2);
         system P0, P1, Q;",
    );
    assert!(text.contains("while"), "{text}");
    assert!(!text.contains("||"), "{text}");
}

#[test]
fn a_guard_whose_bound_depends_on_variables_becomes_two_edges() {
    let text = check(
        "clock x; int[0,1] n;
         process P() { state s { x <= 4 }, t; init s; trans s -> t { guard n == 1 || x >= 3; assign n = 1 - n; }, t -> s { assign x = 0; }; }
         system P;",
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("edge:P:s:t")).count(), 2, "{text}");
}

#[test]
fn names_become_legal() {
    let text = check(
        "int[0,3] end; clock process1, nop;
         process T(int[0,1] i) { state local1, sync1; init local1; trans local1 -> sync1 { guard nop > 1; assign end = i; }, sync1 -> local1 { assign nop = 0; }; }
         system T;",
    );
    for line in ["clock:1:nop_", "int:1:0:3:0:end_", "process:T_0", "process:T_1"] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    let model = |declarations: &str, guard: &str, update: &str| {
        format!(
            "{declarations} clock x; int[-9,9] n; int[0,9] m;
             process P() {{ state s, t; init s; trans s -> t {{ {guard} {update} }}; }}
             process Q() {{ state s; init s; trans s -> s {{ guard n > 0; sync c?; }}, s -> s {{ assign n = -n, m = 9 - m; }}; }} system P, Q;"
        )
    };
    let cases: [(&str, &str, &str, &str); 7] = [
        ("urgent chan c;", "sync c!;", "", "the urgent channel `c`"),
        ("broadcast chan c;", "sync c!;", "", "the guard of a receiver on the broadcast channel `c`"),
        ("chan c;", "guard (m & 2) == 0;", "", "the operator `&`"),
        ("chan c;", "guard (n >> 1) == 0;", "", "a shift of a number that may be negative"),
        ("chan c;", "guard (1 << m) == 4;", "", "a shift by a number that is not constant"),
        ("chan c; meta int[0,3] k;", "", "assign k = 1;", "the `meta` variable `k`"),
        (
            "chan c; int[0,3] d[2] = {1, 2};",
            "guard d[m] == 1;",
            "",
            "an index that may leave its range, of cells that do not form an array,",
        ),
    ];
    for (declarations, guard, update, reason) in cases {
        let messages = convert(&model(declarations, guard, update)).expect_err(reason);
        assert_eq!(
            messages[0],
            format!("{reason} cannot be written in this format"),
            "{declarations}{guard}"
        );
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "says what was tested, or that nothing was")]
fn public_uppaal_models_are_converted_or_refused() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let mut paths = Vec::new();
    files(&corpus.path("models/timed"), &mut paths);
    let (mut written, mut compared, mut reasons) = (0, 0, BTreeMap::<String, usize>::new());
    for path in paths {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("xml") => Format::Xml,
            Some("xta" | "ta") => Format::Xta,
            _ => continue,
        };
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Ok((network, names, _)) = uppaal::read(&text, format, &[]) else { continue };
        match tck::write(&network) {
            Err(errors) => {
                for error in errors.iter().take(1) {
                    *reasons.entry(error.message.clone()).or_default() += 1;
                }
            }
            Ok(text) => {
                let (again, _) = tck::read(&text)
                    .unwrap_or_else(|errors| panic!("{}: {errors:#?}\n{text}", path.display()));
                written += 1;
                let other = Names::of(&again);
                if let Ok(Some(expected)) = size(network, names, 2_000) {
                    assert_eq!(size(again, other, 4_000), Ok(Some(expected)), "{}\n{text}", path.display());
                    compared += 1;
                }
            }
        }
    }
    eprintln!("{written} written, {compared} compared, refused: {reasons:#?}");
    assert!(written > 20 && compared > 10, "{written} {compared}");
}
