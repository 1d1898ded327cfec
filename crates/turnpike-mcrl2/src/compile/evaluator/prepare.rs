//! Adds the symbols that stuck terms may contain even though the specification does not mention
//! them.

use crate::typed::{Builtin, Program, Sort, SortId};

/// Adds the built-in functions that evaluation may have to write down: `==` of fields for a stuck
/// `==` of structures, `<` for a stuck `>`, and so on. Without them such terms stay as they were
/// written, which is correct, but differs from what the mCRL2 tools print.
pub fn prepare(program: &mut Program) {
    // The name of variables without a name in the specification.
    program.words.intern("x");
    let truth = [SortId::BOOL, SortId::BOOL];
    for (builtin, name, domain) in
        [(Builtin::Not, "!", &truth[..1]), (Builtin::And, "&&", &truth[..]), (Builtin::Or, "||", &truth[..])]
    {
        add(program, builtin, name, domain, SortId::BOOL);
    }
    add(program, Builtin::Convert, "Nat2Pos", &[SortId::NAT], SortId::POS);
    // For counts of bags.
    let counts = [SortId::NAT, SortId::NAT];
    add(program, Builtin::Add, "+", &counts, SortId::NAT);
    add(program, Builtin::Min, "min", &counts, SortId::NAT);
    add(program, Builtin::Subtract, "-", &counts, SortId::INT);
    add(program, Builtin::Max, "max", &[SortId::NAT, SortId::INT], SortId::NAT);
    add(program, Builtin::If, "if", &[SortId::BOOL, SortId::NAT, SortId::NAT], SortId::NAT);
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
