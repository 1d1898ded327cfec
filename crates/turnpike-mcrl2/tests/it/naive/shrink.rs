//! Shrinks a specification that fails.

use super::specification::{Data, Operator, Process, Sort, Specification, Variable};

/// The smallest failing specification that was found. Each step makes the text shorter, or keeps
/// its length and makes it smaller in lexicographic order, so there are finitely many steps.
pub(crate) fn shrink(
    specification: &Specification,
    fails: &mut dyn FnMut(&Specification) -> bool,
) -> Specification {
    let mut best = specification.clone();
    let mut tries = 0;
    'again: loop {
        let measure = |one: &Specification| {
            let text = one.text();
            (text.len(), text)
        };
        let before = measure(&best);
        let mut smaller: Vec<_> = edits(&best).into_iter().map(|one| (measure(&one), one)).collect();
        smaller.retain(|(after, _)| *after < before);
        smaller.sort_by(|one, other| one.0.cmp(&other.0));
        smaller.dedup_by(|one, other| one.0 == other.0);
        for (_, candidate) in smaller {
            tries += 1;
            if tries > 20_000 {
                return best;
            }
            if fails(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// All specifications with a single change.
fn edits(specification: &Specification) -> Vec<Specification> {
    let mut all = Vec::new();
    let with = |init| Specification { init, ..specification.clone() };
    all.extend(edits_of(&specification.init).into_iter().map(with));
    // Replace calls of a process by its body.
    for index in specification.reachable() {
        let definition = &specification.definitions[index];
        if definition.parameters.is_empty() {
            all.push(with(replace(&specification.init, &|one| {
                matches!(one, Process::Call(called, _) if *called == index).then(|| definition.body.clone())
            })));
        }
        for body in edits_of(&definition.body) {
            let mut new = specification.clone();
            new.definitions[index].body = body;
            all.push(new);
        }
        for at in 0..definition.parameters.len() {
            for constant in definition.parameters[at].1.constants() {
                all.push(without_parameter(specification, index, at, constant));
            }
        }
    }
    all
}

/// Removes a parameter and replaces it by a constant.
fn without_parameter(old: &Specification, index: usize, at: usize, constant: &str) -> Specification {
    let mut new = old.clone();
    let (name, _) = new.definitions[index].parameters.remove(at);
    new.definitions[index].body = substituted(&new.definitions[index].body, &name, constant);
    let change = |process: &Process| {
        replace(process, &|one| match one {
            Process::Call(called, data) if *called == index => {
                let mut data = data.clone();
                data.remove(at);
                Some(Process::Call(index, data))
            }
            Process::Assign(called, data) if *called == index => {
                let data = data.iter().filter(|(known, _)| *known != name).cloned().collect();
                Some(Process::Assign(index, data))
            }
            _ => None,
        })
    };
    for definition in &mut new.definitions {
        definition.body = change(&definition.body);
    }
    new.init = change(&new.init);
    new
}

/// Replaces all expressions for which `other` returns another one.
fn replace(process: &Process, other: &dyn Fn(&Process) -> Option<Process>) -> Process {
    other(process).unwrap_or_else(|| {
        process.with_parts(process.parts().into_iter().map(|part| replace(part, other)).collect())
    })
}

/// All processes with a single change.
fn edits_of(process: &Process) -> Vec<Process> {
    let mut all = own_edits(process);
    let parts: Vec<Process> = process.parts().into_iter().cloned().collect();
    for at in 0..parts.len() {
        for edit in edits_of(&parts[at]) {
            let mut parts = parts.clone();
            parts[at] = edit;
            all.push(process.with_parts(parts));
        }
    }
    all
}

// Long because each kind of process has a case.
fn own_edits(process: &Process) -> Vec<Process> {
    let mut all = vec![Process::Delta, Process::Action("a".to_owned(), Vec::new())];
    let data = |data: &Data| -> Vec<Data> {
        let texts = data.sort.constants().iter();
        texts.map(|text| Data { text: (*text).to_owned(), ..data.clone() }).collect()
    };
    match process {
        Process::Delta | Process::Tau => all.push(Process::Action("a".to_owned(), Vec::new())),
        Process::Action(name, arguments) => {
            for at in 0..arguments.len() {
                for value in data(&arguments[at]) {
                    let mut arguments = arguments.clone();
                    arguments[at] = value;
                    all.push(Process::Action(name.clone(), arguments));
                }
            }
        }
        Process::Call(index, arguments) => {
            for at in 0..arguments.len() {
                for value in data(&arguments[at]) {
                    let mut arguments = arguments.clone();
                    arguments[at] = value;
                    all.push(Process::Call(*index, arguments));
                }
            }
        }
        Process::Assign(index, assigned) => {
            for at in 0..assigned.len() {
                let mut fewer = assigned.clone();
                fewer.remove(at);
                all.push(Process::Assign(*index, fewer));
                for value in data(&assigned[at].1) {
                    let mut assigned = assigned.clone();
                    assigned[at].1 = value;
                    all.push(Process::Assign(*index, assigned));
                }
            }
        }
        Process::Infix(_, left, right) => all.extend([(**left).clone(), (**right).clone()]),
        Process::If(condition, then, otherwise) => {
            all.push((**then).clone());
            all.extend(otherwise.as_deref().cloned());
            all.push(Process::If(condition.clone(), then.clone(), None));
            for value in data(condition) {
                all.push(Process::If(value, then.clone(), otherwise.clone()));
            }
        }
        Process::At(body, time) => {
            all.push((**body).clone());
            all.extend(data(time).into_iter().map(|time| Process::At(body.clone(), time)));
        }
        Process::Sum(variables, body) => {
            for (fewer, (name, sort)) in one_less(variables) {
                for constant in sort.constants() {
                    let body = substituted(body, &name, constant);
                    all.push(match fewer.is_empty() {
                        true => body,
                        false => Process::Sum(fewer.clone(), Box::new(body)),
                    });
                }
            }
        }
        Process::Dist(variables, weight, body) => {
            for value in ["1 / 2", "1 / 3"] {
                let weight = Data { text: value.to_owned(), ..weight.clone() };
                all.push(Process::Dist(variables.clone(), weight, body.clone()));
            }
            if let [(name, _)] = &variables[..] {
                let weight = Data { sort: Sort::Real, text: "1 / 2".to_owned() };
                all.push(Process::Dist(vec![(name.clone(), Sort::Bool)], weight, body.clone()));
            }
            for (fewer, (name, sort)) in one_less(variables) {
                for constant in sort.constants() {
                    let body = substituted(body, &name, constant);
                    all.push(match fewer.is_empty() {
                        true => body,
                        false => {
                            let weight = Data { sort: Sort::Real, text: "1 / 2".to_owned() };
                            Process::Dist(fewer.clone(), weight, Box::new(body))
                        }
                    });
                }
            }
        }
        Process::Under(operator, body) => {
            all.push((**body).clone());
            all.extend(fewer(operator).into_iter().map(|operator| Process::Under(operator, body.clone())));
        }
    }
    all
}

fn one_less(variables: &[Variable]) -> Vec<(Vec<Variable>, Variable)> {
    let without = |at| {
        let mut fewer = variables.to_vec();
        let gone = fewer.remove(at);
        (fewer, gone)
    };
    (0..variables.len()).map(without).collect()
}

/// The operators with one element less.
fn fewer(operator: &Operator) -> Vec<Operator> {
    fn each<T: Clone>(all: &[T], least: usize, make: impl Fn(Vec<T>) -> Operator) -> Vec<Operator> {
        let without = |at| {
            let mut fewer = all.to_vec();
            fewer.remove(at);
            make(fewer)
        };
        if all.len() > least { (0..all.len()).map(without).collect() } else { Vec::new() }
    }
    match operator {
        Operator::Block(names) => each(names, 1, Operator::Block),
        Operator::Hide(names) => each(names, 1, Operator::Hide),
        Operator::Allow(all) => {
            let mut result = each(all, 0, Operator::Allow);
            for at in 0..all.len() {
                result.extend(each(&all[at], 1, |shorter| {
                    let mut all = all.clone();
                    all[at] = shorter;
                    Operator::Allow(all)
                }));
            }
            result
        }
        Operator::Rename(all) => each(all, 0, Operator::Rename),
        Operator::Comm(rules) => {
            let mut result = each(rules, 0, Operator::Comm);
            for at in 0..rules.len() {
                result.extend(each(&rules[at].0, 2, |shorter| {
                    let mut rules = rules.clone();
                    rules[at].0 = shorter;
                    Operator::Comm(rules)
                }));
            }
            result
        }
    }
}

/// Replaces a variable by a constant, except where its name is bound again.
fn substituted(process: &Process, name: &str, constant: &str) -> Process {
    let data = |data: &Data| Data { text: replaced(&data.text, name, constant), ..data.clone() };
    let all = |all: &[Data]| all.iter().map(data).collect();
    let go = |process: &Process| Box::new(substituted(process, name, constant));
    let binds = |variables: &[Variable]| variables.iter().any(|(known, _)| known == name);
    match process {
        Process::Action(action, arguments) => Process::Action(action.clone(), all(arguments)),
        Process::Call(index, arguments) => Process::Call(*index, all(arguments)),
        Process::Assign(index, assigned) => {
            let assigned = assigned.iter().map(|(known, value)| (known.clone(), data(value))).collect();
            Process::Assign(*index, assigned)
        }
        Process::Sum(variables, _) | Process::Dist(variables, ..) if binds(variables) => process.clone(),
        Process::Dist(variables, weight, body) => Process::Dist(variables.clone(), data(weight), go(body)),
        Process::If(condition, then, otherwise) => {
            Process::If(data(condition), go(then), otherwise.as_deref().map(go))
        }
        Process::At(body, time) => Process::At(go(body), data(time)),
        other => {
            let parts = other.parts().into_iter().map(|part| substituted(part, name, constant)).collect();
            other.with_parts(parts)
        }
    }
}

/// Replaces a whole word.
fn replaced(text: &str, word: &str, by: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end.max(1));
        result.push_str(if token == word { by } else { token });
        rest = after;
    }
    result
}
