//! Small automata with known loops.

use super::culprits;
use crate::tck;

/// The culprits as `process: path`, where all loops count, or those through locations with a label.
fn check(text: &str, label: Option<&str>) -> Vec<String> {
    let (network, _) = tck::read(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let accepting = |process: crate::network::ProcessId, location: crate::network::LocationId| {
        let location = &network.processes[process.0 as usize].locations[location.0 as usize];
        label.is_none_or(|label| location.labels.iter().any(|known| known == label))
    };
    culprits(&network, &accepting)
        .iter()
        .map(|culprit| {
            assert!(culprit.warning(&network).span.is_some());
            format!("{}: {}", network.processes[culprit.process.0 as usize].name, culprit.path(&network))
        })
        .collect()
}

/// One process `P` with locations `a`, `b`, `c`, of which `c` is labelled.
fn process(edges: &[&str]) -> String {
    let mut text = "system:s\nclock:1:x\nclock:1:y\nint:1:0:5:0:n\nevent:e\nprocess:P\nlocation:P:a{initial:}\nlocation:P:b\n\
                    location:P:c{labels:acc}\n"
        .to_owned();
    for edge in edges {
        let (ends, attributes) = edge.split_once(' ').unwrap_or((edge, ""));
        let (source, target) = ends.split_once('>').expect("SOURCE>TARGET");
        text.push_str(&format!("edge:P:{source}:{target}:e{{{attributes}}}\n"));
    }
    text
}

#[test]
fn a_self_loop_without_a_lower_bound_is_the_culprit() {
    // Like the left automaton of the paper's first figure: one loop may be taken ever faster, the
    // other needs a unit each time.
    let zeno = process(&["a>a provided:x<1", "a>c do:x=0", "c>c provided:x>=1:do:x=0"]);
    assert_eq!(check(&zeno, None), ["P: a -> a"]);
    assert_eq!(check(&zeno, Some("acc")), [""; 0]);
    // Like the right one: two loops share a clock, and both test it.
    let good = process(&["a>b do:x=0", "b>c provided:x>=1", "c>a", "b>a provided:x>=1:do:y=0"]);
    assert_eq!(check(&good, None), [""; 0]);
    // It would not be without one of the tests.
    let missing = process(&["a>b do:x=0", "b>c provided:x>=1", "c>a", "b>a do:y=0"]);
    assert_eq!(check(&missing, None), ["P: a -> b -> a"]);
    assert_eq!(check(&missing, Some("acc")), [""; 0]);
    let missing = process(&["a>b do:x=0", "b>c", "c>a", "b>a provided:x>=1:do:y=0"]);
    assert_eq!(check(&missing, None), ["P: a -> b -> c -> a"]);
    assert_eq!(check(&missing, Some("acc")), ["P: c -> a -> b -> c"]);
}

#[test]
fn a_clock_must_be_both_assigned_and_tested_late_enough() {
    let cases: [(&[&str], &[&str]); 14] = [
        (&["a>a do:x=0:provided:x>=1"], &[]),
        (&["a>a do:x=0:provided:x>0"], &["P: a -> a"]),
        (&["a>a do:x=0:provided:x==1"], &[]),
        (&["a>a do:x=0:provided:x<=1"], &["P: a -> a"]),
        (&["a>a provided:x>=1"], &["P: a -> a"]),
        (&["a>a do:x=0:provided:y>=1"], &["P: a -> a"]),
        (&["a>b do:x=0", "b>a provided:3<=x"], &[]),
        // The clock starts with the value that is tested, or with an unknown one.
        (&["a>a do:x=1:provided:x>=1"], &["P: a -> a"]),
        (&["a>a do:x=1:provided:x>=2"], &[]),
        (&["a>a do:x=n:provided:x>=5"], &["P: a -> a"]),
        (&["a>a do:x=n:provided:x>=6"], &[]),
        (&["a>a do:x=0:provided:x>=1", "a>b do:x=y"], &["P: a -> a"]),
        (&["a>a do:if n then x=0 end:provided:x>=1"], &["P: a -> a"]),
        (&["a>a do:x=0:provided:x>=n"], &["P: a -> a"]),
    ];
    for (edges, expected) in cases {
        assert_eq!(check(&process(edges), None), expected, "{edges:?}");
    }
}

#[test]
fn one_loop_needs_one_clock_but_different_loops_may_use_different_ones() {
    // Together the edges reset and test both clocks; alone, each loop resets the one and tests the
    // other.
    let text = process(&["a>b do:x=0", "b>a provided:y>=1", "a>c do:y=0", "c>a provided:x>=1"]);
    assert_eq!(check(&text, None), ["P: a -> c -> a"]);
    let text = process(&["a>b do:x=0", "b>a provided:x>=1", "a>c do:y=0", "c>a provided:y>=1"]);
    assert_eq!(check(&text, None), [""; 0]);
}

#[test]
fn a_partner_that_spends_time_makes_a_loop_harmless() {
    let text = |sync: &str| {
        format!(
            "system:s\nclock:1:x\nevent:e\nevent:f\nprocess:P\nlocation:P:a{{initial:}}\nedge:P:a:a:e\n\
             process:Q\nlocation:Q:b{{initial:}}\nedge:Q:b:b:f{{provided:x>=1:do:x=0}}\n{sync}"
        )
    };
    assert_eq!(check(&text(""), None), ["P: a -> a"]);
    assert_eq!(check(&text("sync:P@e:Q@f\n"), None), [""; 0]);
    // A weak partner may be absent; with two alternatives both must spend time.
    let unguarded = text("sync:P@e:Q@f?\n")
        .replace("provided:x>=1:", "")
        .replace("location:Q:b{initial:", "location:Q:b{initial::invariant:x>=1");
    assert_eq!(check(&unguarded, None), ["P: a -> a"]);
    let three = format!(
        "{}process:R\nlocation:R:c{{initial:}}\nedge:R:c:c:e\nsync:P@e:Q@f\nsync:P@e:R@e\n",
        text("")
    );
    assert_eq!(check(&three, None), ["P: a -> a", "R: c -> c"]);
}

#[test]
fn many_clocks_end_in_an_answer() {
    let text = |test: &dyn Fn(usize) -> usize| {
        let mut text =
            "system:s\nclock:40:x\nevent:e\nprocess:P\nlocation:P:a{initial:}\nlocation:P:b\n".to_owned();
        for clock in 0..40 {
            text.push_str(&format!("edge:P:a:a:e{{provided:x[{}]>=1:do:x[{clock}]=0}}\n", test(clock)));
            text.push_str(&format!(
                "edge:P:a:b:e{{do:x[{clock}]=0}}\nedge:P:b:a:e{{provided:x[{clock}]>=1}}\n"
            ));
        }
        text
    };
    // The loop over b may reset another clock than it tests.
    assert_eq!(check(&text(&|clock| clock), None), ["P: a -> b -> a"]);
    assert_eq!(check(&text(&|clock| (clock + 1) % 40), None).len(), 1);
    let loops =
        text(&|clock| clock).lines().filter(|line| !line.contains(":b")).collect::<Vec<_>>().join("\n");
    assert_eq!(check(&loops, None), [""; 0]);
}
