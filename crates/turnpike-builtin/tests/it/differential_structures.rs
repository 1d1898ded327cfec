//! Compares structures and puzzles with simple typed models of the same text, transition by
//! transition.

use crate::common::{Naive, build, compare, show};

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

/// The buffers as separate processes, with a location for each position in the text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Network {
    /// The time of each buffer, and whether it has offered since its last message.
    buffers: [(u32, bool); 3],
    merge: Merge,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Merge {
    Open { now: u32, todo: u32 },
    Offered { now: u32, todo: u32, offer: [u32; 3] },
    Stopped { now: u32 },
}

fn network_steps(network: &Network) -> Vec<(String, Network)> {
    const PROPERTIES: [(u32, u32); 3] = [(5, 5), (2, 10), (10, 2)];
    let mut steps = Vec::new();
    match network.merge {
        Merge::Open { now, todo: 0 } => {
            let merge = Merge::Stopped { now };
            steps.push((format!("report({now})"), Network { merge, ..network.clone() }));
        }
        Merge::Open { now, todo } => {
            // Each buffer can offer in both locations, but only its own time.
            let offer = network.buffers.map(|(time, _)| time);
            let next = Network {
                buffers: network.buffers.map(|(time, _)| (time, true)),
                merge: Merge::Offered { now, todo, offer },
            };
            steps.push((format!("offer({},{},{})", offer[0], offer[1], offer[2]), next));
        }
        Merge::Offered { now, todo, offer } => {
            let exists_smaller = offer.iter().any(|&time| time <= now);
            let minimum = *offer.iter().min().expect("three offers");
            for (buffer, (pt, dl)) in PROPERTIES.into_iter().enumerate() {
                let (time, offered) = network.buffers[buffer];
                let (receives, arrival) =
                    if exists_smaller { (time <= now, now + dl) } else { (time == minimum, time + dl) };
                if offered && receives {
                    let mut next = network.clone();
                    next.buffers[buffer] = (arrival + pt, false);
                    next.merge = Merge::Open { now: arrival + 5, todo: todo - 1 };
                    steps.push((format!("transfer({time},{dl},{arrival})"), next));
                }
            }
        }
        Merge::Stopped { .. } => {}
    }
    steps
}

#[test]
fn buffers() {
    for messages in [0, 1, 2, 7, 10] {
        let naive = Naive {
            initial: Network { buffers: [(0, false); 3], merge: Merge::Open { now: 0, todo: messages } },
            next: network_steps,
            values: |network: &Network| {
                let (now, todo, phase) = match network.merge {
                    Merge::Open { now, todo } => (now, todo, "offer"),
                    Merge::Offered { now, todo, .. } => (now, todo, "transfer"),
                    Merge::Stopped { now } => (now, 0, "done"),
                };
                let mut values = show(network.buffers.map(|(time, _)| time));
                values.extend([now.to_string(), todo.to_string(), phase.to_owned()]);
                values
            },
        };
        compare(&*build("buffers", &[("messages", u64::from(messages))]), &naive);
    }
}

#[test]
fn sliding_puzzle() {
    type Grid = Vec<Vec<u32>>;
    for (width, height) in [(2, 2), (3, 2), (2, 4)] {
        let solved: Grid = (0..height)
            .map(|row| (0..width).map(|column| (row * width + column + 1) % (width * height)).collect())
            .collect();
        let naive = Naive {
            initial: solved.clone(),
            next: |grid: &Grid| {
                let mut steps = Vec::new();
                if *grid == solved {
                    steps.push(("solved".to_owned(), grid.clone()));
                }
                for (action, down, right) in [("down", -1, 0), ("up", 1, 0), ("right", 0, -1), ("left", 0, 1)]
                {
                    for row in 0..height as i32 {
                        for column in 0..width as i32 {
                            let inside = (0..height as i32).contains(&(row + down))
                                && (0..width as i32).contains(&(column + right));
                            if inside && grid[row as usize][column as usize] == 0 {
                                let (from_row, from_column) =
                                    ((row + down) as usize, (column + right) as usize);
                                let tile = grid[from_row][from_column];
                                let mut next = grid.clone();
                                next[row as usize][column as usize] = tile;
                                next[from_row][from_column] = 0;
                                steps.push((format!("{action}({tile})"), next));
                            }
                        }
                    }
                }
                steps
            },
            values: |grid: &Grid| {
                let tiles = grid.iter().flatten();
                tiles.map(|&tile| if tile == 0 { "gap".to_owned() } else { tile.to_string() }).collect()
            },
        };
        let settings = [("width", u64::from(width)), ("height", u64::from(height)), ("instance", 0)];
        compare(&*build("sliding-puzzle", &settings), &naive);
    }
}
