//! What the waist asks of every model.

mod common;

use common::{build, check_promises};

#[test]
fn every_model_keeps_the_contract() {
    for info in turnpike_builtin::catalogue() {
        let model = build(info.name, &[]);
        check_promises(&*model, 3000);
        assert!(model.info().measures.len() >= 2, "{}", info.name);
        assert!(model.info().measures.iter().all(|measure| !measure.doc.is_empty()));
        assert!(!model.info().suggestions.is_empty(), "{}", info.name);
    }
}

#[test]
fn the_ends_of_the_ranges_work() {
    for info in turnpike_builtin::catalogue() {
        for parameter in info.parameters {
            for value in [parameter.range.0, parameter.range.1] {
                check_promises(&*build(info.name, &[(parameter.name, value)]), 3);
            }
        }
    }
}
