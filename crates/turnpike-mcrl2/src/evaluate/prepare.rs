//! Symbols that stuck terms are made of, although the specification does not mention them.

use crate::sorts::{Builtin, Program, Sort, SortId};

/// Adds the built-in functions that evaluation may have to write down: `==` of fields for a stuck `==` of structures, `<` for a stuck `>`,
/// and the like. Without them such terms stay as they were written, which is right, but not what the tools print.
pub fn prepare(program: &mut Program) {
    let truth = [SortId::BOOL, SortId::BOOL];
    for (builtin, name, domain) in
        [(Builtin::Not, "!", &truth[..1]), (Builtin::And, "&&", &truth[..]), (Builtin::Or, "||", &truth[..])]
    {
        add(program, builtin, name, domain, SortId::BOOL);
    }
    add(program, Builtin::Convert, "Nat2Pos", &[SortId::NAT], SortId::POS);
    let sorts: Vec<SortId> = program
        .sorts
        .iter()
        .filter(|(_, sort)| !matches!(sort, Sort::Unknown | Sort::Function { .. }))
        .map(|(id, _)| id)
        .collect();
    for sort in sorts {
        for (builtin, name) in [(Builtin::Equal, "=="), (Builtin::Less, "<"), (Builtin::LessEqual, "<=")] {
            add(program, builtin, name, &[sort, sort], SortId::BOOL);
        }
    }
}

fn add(program: &mut Program, builtin: Builtin, name: &str, domain: &[SortId], codomain: SortId) {
    let name = program.words.intern(name);
    let sort = program.sorts.function(domain, codomain);
    if sort != SortId::UNKNOWN {
        program.builtin(builtin, name, sort);
    }
}
