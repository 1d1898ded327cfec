//! All public UPPAAL models and query files are parsed, except those with unsupported features; and
//! printing and parsing again yields the same.

use std::path::{Path, PathBuf};

use turnpike_timed::syntax::uppaal::{Parsed, parse_query, parse_xml, parse_xta, split_queries};

const SIMULATE: &str = "simulation queries (`simulate`) are not supported";

/// Models that must be rejected, with the message.
const REFUSED: [(&str, &str); 3] = [
    ("uppaal-xml/demos/lsc_example.xml", "live sequence charts (`lsc`) are not supported"),
    ("uppaal-xml/utap-tests/external_fn.xml", "functions of external libraries (`import`) are not supported"),
    // A stray character in the list of locations.
    ("uppaal-xta/suite/critical/critical-2-25-50.xta", "expected the name of a location, found `=`"),
];

/// Models with unsupported queries.
const REFUSED_QUERIES: [(&str, &str); 2] = [
    ("uppaal-xml/utap-tests/function_calls.xml", SIMULATE),
    ("uppaal-xml/utap-tests/simpleHandshakeSystem.xml", SIMULATE),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn public_models_and_queries_are_read() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let root = corpus.path("models/timed");
    let mut all = Vec::new();
    files(&root, &mut all);
    let (mut models, mut queries) = (0, 0);
    let mut wrong = Vec::new();
    for path in all {
        let name = path.strip_prefix(&root).expect("inside").to_string_lossy().replace('\\', "/");
        let read: fn(&str) -> Parsed = match path.extension().and_then(|extension| extension.to_str()) {
            Some("xml") => parse_xml,
            Some("xta" | "ta") => parse_xta,
            Some("q") => {
                let text = std::fs::read_to_string(&path).expect("a query file");
                for query in split_queries(&text).expect("queries") {
                    queries += 1;
                    if let Err(error) = parse_query(&query.text) {
                        wrong.push(format!("{name}: {}: {error}", query.text));
                    }
                }
                continue;
            }
            _ => continue,
        };
        models += 1;
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a model")).into_owned();
        let refused = REFUSED.iter().find(|(refused, _)| *refused == name);
        match (read(&text), refused) {
            (Ok((model, _)), None) => {
                let printed = model.to_string();
                match parse_xta(&printed) {
                    Ok((again, _)) if again.to_string() == printed => {}
                    other => wrong.push(format!("{name}: printed as {printed}, read as {other:?}")),
                }
                for query in &model.queries {
                    queries += 1;
                    let expected = REFUSED_QUERIES.iter().find(|(refused, _)| *refused == name);
                    match (parse_query(&query.text), expected) {
                        (Ok(_), None) => {}
                        (Err(error), Some((_, message))) if error.message == *message => {}
                        (other, _) => wrong.push(format!("{name}: {}: {other:?}", query.text)),
                    }
                }
            }
            (Err(errors), Some((_, message))) if errors.iter().any(|error| error.message == *message) => {}
            (Ok(_), Some(_)) => wrong.push(format!("{name}: should be refused")),
            (Err(errors), _) => wrong.push(format!("{name}: {} at {:?}", errors[0], errors[0].span)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(models > 100 && queries > 50, "{models} models, {queries} queries");
}
