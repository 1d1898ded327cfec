//! The texts of linear processes are specifications, with the same number of summands.

use crate::public_models;

use turnpike_mcrl2::lower::{LinearProcess, linearise};
use turnpike_mcrl2::syntax::parse_specification;
use turnpike_mcrl2::typed::{Program, check_specification};
use turnpike_model::diagnostic::Severity;

fn read(source: &str) -> Result<Program, String> {
    let (specification, diagnostics) = parse_specification(source);
    let wrong: Vec<String> = diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Error)
        .map(|one| one.message.clone())
        .collect();
    if !wrong.is_empty() {
        return Err(wrong.join("; "));
    }
    let (program, diagnostics) = check_specification(&specification);
    program.ok_or_else(|| {
        let all = diagnostics.iter().filter(|one| one.severity == Severity::Error).take(3);
        let at = |one: &turnpike_model::diagnostic::Diagnostic| {
            let range = one.span.as_ref().map_or(0..0, |span| span.range.clone());
            let line = source[..range.start].lines().count();
            format!("line {line}: {} at {}", one.message, &source[range])
        };
        all.map(at).collect::<Vec<_>>().join("; ")
    })
}

fn linear(source: &str) -> Option<LinearProcess> {
    linearise(read(source).ok()?).ok()
}

#[test]
fn small_specifications_read_back() {
    for (source, summands) in [
        ("act a, b; init a . b . delta;", 2),
        ("act a: Nat; proc P(n: Nat) = (n < 3) -> a(n) . P(n + 1) <> a(0) . delta; init P(0);", 2),
        ("act a, b, c: Nat; init allow({c}, comm({a | b -> c}, (sum n: Nat. a(n) . delta) || b(3) . delta));", 1),
        ("act a: Bool; proc P = sum b: Bool. a(b) . P; init P;", 1),
        ("act a: Bool; b; init b . dist x: Bool[if(x, 1/3, 2/3)] . a(x) . delta;", 2),
        (
            "sort S = struct A | B(x: Nat); map f: S -> Nat; var n: Nat; eqn f(A) = 0; f(B(n)) = n;
             act a: S; t; proc P(s: S) = a(s) . P(B(f(s) + 1)) + (forall n: Nat. n <= f(s) => n < 3) -> t . P(A); init P(A);",
            2,
        ),
        ("act a; init a;", 2),
    ] {
        let process = linear(source).unwrap_or_else(|| panic!("linear: {source}"));
        assert_eq!(process.summands.len(), summands, "{source}\n{}", process.text());
        let text = process.text();
        let again = read(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let again = linearise(again).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        assert_eq!(again.summands.len(), summands, "{text}\n{}", again.text());
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "says what was tested")]
fn public_models_read_back() {
    let Some(found) = public_models::read() else { return };
    let (mut checked, mut wrong) = (0, Vec::new());
    for (path, source) in &found {
        let Some(process) = linear(source) else { continue };
        if process.summands.len() > 5_000 {
            continue;
        }
        checked += 1;
        if let Err(error) = read(&process.text()) {
            wrong.push(format!("{}: {error}", path.display()));
        }
    }
    eprintln!("{checked} of {} models", found.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
