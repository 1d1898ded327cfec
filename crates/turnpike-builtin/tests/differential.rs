//! Every model against a plain typed one that was written from the same text, transition by transition.

mod common;

use common::{Naive, build, compare};

fn show<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

#[test]
fn diamond() {
    for n in [1i64, 2, 5, 9] {
        let naive = Naive {
            initial: (0i64, 0i64),
            next: |&(i, j): &(i64, i64)| {
                let mut steps = Vec::new();
                if i + j < n {
                    steps.push(("tau".to_owned(), (i + 1, j)));
                    steps.push(("tau".to_owned(), (i, j + 1)));
                }
                if i + j >= n && i + j < 2 * n + 1 {
                    if i + j == n {
                        steps.push((format!("report({j})"), (i, j)));
                    }
                    if i + j >= n && j < n {
                        steps.push(("tau".to_owned(), (i, j + 1)));
                    }
                    if i + j >= n && i < n {
                        steps.push(("tau".to_owned(), (i + 1, j)));
                    }
                }
                steps
            },
            values: |&(i, j): &(i64, i64)| show([i, j]),
        };
        compare(&*build("diamond", &[("n", n as u64)]), &naive);
    }
}

/// Process terms of the back-loop specification.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Term {
    P(i64),
    Q(i64, i64),
    Delta,
}

fn backloop_steps(limit: i64, term: &Term) -> Vec<(String, Term)> {
    let tau = |target: Term| ("tau".to_owned(), target);
    let mut steps = Vec::new();
    match *term {
        Term::P(n) => {
            if n < limit {
                steps.push(tau(Term::P(n + 1)));
            }
            if n == limit {
                steps.push(tau(Term::Delta));
            }
            if n > 0 && n <= limit {
                // A process call without an action before it contributes its own summands.
                steps.extend(backloop_steps(limit, &Term::Q(n - 1, n - 1)));
            }
            if n == 0 {
                steps.push(tau(Term::P(n)));
            }
        }
        Term::Q(n, m) => {
            if n == 0 {
                steps.push(tau(Term::P(0)));
            }
            if n >= 1 {
                steps.push(tau(Term::Q(n - 1, m)));
            }
        }
        Term::Delta => {}
    }
    steps
}

#[test]
fn backloops() {
    for n in [1, 2, 3, 9, 14] {
        let naive = Naive {
            initial: Term::P(0),
            next: |term: &Term| backloop_steps(n, term),
            values: |term: &Term| match *term {
                Term::P(n) => vec!["P".to_owned(), n.to_string(), "0".to_owned()],
                Term::Q(n, m) => vec!["Q".to_owned(), n.to_string(), m.to_string()],
                Term::Delta => show(["end", "0", "0"]),
            },
        };
        let states = compare(&*build("backloops", &[("n", n as u64)]), &naive);
        if n == 9 {
            assert_eq!(states, 47);
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Component {
    Start,
    Inside(u64, u64),
    Done(u64),
}

#[test]
fn scc() {
    for (number, size) in [(5, 5), (1, 1), (2, 7)] {
        let naive = Naive {
            initial: Component::Start,
            next: |state: &Component| match *state {
                Component::Start => {
                    (1..=number).map(|id| (format!("ini({id})"), Component::Inside(id, 1))).collect()
                }
                Component::Inside(id, pos) => {
                    let mut steps = Vec::new();
                    for new_pos in 1..=size {
                        if new_pos != pos {
                            steps.push((format!("scc({id})"), Component::Inside(id, new_pos)));
                        }
                    }
                    if pos == size {
                        steps.push((format!("report({id})"), Component::Done(id)));
                    }
                    steps
                }
                Component::Done(_) => Vec::new(),
            },
            values: |state: &Component| match *state {
                Component::Start => show(["none", "none"]),
                Component::Inside(id, pos) => show([id, pos]),
                Component::Done(id) => vec![id.to_string(), "left".to_owned()],
            },
        };
        compare(&*build("scc", &[("number", number), ("size", size)]), &naive);
    }
}

/// The philosophers as two lists: how far everyone is in the round, and who holds each fork.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Table {
    steps: Vec<usize>,
    forks: Vec<Option<usize>>,
}

#[test]
fn philosophers() {
    for n in [2usize, 3, 5, 7] {
        let naive = Naive {
            initial: Table { steps: vec![0; n], forks: vec![None; n] },
            next: |table: &Table| {
                let mut all = Vec::new();
                for p in 0..n {
                    let right = (p + 1) % n;
                    let mut next = table.clone();
                    next.steps[p] = (table.steps[p] + 1) % 5;
                    let (fork, action) = match table.steps[p] {
                        0 => (Some(p), "lock"),
                        1 => (Some(right), "lock"),
                        2 => (None, "eat"),
                        3 => (Some(p), "free"),
                        _ => (Some(right), "free"),
                    };
                    match (fork, action) {
                        (Some(f), "lock") => {
                            if table.forks[f].is_some() {
                                continue;
                            }
                            next.forks[f] = Some(p);
                        }
                        (Some(f), _) => {
                            assert_eq!(table.forks[f], Some(p));
                            next.forks[f] = None;
                        }
                        (None, _) => {}
                    }
                    let label = match fork {
                        Some(f) => format!("{action}({},{})", p + 1, f + 1),
                        None => format!("eat({})", p + 1),
                    };
                    all.push((label, next));
                }
                all
            },
            values: |table: &Table| {
                let names = ["thinking", "has-left", "has-both", "has-eaten", "has-right"];
                let mut shown: Vec<String> = table.steps.iter().map(|&step| names[step].to_owned()).collect();
                shown.extend(table.forks.iter().map(|fork| match fork {
                    None => "free".to_owned(),
                    Some(p) => format!("held-by-{}", p + 1),
                }));
                shown
            },
        };
        compare(&*build("philosophers", &[("n", n as u64)]), &naive);
    }
}
