//! What the catalogue says of its models, and of mistakes in their names and parameters.

use turnpike_builtin::{build, catalogue};

fn error(name: &str, settings: &[(&str, &str)]) -> String {
    let settings: Vec<(String, String)> =
        settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    match build(name, &settings) {
        Ok(model) => panic!("{} was made", model.info().name),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_are_explained() {
    assert_eq!(
        error("philosopher", &[]),
        "there is no built-in model `philosopher`; did you mean `philosophers`?"
    );
    assert!(error("zzzzzz", &[]).starts_with("there is no built-in model `zzzzzz`; it is one of diamond, "));
    assert_eq!(
        error("scc", &[("sizes", "3")]),
        "`builtin:scc` has no parameter `sizes`; did you mean `size`?"
    );
    assert_eq!(
        error("scc", &[("colour", "3")]),
        "`builtin:scc` has no parameter `colour`; it is one of number, size"
    );
    assert_eq!(
        error("diamond", &[("n", "many")]),
        "`many` is not a number: `n` of `builtin:diamond` is a whole number from 1 to 1000000"
    );
    for value in ["0", "1000001", "99999999999999999999999"] {
        assert_eq!(
            error("diamond", &[("n", value)]),
            format!("{value} is out of range: `n` of `builtin:diamond` is a whole number from 1 to 1000000")
        );
    }
    for value in ["", "-1", "+3", "1.5", "_"] {
        assert!(error("diamond", &[("n", value)]).contains("is not a number"), "{value}");
    }
}

#[test]
fn names_contain_all_parameters() {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let model = build("scc", &[set("size", "7"), set("size", " 1_000 ")]).expect("good settings");
    assert_eq!(model.info().name, "builtin:scc(number=5,size=1000)");
    let other = build("scc", &[]).expect("defaults");
    assert_ne!(model.info().fingerprint, other.info().fingerprint);
}

#[test]
fn the_catalogue_is_consistent() {
    for info in catalogue() {
        let model = build(info.name, &[]).expect("defaults are in range");
        assert!(model.info().name.starts_with(&format!("builtin:{}(", info.name)));
        for text in [info.summary, info.details] {
            assert!(text.ends_with('.'), "{}: {text}", info.name);
        }
        for parameter in info.parameters {
            assert!((parameter.range.0..=parameter.range.1).contains(&parameter.default));
            assert!(!parameter.doc.is_empty());
        }
    }
}
