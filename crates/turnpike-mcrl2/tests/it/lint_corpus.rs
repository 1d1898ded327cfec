//! Lints all public models: there is no panic, and there are few warnings.

use crate::public_models;

use turnpike_mcrl2::lint::lints;
use turnpike_mcrl2::syntax::parse_specification;
use turnpike_mcrl2::typed::check_specification;

#[test]
#[expect(clippy::print_stderr, reason = "says what was found")]
fn public_models_are_mostly_clean() {
    let Some(found) = public_models::read() else { return };
    let (mut warnings, mut noisy, mut checked) = (0, 0, 0);
    for (path, source) in &found {
        let (specification, _) = parse_specification(source);
        let (Some(program), _) = check_specification(&specification) else { continue };
        checked += 1;
        let start = std::time::Instant::now();
        let all = lints(&program);
        if start.elapsed().as_secs() > 0 {
            eprintln!("{}: {:?}", path.display(), start.elapsed());
        }
        for one in &all {
            let place = one.span.as_ref().expect("a place").range.start;
            let line = source[..place].lines().count();
            eprintln!("{}:{line}: {}", path.display(), one.message);
        }
        warnings += all.len();
        noisy += usize::from(!all.is_empty());
    }
    eprintln!("{checked} models, {warnings} warnings in {noisy} of them");
    assert!(noisy * 2 < checked, "most models are clean");
}
