//! Prints the data types and actions of a program.

use crate::typed::expression::text;
use crate::typed::{Expression, ExpressionId, Program, Sort, SortId, Struct, SymbolKind, VariableId};

/// The stack that must be left for a step of the walk over a sort, and the size of a new segment.
const STACK: (usize, usize) = (64 * 1024, 1024 * 1024);

/// Sorts, functions, equations and actions, one declaration per line. `extra` are additional
/// actions without data.
pub(super) fn declarations(program: &Program, extra: &[&str]) -> String {
    let mut out = String::new();
    let line = |out: &mut String, keyword: &str, what: String| {
        out.push_str(&format!("{keyword} {what};\n"));
    };
    for basic in &program.sorts.basics {
        line(&mut out, "sort", program.text(basic.name).to_owned());
    }
    for structure in &program.sorts.structs {
        if let Some(name) = structure.name {
            line(
                &mut out,
                "sort",
                format!("{} = {}", program.text(name), structure_text(program, structure)),
            );
        }
    }
    for (kind, keyword) in [(SymbolKind::Constructor, "cons"), (SymbolKind::Map, "map")] {
        for symbol in program.symbols.iter().filter(|one| one.kind == kind) {
            line(
                &mut out,
                keyword,
                format!("{}: {}", program.text(symbol.name), sort_text(program, symbol.sort, false)),
            );
        }
    }
    let mut rest = &program.equations[..];
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|one| one.variables == first.variables).count();
        let variables: Vec<VariableId> = first.variables().collect();
        if !variables.is_empty() {
            let name = |one| program.text(program.variable(one).name).to_owned();
            line(&mut out, "var", variables_text(program, &variables, "; ", &name));
        }
        for (index, equation) in rest[..count].iter().enumerate() {
            let condition =
                equation.condition.map_or(String::new(), |one| format!("({}) -> ", text(program, one)));
            let sides = format!("{} = {}", side(program, equation.left), side(program, equation.right));
            line(&mut out, if index == 0 { "eqn" } else { "   " }, condition + &sides);
        }
        rest = &rest[count..];
    }
    for action in &program.actions {
        let sorts: Vec<String> =
            action.sorts.iter().map(|&one| sort_text(program, one, action.sorts.len() > 1)).collect();
        let separator = if sorts.is_empty() { "" } else { ": " };
        line(&mut out, "act", format!("{}{separator}{}", program.text(action.name), sorts.join(" # ")));
    }
    extra.iter().for_each(|name| line(&mut out, "act", (*name).to_owned()));
    out
}

/// A side of an equation, in parentheses if it binds more weakly than `=`.
fn side(program: &Program, id: ExpressionId) -> String {
    match program.expression(id) {
        Expression::Binder { .. } | Expression::Where { .. } => format!("({})", text(program, id)),
        _ => text(program, id),
    }
}

/// Declarations such as `x: S, y: T`, with a separator.
pub(super) fn variables_text(
    program: &Program,
    variables: &[VariableId],
    separator: &str,
    name: &dyn Fn(VariableId) -> String,
) -> String {
    let texts: Vec<String> = variables
        .iter()
        .map(|&one| format!("{}: {}", name(one), sort_text(program, program.variable(one).sort, false)))
        .collect();
    texts.join(separator)
}

/// Prints a sort in full, even if it has no name.
pub(super) fn sort_text(program: &Program, sort: SortId, enclose: bool) -> String {
    stacker::maybe_grow(STACK.0, STACK.1, || match program.sorts.get(sort) {
        Sort::Container(container, element) => {
            format!("{}({})", container.text(), sort_text(program, *element, false))
        }
        Sort::Function { domain, codomain } => {
            let domain: Vec<String> = domain.iter().map(|&one| sort_text(program, one, true)).collect();
            let whole = format!("{} -> {}", domain.join(" # "), sort_text(program, *codomain, false));
            if enclose { format!("({whole})") } else { whole }
        }
        Sort::Struct(index) => {
            let structure = &program.sorts.structs[*index as usize];
            match structure.name {
                Some(name) => program.text(name).to_owned(),
                None if enclose => format!("({})", structure_text(program, structure)),
                None => structure_text(program, structure),
            }
        }
        _ => program.sort_text(sort),
    })
}

fn structure_text(program: &Program, structure: &Struct) -> String {
    let alternatives = structure.constructors.iter().map(|one| {
        let mut whole = program.text(one.name).to_owned();
        if !one.fields.is_empty() {
            let fields = one.fields.iter().map(|field| {
                let name = field.projection.map_or(String::new(), |name| format!("{}: ", program.text(name)));
                name + &sort_text(program, field.sort, false)
            });
            whole.push_str(&format!("({})", fields.collect::<Vec<_>>().join(", ")));
        }
        if let Some(name) = one.recogniser {
            whole.push('?');
            whole.push_str(program.text(name));
        }
        whole
    });
    format!("struct {}", alternatives.collect::<Vec<_>>().join(" | "))
}
