//! Compares concurrent processes with simple typed models of the same text, transition by
//! transition.

use std::collections::BTreeSet;

use crate::common::{Naive, build, compare, show};

/// The philosophers as two lists: the position of each philosopher in the round, and the owner of
/// each fork.
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

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Seat {
    Thinking,
    First { left: bool },
    Second { left: bool },
    Both,
    Returning,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct TossTable {
    seats: Vec<Seat>,
    forks: Vec<Option<usize>>,
}

fn toss_steps(n: usize, parity: bool, table: &TossTable) -> Vec<(String, TossTable)> {
    let mut steps = Vec::new();
    for p in 0..n {
        let (left, right) = (p, (p + 1) % n);
        let mut take = |want_left: bool, then: Seat| {
            let fork = if want_left { left } else { right };
            if table.forks[fork].is_none() {
                let mut next = table.clone();
                next.forks[fork] = Some(p);
                next.seats[p] = then;
                steps.push((format!("wait({},{})", p + 1, fork + 1), next));
            }
        };
        match table.seats[p] {
            Seat::First { left } => take(left, Seat::Second { left: !left }),
            Seat::Second { left } => take(left, Seat::Both),
            Seat::Thinking => {
                for coin in 0..2 {
                    let left = if parity { coin == (p + 1) % 2 } else { coin == 0 };
                    let mut next = table.clone();
                    next.seats[p] = Seat::First { left };
                    steps.push((format!("toss({},{coin})", p + 1), next));
                }
            }
            Seat::Both => {
                let mut next = table.clone();
                next.forks[left] = None;
                next.seats[p] = Seat::Returning;
                steps.push((format!("signal({},{})", p + 1, left + 1), next));
            }
            Seat::Returning => {
                let mut next = table.clone();
                next.forks[right] = None;
                next.seats[p] = Seat::Thinking;
                steps.push((format!("signal({},{})", p + 1, right + 1), next));
            }
        }
    }
    steps
}

#[test]
fn philosophers_who_toss() {
    for (name, parity) in [("philosophers-either", false), ("philosophers-parity", true)] {
        for n in 2usize..=5 {
            let naive = Naive {
                initial: TossTable { seats: vec![Seat::Thinking; n], forks: vec![None; n] },
                next: |table: &TossTable| toss_steps(n, parity, table),
                values: |table: &TossTable| {
                    let mut shown = show(table.seats.iter().map(|seat| match seat {
                        Seat::Thinking => "thinking",
                        Seat::First { left: true } => "wants-left",
                        Seat::First { left: false } => "wants-right",
                        Seat::Second { left: true } => "has-right",
                        Seat::Second { left: false } => "has-left",
                        Seat::Both => "has-both",
                        Seat::Returning => "returns-right",
                    }));
                    shown.extend(table.forks.iter().map(|fork| match fork {
                        None => "free".to_owned(),
                        Some(p) => format!("held-by-{}", p + 1),
                    }));
                    shown
                },
            };
            compare(&*build(name, &[("n", n as u64)]), &naive);
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Transaction {
    tm: &'static str,
    tm_prepared: BTreeSet<usize>,
    rm: Vec<&'static str>,
    /// `Prepared(i)` as `Some(i)`. The decision is separate.
    prepared: BTreeSet<usize>,
    commit: bool,
    abort: bool,
}

fn transaction_steps(n: usize, now: &Transaction) -> Vec<(String, Transaction)> {
    let mut steps = Vec::new();
    let mut step = |label: String, change: &dyn Fn(&mut Transaction)| {
        let mut next = now.clone();
        change(&mut next);
        steps.push((label, next));
    };
    if now.tm == "init" && now.tm_prepared.len() == n {
        step("TmCommit".to_owned(), &|next| (next.tm, next.commit) = ("committed", true));
    }
    if now.tm == "init" {
        step("TmAbort".to_owned(), &|next| (next.tm, next.abort) = ("aborted", true));
    }
    for i in 1..=n {
        if now.tm == "init" && now.prepared.contains(&i) {
            step(format!("TmRcvPrepared({i})"), &|next| {
                next.tm_prepared.insert(i);
            });
        }
        if now.rm[i - 1] == "working" {
            step(format!("RmPrepare({i})"), &|next| {
                next.rm[i - 1] = "prepared";
                next.prepared.insert(i);
            });
            step(format!("RmChooseToAbort({i})"), &|next| next.rm[i - 1] = "aborted");
        }
        if now.commit {
            step(format!("RmRcvCommit({i})"), &|next| next.rm[i - 1] = "committed");
        }
        if now.abort {
            step(format!("RmRcvAbort({i})"), &|next| next.rm[i - 1] = "aborted");
        }
    }
    steps
}

#[test]
fn two_phase_commit() {
    for n in [1, 2, 3, 5] {
        let naive = Naive {
            initial: Transaction {
                tm: "init",
                tm_prepared: BTreeSet::new(),
                rm: vec!["working"; n],
                prepared: BTreeSet::new(),
                commit: false,
                abort: false,
            },
            next: |now: &Transaction| transaction_steps(n, now),
            values: |now: &Transaction| {
                let set = |set: &BTreeSet<usize>| format!("{{{}}}", show(set).join(","));
                let mut values = vec![now.tm.to_owned(), set(&now.prepared), set(&now.tm_prepared)];
                values.extend(show(&now.rm));
                values
            },
        };
        compare(&*build("two-phase-commit", &[("n", n as u64)]), &naive);
    }
}

/// The bakery with shared arrays, and the remaining lines of each process.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shop {
    choosing: Vec<bool>,
    number: Vec<u32>,
    highest: Vec<u32>,
    line: Vec<&'static str>,
    remaining: Vec<Vec<usize>>,
}

fn shop_steps(n: usize, limit: u32, shop: &Shop) -> Vec<(String, Shop)> {
    let mut steps = Vec::new();
    for p in 0..n {
        let others: Vec<usize> = (0..n).filter(|&q| q != p).collect();
        let mut next = shop.clone();
        let name = p + 1;
        let label = match (shop.line[p], shop.remaining[p].first()) {
            ("idle", _) => {
                (next.choosing[p], next.line[p], next.remaining[p]) = (true, "reading", others);
                format!("enter({name})")
            }
            ("reading", Some(&q)) => {
                next.highest[p] = shop.highest[p].max(shop.number[q]);
                next.remaining[p].remove(0);
                format!("read({name},{})", q + 1)
            }
            ("reading", None) => {
                let ticket = if shop.highest[p] == limit { 1 } else { shop.highest[p] + 1 };
                (next.number[p], next.highest[p], next.choosing[p]) = (ticket, 0, false);
                (next.line[p], next.remaining[p]) = ("passing", others);
                format!("ticket({name},{ticket})")
            }
            ("passing", Some(&q)) => {
                let behind = shop.number[q] == 0
                    || shop.number[p] < shop.number[q]
                    || shop.number[p] == shop.number[q] && p < q;
                if shop.choosing[q] || !behind {
                    continue;
                }
                next.remaining[p].remove(0);
                format!("pass({name},{})", q + 1)
            }
            ("passing", None) => {
                next.line[p] = "critical";
                format!("critical({name})")
            }
            _ => {
                (next.line[p], next.number[p]) = ("idle", 0);
                format!("leave({name})")
            }
        };
        steps.push((label, next));
    }
    steps
}

#[test]
fn bakery() {
    for (n, limit) in [(2, 2), (2, 5), (3, 3), (4, 2)] {
        let naive = Naive {
            initial: Shop {
                choosing: vec![false; n],
                number: vec![0; n],
                highest: vec![0; n],
                line: vec!["idle"; n],
                remaining: vec![Vec::new(); n],
            },
            next: |shop: &Shop| shop_steps(n, limit, shop),
            values: |shop: &Shop| {
                let mut values = Vec::new();
                for p in 0..n {
                    values.push(shop.line[p].to_owned());
                    values.push(shop.remaining[p].first().map_or("none".to_owned(), |q| (q + 1).to_string()));
                    values.extend([shop.highest[p].to_string(), shop.number[p].to_string()]);
                }
                values
            },
        };
        compare(&*build("bakery", &[("n", n as u64), ("limit", u64::from(limit))]), &naive);
    }
}
