//! A few sample values of every sort.

use rustc_hash::FxHashSet;

use crate::syntax::{Container, Span};
use crate::typed::expression::{integer_value, reachable, representative};
use crate::typed::{Expression, ExpressionId, Program, Sort, SortId, SymbolId};

/// The most samples of a sort.
const MANY: usize = 8;

/// Some small closed expressions of a sort, including the numbers that occur in `near`.
pub(super) fn samples(program: &mut Program, sort: SortId, near: &[ExpressionId]) -> Vec<ExpressionId> {
    let mut numbers: Vec<String> = ["0", "1", "2", "3"].map(str::to_owned).to_vec();
    for id in reachable(program, near) {
        if let Some(value) = integer_value(program, id)
            && value > dashu_int::IBig::from(3)
        {
            let next = &value + dashu_int::IBig::ONE;
            numbers.extend([value.to_string(), next.to_string()]);
        }
    }
    let mut seen = FxHashSet::default();
    numbers.retain(|one| seen.insert(one.clone()));
    numbers.truncate(2 * MANY);
    of_sort(program, sort, &numbers, 2)
}

fn of_sort(program: &mut Program, sort: SortId, numbers: &[String], depth: u32) -> Vec<ExpressionId> {
    let span = Span::default();
    let add = |program: &mut Program, expression| program.add_expression(expression, sort, span);
    match program.sorts.get(sort).clone() {
        Sort::Bool => [false, true].map(|value| add(program, Expression::Bool(value))).to_vec(),
        Sort::Pos | Sort::Nat | Sort::Int | Sort::Real => {
            let fitting = numbers.iter().filter(|one| sort != SortId::POS || *one != "0");
            let words: Vec<_> = fitting.map(|one| program.words.intern(one)).collect();
            words.into_iter().map(|digits| add(program, Expression::Number(digits))).collect()
        }
        Sort::Container(container @ (Container::List | Container::FSet), element) => {
            let elements =
                if depth == 0 { Vec::new() } else { of_sort(program, element, numbers, depth - 1) };
            let rows = [0, 1, 2, 3].map(|count| elements.get(..count).unwrap_or(&[]).to_vec());
            let mut rows = rows.to_vec();
            rows.dedup();
            let one = |row: Vec<ExpressionId>| match container {
                Container::List => Expression::List(row.into()),
                _ => Expression::Set(row.into()),
            };
            rows.into_iter().map(|row| add(program, one(row))).collect()
        }
        Sort::Container(Container::Set, element) => {
            let finite = program.sorts.container(Container::FSet, element);
            let sets = of_sort(program, finite, numbers, depth);
            sets.into_iter().map(|set| add(program, Expression::Upcast(set))).collect()
        }
        Sort::Struct(_) | Sort::Basic(_) if !program.constructors(sort).is_empty() => {
            let constructors: Vec<SymbolId> = program.constructors(sort).to_vec();
            let mut all = Vec::new();
            for symbol in constructors {
                let domain = program.signature(symbol).0.to_vec();
                if domain.is_empty() {
                    all.push(add(program, Expression::Symbol(symbol)));
                    continue;
                }
                if depth == 0 {
                    continue;
                }
                let fields: Vec<Vec<ExpressionId>> =
                    domain.iter().map(|&field| of_sort(program, field, numbers, depth - 1)).collect();
                if fields.iter().any(Vec::is_empty) {
                    continue;
                }
                // The first samples of all fields together, then varying one field at a time.
                let first: Vec<ExpressionId> = fields.iter().map(|values| values[0]).collect();
                let mut rows = vec![first.clone()];
                for (index, values) in fields.iter().enumerate() {
                    for &value in values.iter().skip(1).take(2) {
                        let mut row = first.clone();
                        row[index] = value;
                        rows.push(row);
                    }
                }
                all.extend(
                    rows.into_iter()
                        .map(|row| add(program, Expression::Call { symbol, arguments: row.into() })),
                );
            }
            if all.is_empty() {
                return representative(program, sort).into_iter().collect();
            }
            all.truncate(2 * MANY);
            all
        }
        _ => representative(program, sort).into_iter().collect(),
    }
}
