//! Lists the values of a small sort.

use std::sync::Arc;

use super::functions::Functions;
use crate::compile::evaluator::{Machine, Rules};
use crate::typed::{Program, Sort, SortId, SymbolId};
use crate::value::{Head, Value};

/// All values of a sort with at most [`LIST_LIMIT`](super::finite::LIST_LIMIT) of them, kept alive:
/// truth values beginning with `true`, constructors in their order, sets by counting. `None` if a
/// value cannot be computed.
pub(super) fn list(
    rules: &Arc<Rules>,
    program: &Program,
    rewritten: &[SymbolId],
    sort: SortId,
) -> Option<Vec<Value>> {
    for &constructor in rewritten {
        rules.make_callable(program, constructor);
    }
    let mut lister = Lister { rules, program, rewritten, machine: Machine::new(rules.clone()) };
    let values = lister.list(sort)?;
    Some(values.into_iter().map(|value| lister.machine.heap.keep(value)).collect())
}

struct Lister<'a> {
    rules: &'a Arc<Rules>,
    program: &'a Program,
    rewritten: &'a [SymbolId],
    machine: Machine,
}

impl Lister<'_> {
    fn list(&mut self, sort: SortId) -> Option<Vec<Value>> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.list_of(sort))
    }

    fn list_of(&mut self, sort: SortId) -> Option<Vec<Value>> {
        match self.program.sorts.get(sort) {
            Sort::Bool => Some(vec![Value::TRUE, Value::FALSE]),
            Sort::Container(_, element) => {
                let elements = self.list(*element)?;
                let mut sets = Vec::with_capacity(1 << elements.len());
                for mask in 0u32..1 << elements.len() {
                    let chosen = (0..elements.len()).filter(|index| mask >> index & 1 == 1);
                    let mut chosen: Vec<Value> = chosen.map(|index| elements[index]).collect();
                    chosen.sort_by(|&left, &right| self.machine.heap.compare(left, right));
                    sets.push(self.machine.heap.make(Head::Set, &chosen));
                }
                Some(sets)
            }
            Sort::Function { domain, codomain } => {
                let rows = self.tuples(domain)?;
                let results = self.list(*codomain)?;
                let tables = if results.len() == 1 {
                    vec![results.clone()]
                } else {
                    self.tuples(&vec![*codomain; rows.len()])?
                };
                Functions::new(self.rules, self.program, domain, *codomain, &rows).all(
                    &mut self.machine,
                    &rows,
                    &tables,
                    results[0],
                )
            }
            _ => {
                let mut values: Vec<Value> = Vec::new();
                for &constructor in self.program.constructors(sort) {
                    for fields in self.tuples(self.program.signature(constructor).0)? {
                        let value = if self.rewritten.contains(&constructor) {
                            let function = self.machine.heap.make(Head::Symbol(constructor), &[]);
                            // A constant that an equation rewrites equals one of the others.
                            if fields.is_empty() {
                                continue;
                            }
                            let value = self.machine.apply(function, &fields).ok()?;
                            // Equations may make two terms equal.
                            if values.iter().any(|&old| self.machine.heap.same(old, value)) {
                                continue;
                            }
                            value
                        } else {
                            self.machine.heap.make(Head::Symbol(constructor), &fields)
                        };
                        values.push(value);
                    }
                }
                Some(values)
            }
        }
    }

    /// All combinations. The last component changes fastest.
    fn tuples(&mut self, sorts: &[SortId]) -> Option<Vec<Vec<Value>>> {
        let mut tuples = vec![Vec::new()];
        for &sort in sorts {
            let values = self.list(sort)?;
            let longer = |tuple: &Vec<Value>| -> Vec<Vec<Value>> {
                let with = |&value| tuple.iter().copied().chain([value]).collect();
                values.iter().map(with).collect()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        Some(tuples)
    }
}
