//! Random specifications: sequential processes with all kinds of expressions, composed in parallel
//! under several operators. A few are unrestricted, and most of those are refused.

use super::draw::Draw;
use super::specification::{Data, Definition, GROUPS, Infix, Process, Sort, Specification, Variable};

/// The specification of a number.
pub(crate) fn specification(draw: &mut Draw) -> Specification {
    let wild = draw.percent(6);
    let sequential = draw.between(1, 3);
    let mut names: Vec<(String, Vec<Variable>)> = Vec::new();
    for name in ["P", "Q", "R"].into_iter().take(sequential) {
        names.push((name.to_owned(), parameters(draw)));
    }
    let parallel = usize::from(draw.percent(20));
    if parallel > 0 {
        names.push(("X".to_owned(), if draw.percent(50) { parameters(draw) } else { Vec::new() }));
    }
    let features =
        Features { data: draw.percent(75), chance: draw.percent(30), time: draw.percent(12), wild };
    let alphabet = alphabet(draw, features.data);
    let mut maker =
        Maker { draw, names, alphabet, sequential, features, parallels: 3, definitions: Vec::new() };
    for index in 0..maker.sequential {
        let scope = maker.names[index].1.clone();
        let depth = maker.draw.weighted(&[(3, 1), (2, 2), (2, 3), (2, 4)]);
        let place = Place { owner: Some(index), guarded: false, last: true };
        let body = maker.behaviour(depth, &scope, place);
        let (name, parameters) = maker.names[index].clone();
        maker.definitions.push(Definition { name, parameters, body });
    }
    if parallel > 0 {
        let (name, parameters) = maker.names[sequential].clone();
        maker.parallels = 1;
        let numbered = parameters.iter().any(|(name, _)| name == "n");
        let body = match numbered && maker.draw.percent(60) {
            true => maker.tower(&parameters),
            false => maker.composition(2, &parameters, false),
        };
        maker.definitions.push(Definition { name, parameters, body });
    }
    maker.parallels = if maker.draw.percent(20) { 0 } else { maker.draw.between(1, 3) };
    let init = match wild {
        true => maker.behaviour(4, &[], Place { owner: None, guarded: false, last: true }),
        false if maker.draw.percent(40) => maker.stack(parallel > 0),
        false => {
            let depth = maker.draw.between(1, 6);
            maker.composition(depth, &[], parallel > 0)
        }
    };
    Specification { definitions: maker.definitions, init }
}

fn parameters(draw: &mut Draw) -> Vec<Variable> {
    let all = [("x", Sort::Bool), ("n", Sort::Nat), ("k", Sort::D), ("y", Sort::Bool)];
    all.iter().filter(|_| draw.percent(28)).map(|&(name, sort)| (name.to_owned(), sort)).collect()
}

/// Some actions with their sorts. If there are few actions, operators apply to the same ones more
/// often.
fn alphabet(draw: &mut Draw, data: bool) -> Vec<(&'static str, &'static [Sort])> {
    let mut all: Vec<(&str, &[Sort])> = Vec::new();
    let several = data && draw.percent(60);
    let main = if data { draw.below(GROUPS.len()) } else { 0 };
    for (at, (names, signatures)) in GROUPS.iter().enumerate() {
        if at == main || several && draw.percent(50) {
            let count = draw.between(2, names.len().min(3));
            let first = draw.below(names.len());
            for name in names.iter().cycle().skip(first).take(count) {
                all.extend(signatures.iter().map(|&sorts| (*name, sorts)));
            }
        }
    }
    all
}

/// The features that a specification may use.
pub(super) struct Features {
    data: bool,
    chance: bool,
    time: bool,
    wild: bool,
}

/// The position of an expression.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The process that it is part of.
    pub(super) owner: Option<usize>,
    /// Whether an action precedes it.
    pub(super) guarded: bool,
    /// Whether nothing follows it.
    pub(super) last: bool,
}

/// Creates a specification.
pub(super) struct Maker<'d> {
    pub(super) draw: &'d mut Draw,
    pub(super) names: Vec<(String, Vec<Variable>)>,
    pub(super) alphabet: Vec<(&'static str, &'static [Sort])>,
    pub(super) sequential: usize,
    pub(super) features: Features,
    /// The number of parallel compositions that may be added.
    pub(super) parallels: usize,
    pub(super) definitions: Vec<Definition>,
}

#[derive(Clone, Copy)]
enum Kind {
    Simple,
    Sequence,
    Choice,
    Sum,
    If,
    Dist,
    At,
    Synchronise,
    Parallel,
    LeftMerge,
    Before,
    Under,
}

impl Maker<'_> {
    /// A sequential process, or any process in an unrestricted specification.
    pub(super) fn behaviour(&mut self, depth: usize, scope: &[Variable], place: Place) -> Process {
        if depth == 0 {
            return self.simple(scope, place);
        }
        let on = usize::from;
        let wild = on(self.features.wild);
        let kind = self.draw.weighted(&[
            (2, Kind::Simple),
            (8, Kind::Sequence),
            (5, Kind::Choice),
            (3 * on(self.features.data), Kind::Sum),
            (3 * on(self.features.data), Kind::If),
            (4 * on(self.features.chance), Kind::Dist),
            (3 * on(self.features.time), Kind::At),
            (1, Kind::Synchronise),
            (3 * wild, Kind::Parallel),
            (wild, Kind::LeftMerge),
            (wild, Kind::Before),
            (4 * wild, Kind::Under),
        ]);
        let below = depth - 1;
        let both = |operator, left, right| Process::Infix(operator, Box::new(left), Box::new(right));
        match kind {
            Kind::Simple => self.simple(scope, place),
            Kind::Sequence => {
                let early = Place { last: false, ..place };
                let first = match self.draw.percent(70) {
                    true => self.multi_action(scope),
                    false => self.behaviour(below.min(2), scope, early),
                };
                let then = self.behaviour(below, scope, Place { guarded: true, ..place });
                both(Infix::Sequence, first, then)
            }
            Kind::Choice => {
                let left = self.behaviour(below, scope, place);
                both(Infix::Choice, left, self.behaviour(below, scope, place))
            }
            Kind::Synchronise if !self.features.wild && self.draw.percent(85) => self.multi_action(scope),
            Kind::Synchronise | Kind::Parallel | Kind::LeftMerge | Kind::Before => {
                let operator = match kind {
                    Kind::Synchronise => Infix::Synchronise,
                    Kind::Parallel => Infix::Parallel,
                    Kind::LeftMerge => Infix::LeftMerge,
                    _ => Infix::Before,
                };
                let left = self.behaviour(below.min(1), scope, place);
                both(operator, left, self.behaviour(below.min(1), scope, place))
            }
            Kind::Sum => self.sum(below, scope, place),
            Kind::If => {
                let condition = self.data(Sort::Bool, scope, 2);
                let then = Box::new(self.behaviour(below, scope, place));
                let otherwise = self.draw.percent(50).then(|| Box::new(self.behaviour(below, scope, place)));
                Process::If(condition, then, otherwise)
            }
            Kind::Dist => self.dist(below, scope, place),
            Kind::At => {
                let body = match self.draw.percent(60) {
                    true => self.multi_action(scope),
                    false => self.behaviour(below, scope, place),
                };
                let time = self.time(scope);
                Process::At(Box::new(body), time)
            }
            Kind::Under => {
                let body = self.behaviour(below, scope, place);
                self.under(body)
            }
        }
    }

    /// A process without operators, or a call.
    fn simple(&mut self, scope: &[Variable], place: Place) -> Process {
        // A call that something follows creates a stack, which may grow without end.
        let recursive = place.guarded && (place.last || self.draw.percent(15));
        let first = if recursive { 0 } else { place.owner.map_or(0, |owner| owner + 1) };
        let callable: Vec<usize> = (first..self.sequential).collect();
        if !callable.is_empty() && self.draw.percent(if place.last { 55 } else { 20 }) {
            let index = *self.draw.pick(&callable);
            return self.call(index, scope);
        }
        match self.draw.below(10) {
            0 => Process::Delta,
            _ => self.multi_action(scope),
        }
    }

    /// A call with all its arguments, or with assignments if the names in scope allow that.
    pub(super) fn call(&mut self, index: usize, scope: &[Variable]) -> Process {
        let parameters = self.names[index].1.clone();
        if !parameters.is_empty() && self.draw.percent(30) {
            let mut assigned = Vec::new();
            for (name, sort) in &parameters {
                let visible = scope.iter().rev().find(|(known, _)| known == name);
                if visible.is_none_or(|(_, known)| known != sort) || self.draw.percent(40) {
                    assigned.push((name.clone(), self.data(*sort, scope, 2)));
                }
            }
            return Process::Assign(index, assigned);
        }
        Process::Call(index, parameters.iter().map(|&(_, sort)| self.data(sort, scope, 2)).collect())
    }

    /// `tau`, an action, or a multi-action, rarely with `delta` in it.
    pub(super) fn multi_action(&mut self, scope: &[Variable]) -> Process {
        let count = self.draw.weighted(&[(12, 1), (3, 2), (1, 3)]);
        let mut whole = self.action(scope, if count == 1 { 7 } else { 12 }, 0);
        for _ in 1..count {
            let next = self.action(scope, 8, 6);
            whole = Process::Infix(Infix::Synchronise, Box::new(whole), Box::new(next));
        }
        whole
    }

    fn action(&mut self, scope: &[Variable], tau: usize, delta: usize) -> Process {
        let number = self.draw.below(100);
        if number < tau {
            return Process::Tau;
        }
        if number < tau + delta {
            return Process::Delta;
        }
        let (name, sorts) = *self.draw.pick(&self.alphabet);
        let data = sorts.iter().map(|&sort| self.data(sort, scope, 2)).collect();
        Process::Action(name.to_owned(), data)
    }

    fn sum(&mut self, depth: usize, scope: &[Variable], place: Place) -> Process {
        let (variables, inner) = self.bind(scope);
        let outer = without(scope, &variables);
        let mut bounds = Vec::new();
        for (name, sort) in &variables {
            if *sort == Sort::Nat {
                match self.draw.below(8) {
                    // The value must come from an action. `r` and `s` communicate.
                    0 if variables.len() == 1 => {
                        let receive = Process::Action(
                            (*self.draw.pick(&["r", "s"])).to_owned(),
                            vec![Data { sort: Sort::Nat, text: name.clone() }],
                        );
                        let then = self.behaviour(depth.min(2), &inner, Place { guarded: true, ..place });
                        let body = Process::Infix(Infix::Sequence, Box::new(receive), Box::new(then));
                        return Process::Sum(variables, Box::new(body));
                    }
                    1 | 2 => {
                        let value = self.data(Sort::Nat, &outer, 2).text;
                        bounds.push(format!("{name} == {value}"));
                    }
                    3 => bounds.push(format!("{name} <= 1")),
                    _ => bounds.push(format!("{name} < 2")),
                }
            }
        }
        let mut body = self.behaviour(depth, &inner, place);
        if self.draw.percent(30) {
            bounds.push(self.data(Sort::Bool, &inner, 2).text);
        }
        if !bounds.is_empty() {
            let condition = Data { sort: Sort::Bool, text: bounds.join(" && ") };
            body = Process::If(condition, Box::new(body), None);
        }
        Process::Sum(variables, Box::new(body))
    }

    fn dist(&mut self, depth: usize, scope: &[Variable], place: Place) -> Process {
        let (mut variables, _) = self.bind(scope);
        variables.truncate(if self.draw.percent(80) { 1 } else { 2 });
        let (outer, inner) = (without(scope, &variables), [scope, &variables].concat());
        let mut factors = Vec::new();
        for (name, sort) in &variables {
            let all: &[&str] = match sort {
                Sort::Bool => &["1/2", "if(#, 1/3, 2/3)", "if(#, 1, 0)", "if(# == %, 1/4, 3/4)"],
                Sort::Nat => {
                    &["if(# < 2, 1/2, 0)", "if(# == 1, 1/3, if(# == 2, 2/3, 0))", "if(# == 0, 1, 0)"]
                }
                Sort::D => &["1/3", "if(# == d1, 1/2, 1/4)"],
                Sort::Real => &["1"],
            };
            let other = self.data(Sort::Bool, &outer, 1).text;
            factors.push(self.draw.pick(all).replace('#', name).replace('%', &format!("({other})")));
        }
        let weight = Data { sort: Sort::Real, text: parenthesised(&factors) };
        let body = self.behaviour(depth, &inner, place);
        Process::Dist(variables, weight, Box::new(body))
    }

    /// One or two variables, and the scope that includes them.
    fn bind(&mut self, scope: &[Variable]) -> (Vec<Variable>, Vec<Variable>) {
        let pool = [
            ("x", Sort::Bool),
            ("z", Sort::Bool),
            ("n", Sort::Nat),
            ("m", Sort::Nat),
            ("k", Sort::D),
            ("n", Sort::Bool),
        ];
        let mut variables: Vec<Variable> = Vec::new();
        for _ in 0..self.draw.weighted(&[(4, 1), (1, 2)]) {
            let (name, sort) = self.draw.weighted(&[
                (5, pool[0]),
                (5, pool[1]),
                (4, pool[2]),
                (4, pool[3]),
                (3, pool[4]),
                (1, pool[5]),
            ]);
            if !variables.iter().any(|(known, _)| known == name) {
                variables.push((name.to_owned(), sort));
            }
        }
        let inner = [scope, &variables].concat();
        (variables, inner)
    }

    fn time(&mut self, scope: &[Variable]) -> Data {
        let text = match self.draw.below(6) {
            0 => "1 / 2".to_owned(),
            1 => format!("{} + 1", self.data(Sort::Nat, scope, 1).text),
            2 => format!("if({}, 1, 3 / 2)", self.data(Sort::Bool, scope, 1).text),
            _ => self.draw.between(0, 4).to_string(),
        };
        Data { sort: Sort::Real, text }
    }

    /// Data with the variables in scope. Numbers are less than 3.
    fn data(&mut self, sort: Sort, scope: &[Variable], depth: usize) -> Data {
        let visible: Vec<&str> = scope
            .iter()
            .enumerate()
            .filter(|(at, (name, _))| !scope[at + 1..].iter().any(|(later, _)| later == name))
            .filter(|(_, (_, known))| *known == sort)
            .map(|(_, (name, _))| name.as_str())
            .collect();
        let text = if !visible.is_empty() && self.draw.percent(60) {
            (*self.draw.pick(&visible)).to_owned()
        } else if depth == 0 || self.draw.percent(50) {
            match sort {
                Sort::Bool => (*self.draw.pick(&["true", "false"])).to_owned(),
                Sort::Nat => self.draw.below(3).to_string(),
                _ => (*self.draw.pick(&["d1", "d2(true)", "d2(false)"])).to_owned(),
            }
        } else {
            let mut one = |sort| self.data(sort, scope, depth - 1).text;
            match sort {
                Sort::Bool => {
                    let (p, q, i, j) = (one(Sort::Bool), one(Sort::Bool), one(Sort::Nat), one(Sort::Nat));
                    let (v, w) = (one(Sort::D), one(Sort::D));
                    match self.draw.below(9) {
                        0 => format!("!({p})"),
                        7 => format!("q({v})"),
                        1 => format!("({p} && {q})"),
                        2 => format!("({p} || {q})"),
                        3 => format!("({p} == {q})"),
                        4 => format!("({i} == {j})"),
                        5 => format!("({v} == {w})"),
                        6 => format!("({p} => {q})"),
                        _ => format!("({i} < {j})"),
                    }
                }
                Sort::Nat => {
                    let (i, j, p) = (one(Sort::Nat), one(Sort::Nat), one(Sort::Bool));
                    match self.draw.below(4) {
                        0 => format!("(({i} + 1) mod 3)"),
                        1 => format!("h({i})"),
                        _ => format!("if({p}, {i}, {j})"),
                    }
                }
                _ => {
                    let (p, v, w) = (one(Sort::Bool), one(Sort::D), one(Sort::D));
                    match self.draw.below(2) {
                        0 => format!("d2({p})"),
                        _ => format!("if({p}, {v}, {w})"),
                    }
                }
            }
        };
        Data { sort, text }
    }
}

/// The variables in scope, without those whose names are bound again.
fn without(scope: &[Variable], bound: &[Variable]) -> Vec<Variable> {
    scope.iter().filter(|(name, _)| !bound.iter().any(|(other, _)| other == name)).cloned().collect()
}

fn parenthesised(factors: &[String]) -> String {
    match factors {
        [only] => only.clone(),
        all => all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" * "),
    }
}
