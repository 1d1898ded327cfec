//! Settings give constant maps other values.

use turnpike_model::Diagnostic;

use crate::syntax::{Span, parse_data_expression};
use crate::typed::{Equation, Expression, Program, SymbolId, SymbolKind};

/// Replaces the equations of a constant map by `name = text`. Errors without a place are about the
/// name, all others about the text.
pub(super) fn set(program: &mut Program, name: &str, text: &str) -> Result<(), Vec<Diagnostic>> {
    let symbol = constant(program, name).map_err(|error| vec![error])?;
    let (parsed, diagnostics) = parse_data_expression(text, &program.words);
    let Some(parsed) = parsed else { return Err(diagnostics) };
    let sort = program.symbol(symbol).sort;
    let right = program.check_expression(&parsed.tree, parsed.root, &[], Some(sort))?;
    let left = program.add_expression(Expression::Symbol(symbol), sort, Span::default());
    let mut equations = std::mem::take(&mut program.equations);
    equations.retain(|equation| *program.expression(equation.left) != Expression::Symbol(symbol));
    equations.push(Equation { variables: 0..0, condition: None, left, right, span: Span::default() });
    program.equations = equations;
    Ok(())
}

/// Looks up a constant map by name.
fn constant(program: &Program, name: &str) -> Result<SymbolId, Diagnostic> {
    let is_constant = |symbol: SymbolId| {
        program.symbol(symbol).kind == SymbolKind::Map && program.signature(symbol).0.is_empty()
    };
    let named = program.words.find(name).map_or(&[][..], |word| program.symbols_named(word));
    match *named.iter().copied().filter(|&symbol| is_constant(symbol)).collect::<Vec<_>>() {
        [symbol] => Ok(symbol),
        [_, _, ..] => Err(Diagnostic::error(format!("{name} is declared with several sorts"))
            .help("only a map that is declared once can be set")),
        [] if !named.is_empty() => Err(Diagnostic::error(format!("`{name}` is not a constant map"))
            .help("a map without arguments can be set, such as `map N: Nat;`")),
        [] => {
            let names = program
                .symbols
                .iter()
                .enumerate()
                .filter(|(_, symbol)| {
                    symbol.kind == SymbolKind::Map && program.sorts.signature(symbol.sort).0.is_empty()
                })
                .map(|(_, symbol)| program.text(symbol.name));
            Err(Diagnostic::error(format!("the specification has no constant map `{name}`"))
                .suggest_or_list(name, names, "its constant maps are")
                .help_if_none("it has no constant maps at all"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_specification;
    use crate::typed::check_specification;

    fn program(text: &str) -> Program {
        let (specification, diagnostics) = parse_specification(text);
        assert_eq!(diagnostics, []);
        check_specification(&specification).0.expect("no mistakes")
    }

    const TEXT: &str =
        "map N, Max: Nat; f: Nat -> Nat; var n: Nat; eqn N = 3; Max = N + 1; f(n) = n; init delta;";

    #[test]
    fn equations_are_replaced() {
        let mut program = program(TEXT);
        set(&mut program, "N", "f(2) + 7").expect("it fits");
        assert_eq!(program.equations.len(), 3);
        let last = program.equations.last().expect("three");
        assert!(matches!(program.expression(last.left), Expression::Symbol(_)));
        assert_eq!(program.sort_of(last.right), program.sort_of(last.left));
        // A second setting replaces the first one.
        set(&mut program, "N", "2").expect("it fits");
        assert_eq!(program.equations.len(), 3);
    }

    #[test]
    fn mistakes_are_explained() {
        let mistake = |name: &str, text: &str| {
            let errors = set(&mut program(TEXT), name, text).expect_err("a mistake");
            (errors[0].to_string(), errors[0].span.as_ref().map(|span| span.range.clone()))
        };
        assert_eq!(
            mistake("Maxx", "1"),
            ("the specification has no constant map `Maxx` (did you mean `Max`?)".to_owned(), None)
        );
        assert!(mistake("f", "1").0.starts_with("`f` is not a constant map"));
        assert_eq!(mistake("N", "2 + true").1, Some(0..8));
        assert_eq!(mistake("N", "1 + zz").1, Some(4..6));
        assert!(mistake("N", "0 - 1").0.contains("Nat"), "{:?}", mistake("N", "0 - 1"));
        assert_eq!(mistake("N", "1 +").1, Some(3..3));
    }
}
