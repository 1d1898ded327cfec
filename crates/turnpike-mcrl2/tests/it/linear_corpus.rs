//! Each specification of the corpus is linearised, or there is an error.

use crate::public_models;

use turnpike_mcrl2::lower::linearise;
use turnpike_mcrl2::syntax::parse_specification;
use turnpike_mcrl2::typed::check_specification;

#[test]
fn the_corpus_is_linearised() {
    let Some(root) = public_models::folder() else { return };
    let files = public_models::below(&root.join("models"));
    assert!(!files.is_empty(), "no specification below {}", root.display());
    let (mut linearised, mut failures) = (0, Vec::new());
    for file in &files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let (specification, _) = parse_specification(&text);
        let (Some(program), _) = check_specification(&specification) else { continue };
        match linearise(program) {
            Ok(process) => {
                assert!(!process.initial.is_empty(), "{name} has no component");
                linearised += 1;
            }
            Err(diagnostics) => {
                assert!(!diagnostics.is_empty(), "{name} fails without a word");
                failures.push(format!("{name}: {}", diagnostics[0].message));
            }
        }
    }
    assert!(linearised * 10 >= files.len() * 9, "most specifications are linearised: {failures:#?}");
}
