//! The inputs of the fuzz targets, without the fuzzer.

use std::path::Path;

use turnpike_mcrl2::syntax::{
    Parentheses, Symbols, parse_data_expression, parse_formula, parse_specification,
};
use turnpike_mcrl2::typed::{Program, check_specification};

#[test]
fn every_input_is_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/mcrl2_parser");
    let mut read = 0;
    let mut refused = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        let source = String::from_utf8_lossy(&bytes);
        let (specification, diagnostics) = parse_specification(&source);
        for diagnostic in &diagnostics {
            let range = diagnostic.span.clone().expect("every error has a place").range;
            assert!(source.get(range).is_some(), "{}: {diagnostic:?}", path.display());
        }
        if diagnostics.is_empty() {
            read += 1;
            let all = specification.text(Parentheses::All);
            for parentheses in [Parentheses::Needed, Parentheses::All] {
                let (again, diagnostics) = parse_specification(&specification.text(parentheses));
                assert_eq!(diagnostics, [], "{}", path.display());
                assert!(again.text(Parentheses::All) == all, "{}", path.display());
            }
        } else {
            refused += 1;
        }
        parse_data_expression(&source, &Symbols::default());
    }
    assert!(read >= 10 && refused >= 10, "{read} read, {refused} refused");
}

#[test]
fn every_input_is_checked() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut programs = 0;
    let mut refused = 0;
    for corpus in ["mcrl2_checker", "mcrl2_parser"] {
        for entry in std::fs::read_dir(corpora.join(corpus)).expect("the corpus") {
            let path = entry.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("a file");
            let source = String::from_utf8_lossy(&bytes);
            let (specification, _) = parse_specification(&source);
            let (program, diagnostics) = check_specification(&specification);
            for diagnostic in &diagnostics {
                let range = diagnostic.span.clone().expect("every message has a place").range;
                assert!(source.get(range).is_some(), "{}: {diagnostic:?}", path.display());
            }
            if program.is_some() { programs += 1 } else { refused += 1 }
        }
    }
    assert!(programs >= 10 && refused >= 8, "{programs} programs, {refused} refused");
}

/// The seeds use actions that an empty program does not declare.
#[test]
fn every_formula_is_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/formula_parser");
    let (mut valid, mut undeclared, mut refused) = (0, 0, 0);
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        let source = String::from_utf8_lossy(&bytes);
        let (file, mut errors) = parse_formula(&source, &Symbols::default());
        match file {
            None => {
                assert!(!errors.is_empty(), "{}: a formula, or errors", path.display());
                refused += 1;
            }
            Some(file) => {
                errors = Program::default().check_formula(&file, false).err().unwrap_or_default();
                if errors.is_empty() { valid += 1 } else { undeclared += 1 }
            }
        }
        for diagnostic in &errors {
            let range = diagnostic.span.clone().expect("every message has a place").range;
            assert!(source.get(range).is_some(), "{}: {diagnostic:?}", path.display());
        }
    }
    let counts = (valid, undeclared, refused);
    assert!(valid >= 3 && undeclared >= 4 && refused >= 4, "{counts:?} valid, undeclared, refused");
}
