//! All consistent graphs of a program by the axioms of RC11, literally: tries every reads-from and
//! every modification order. Shares no code with the scheduler.

#![allow(clippy::needless_range_loop, reason = "relations are matrices")]

use std::collections::{BTreeMap, BTreeSet};

use super::program::{Code, Name, Order, Program, Shape, locations};

type Relation = Vec<Vec<bool>>;

fn empty(n: usize) -> Relation {
    vec![vec![false; n]; n]
}

fn join(one: &Relation, other: &Relation) -> Relation {
    let n = one.len();
    let mut result = empty(n);
    for i in 0..n {
        for j in 0..n {
            result[i][j] = one[i][j] || other[i][j];
        }
    }
    result
}

fn compose(one: &Relation, other: &Relation) -> Relation {
    let n = one.len();
    let mut result = empty(n);
    for i in 0..n {
        for j in (0..n).filter(|&j| one[i][j]) {
            for k in 0..n {
                result[i][k] |= other[j][k];
            }
        }
    }
    result
}

fn closure(relation: &Relation) -> Relation {
    let (n, mut result) = (relation.len(), relation.clone());
    for k in 0..n {
        for i in 0..n {
            if result[i][k] {
                for j in 0..n {
                    let through = result[k][j];
                    result[i][j] |= through;
                }
            }
        }
    }
    result
}

fn identity(n: usize, has: impl Fn(usize) -> bool) -> Relation {
    let mut result = empty(n);
    for i in (0..n).filter(|&i| has(i)) {
        result[i][i] = true;
    }
    result
}

fn has_loop(relation: &Relation) -> bool {
    (0..relation.len()).any(|i| relation[i][i])
}

#[derive(Clone, Copy)]
struct Event {
    name: Name,
    location: Option<usize>,
    reads: bool,
    writes: bool,
    fence: bool,
    order: Order,
}

/// All consistent graphs.
pub(super) fn consistent(program: &Program) -> BTreeSet<Shape> {
    let mut shapes = BTreeSet::new();
    let reads: Vec<(usize, usize)> = instructions(program)
        .filter(|(_, code)| !matches!(code, Code::Store(..) | Code::Fence(_)))
        .map(|(name, _)| name)
        .collect();
    choose_sources(program, &reads, &mut BTreeMap::new(), &mut shapes);
    shapes
}

fn instructions(program: &Program) -> impl Iterator<Item = ((usize, usize), Code)> + '_ {
    let threads = program.iter().enumerate();
    threads.flat_map(|(t, code)| code.iter().enumerate().map(move |(i, code)| ((t, i), *code)))
}

fn choose_sources(
    program: &Program,
    reads: &[(usize, usize)],
    chosen: &mut BTreeMap<(usize, usize), Name>,
    shapes: &mut BTreeSet<Shape>,
) {
    let Some((&read, rest)) = reads.split_first() else {
        return choose_order(program, chosen, shapes);
    };
    let location = program[read.0][read.1].location();
    let writes = instructions(program).filter(|&(name, code)| {
        code.location() == location && name != read && !matches!(code, Code::Load(..) | Code::Fence(_))
    });
    for source in std::iter::once(None).chain(writes.map(|(name, _)| Some(name))) {
        chosen.insert(read, source);
        choose_sources(program, rest, chosen, shapes);
    }
    chosen.remove(&read);
}

/// The value that an event leaves, and whether it writes; `None` if it depends on itself.
fn value(
    program: &Program,
    sources: &BTreeMap<(usize, usize), Name>,
    name: Name,
    depth: usize,
) -> Option<(u64, bool)> {
    let Some(name) = name else { return Some((0, true)) };
    if depth == 0 {
        return None;
    }
    let code = program[name.0][name.1];
    if let Code::Store(_, value, _) = code {
        return Some((value, true));
    }
    let (old, _) = value_of_source(program, sources, name, depth)?;
    Some(match code {
        Code::Add(_, value, _) => (old + value, true),
        Code::Exchange(_, expected, new, ..) if old == expected => (new, true),
        _ => (old, false),
    })
}

fn value_of_source(
    program: &Program,
    sources: &BTreeMap<(usize, usize), Name>,
    name: (usize, usize),
    depth: usize,
) -> Option<(u64, bool)> {
    let (value, writes) = value(program, sources, sources[&name], depth - 1)?;
    writes.then_some((value, true))
}

fn choose_order(program: &Program, sources: &BTreeMap<(usize, usize), Name>, shapes: &mut BTreeSet<Shape>) {
    let depth = program.iter().map(Vec::len).sum::<usize>() + 1;
    let mut orders: Vec<Vec<Vec<Name>>> = vec![Vec::new(); locations(program)];
    let mut writers: Vec<Vec<Name>> = vec![Vec::new(); orders.len()];
    let mut successful = BTreeSet::new();
    for (name, code) in instructions(program) {
        let Some(location) = code.location() else { continue };
        if !matches!(code, Code::Store(..)) && value_of_source(program, sources, name, depth).is_none() {
            return;
        }
        if !matches!(code, Code::Load(..))
            && value(program, sources, Some(name), depth).is_some_and(|(_, writes)| writes)
        {
            writers[location].push(Some(name));
            successful.insert(name);
        }
    }
    for (order, writers) in orders.iter_mut().zip(&writers) {
        permute(writers, &mut vec![None], order);
    }
    let mut picked = Vec::new();
    pick_orders(program, sources, &successful, &orders, &mut picked, shapes);
}

fn permute(left: &[Name], order: &mut Vec<Name>, orders: &mut Vec<Vec<Name>>) {
    if left.is_empty() {
        orders.push(order.clone());
    }
    for i in 0..left.len() {
        let mut rest = left.to_vec();
        order.push(rest.remove(i));
        permute(&rest, order, orders);
        order.pop();
    }
}

fn pick_orders(
    program: &Program,
    sources: &BTreeMap<(usize, usize), Name>,
    successful: &BTreeSet<(usize, usize)>,
    orders: &[Vec<Vec<Name>>],
    picked: &mut Vec<Vec<Name>>,
    shapes: &mut BTreeSet<Shape>,
) {
    if picked.len() == orders.len() {
        let shape = Shape { reads: sources.clone(), order: picked.clone() };
        if is_consistent(program, successful, &shape) {
            shapes.insert(shape);
        }
        return;
    }
    for order in &orders[picked.len()] {
        picked.push(order.clone());
        pick_orders(program, sources, successful, orders, picked, shapes);
        picked.pop();
    }
}

fn events(program: &Program, successful: &BTreeSet<(usize, usize)>) -> Vec<Event> {
    let initial = (0..locations(program)).map(|at| Event {
        name: None,
        location: Some(at),
        reads: false,
        writes: true,
        fence: false,
        order: 0,
    });
    let others = instructions(program).map(|(name, code)| {
        let writes = successful.contains(&name);
        let order = match code {
            Code::Load(_, order) | Code::Store(_, _, order) | Code::Add(_, _, order) | Code::Fence(order) => {
                order
            }
            Code::Exchange(_, _, _, success, failure) => {
                if writes {
                    success
                } else {
                    failure
                }
            }
        };
        let fence = matches!(code, Code::Fence(_));
        let reads = !fence && !matches!(code, Code::Store(..));
        Event { name: Some(name), location: code.location(), reads, writes, fence, order }
    });
    initial.chain(others).collect()
}

fn is_consistent(program: &Program, successful: &BTreeSet<(usize, usize)>, shape: &Shape) -> bool {
    let events = events(program, successful);
    let n = events.len();
    let find = |name: Name, location: usize| {
        events
            .iter()
            .position(|event| event.name == name && (name.is_some() || event.location == Some(location)))
            .unwrap()
    };
    let (mut po, mut rf, mut mo) = (empty(n), empty(n), empty(n));
    for i in 0..n {
        for j in 0..n {
            po[i][j] = match (events[i].name, events[j].name) {
                (None, Some(_)) => true,
                (Some(one), Some(other)) => one.0 == other.0 && one.1 < other.1,
                _ => false,
            };
        }
    }
    for (&read, &source) in &shape.reads {
        let read = find(Some(read), 0);
        rf[find(source, events[read].location.unwrap())][read] = true;
    }
    for (location, order) in shape.order.iter().enumerate() {
        for i in 0..order.len() {
            for j in i + 1..order.len() {
                mo[find(order[i], location)][find(order[j], location)] = true;
            }
        }
    }
    if has_loop(&closure(&join(&po, &rf))) {
        return false;
    }
    // A read-modify-write reads its predecessor.
    let mut fr = empty(n);
    for w in 0..n {
        for r in (0..n).filter(|&r| rf[w][r]) {
            for later in (0..n).filter(|&later| mo[w][later] && later != r) {
                fr[r][later] = true;
            }
        }
    }
    if (0..n).any(|u| events[u].reads && events[u].writes && (0..n).any(|w| fr[u][w] && mo[w][u])) {
        return false;
    }
    let hb = happens_before(&events, &po, &rf);
    let eco = closure(&join(&join(&rf, &mo), &fr));
    if has_loop(&hb) || has_loop(&eco) || has_loop(&compose(&hb, &eco)) {
        return false;
    }
    !has_loop(&closure(&psc(&events, &po, &mo, &fr, &hb, &eco)))
}

fn happens_before(events: &[Event], po: &Relation, rf: &Relation) -> Relation {
    let n = events.len();
    let is = |has: fn(&Event) -> bool| identity(n, |i| has(&events[i]));
    let updates = is(|event| event.reads && event.writes);
    let writes = is(|event| event.writes);
    let reads = is(|event| event.reads);
    let fences = is(|event| event.fence);
    // Release sequences: a write, then read-modify-writes.
    let sequence = join(&writes, &compose(&writes, &closure(&compose(rf, &updates))));
    let releasing = is(|event| event.name.is_some() && event.order >= 3);
    let acquiring = is(|event| matches!(event.order, 1 | 2 | 4 | 5));
    let release = compose(&releasing, &join(&writes, &compose(&fences, &compose(po, &writes))));
    let acquire = compose(&join(&reads, &compose(&reads, &compose(po, &fences))), &acquiring);
    let sw = compose(&release, &compose(&sequence, &compose(rf, &acquire)));
    closure(&join(po, &sw))
}

fn psc(
    events: &[Event],
    po: &Relation,
    mo: &Relation,
    fr: &Relation,
    hb: &Relation,
    eco: &Relation,
) -> Relation {
    let n = events.len();
    let same = |i: usize, j: usize| events[i].location.is_some() && events[i].location == events[j].location;
    let filter = |relation: &Relation, wanted: bool| {
        let mut result = relation.clone();
        for i in 0..n {
            for j in 0..n {
                result[i][j] &= same(i, j) == wanted;
            }
        }
        result
    };
    let elsewhere = filter(po, false);
    let through = compose(&elsewhere, &compose(hb, &elsewhere));
    let scb = join(&join(&join(po, &through), &filter(hb, true)), &join(mo, fr));
    let access = identity(n, |i| events[i].order == 5 && !events[i].fence && events[i].name.is_some());
    let fence = identity(n, |i| events[i].order == 5 && events[i].fence);
    let hb_or_same = join(hb, &identity(n, |_| true));
    let left = join(&access, &compose(&fence, &hb_or_same));
    let right = join(&access, &compose(&hb_or_same, &fence));
    let base = compose(&left, &compose(&scb, &right));
    let over_fences = join(hb, &compose(hb, &compose(eco, hb)));
    join(&base, &compose(&fence, &compose(&over_fences, &fence)))
}
