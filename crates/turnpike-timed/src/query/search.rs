//! Translates queries into searches: what to look for, and what finding it means.

use turnpike_model::Diagnostic;

use crate::network::Network;
use crate::query::Names;
use crate::syntax::uppaal::parse_query;
use crate::syntax::uppaal::tree::Formula;

/// The search that answers a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What to look for, in the syntax of `--find`.
    pub objective: String,
    /// Whether finding it satisfies the query; otherwise the query is satisfied if nothing is
    /// found.
    pub satisfied_if_found: bool,
}

impl Asked {
    /// Translates a query over these names. Spans of errors count bytes of the text.
    pub fn new(names: &Names, network: &Network, text: &str) -> Result<Asked, Diagnostic> {
        names.query(network, text)?;
        let (objective, satisfied_if_found) = match parse_query(text)? {
            Formula::Possibly(condition) => (format!("state {condition}"), true),
            Formula::Invariantly(condition) => (format!("state not ({condition})"), false),
            Formula::PotentiallyAlways(condition) => (format!("accepting E[] {condition}"), true),
            Formula::Eventually(condition) => (format!("accepting E[] not ({condition})"), false),
            Formula::LeadsTo(premise, conclusion) => {
                (format!("accepting not ({premise} --> {conclusion})"), false)
            }
            Formula::Extremum { .. } => {
                return Err(Diagnostic::error("sup, inf and bounds are measured, not searched for")
                    .help("use E<> with a comparison to check whether a value is reached"));
            }
        };
        Ok(Asked { objective, satisfied_if_found })
    }
}

/// The texts of what `sup`, `inf` or `bounds` measure, in order; empty for other queries.
pub fn measured(text: &str) -> Result<Vec<String>, Diagnostic> {
    Ok(match parse_query(text)? {
        Formula::Extremum { expressions, .. } => {
            expressions.iter().map(|expression| expression.to_string()).collect()
        }
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liveness;
    use crate::uppaal::{self, Format};

    #[test]
    fn queries_become_objectives() {
        let text =
            "clock x; int n; process P() { state a, b; init a; trans a -> b { guard x > 2; }; } system P;";
        let (network, names, _) = uppaal::read(text, Format::Xta, &[]).expect("a model");
        let asked = |text: &str| Asked::new(&names, &network, text);
        for (query, objective, satisfied_if_found) in [
            ("E<> P.b and x < 3", "state P.b && x < 3", true),
            ("A[] not deadlock", "state not (!deadlock)", false),
            ("A[] P.a imply n == 0", "state not (P.a imply n == 0)", false),
            ("E[] P.a", "accepting E[] P.a", true),
            ("A<> P.b", "accepting E[] not (P.b)", false),
            ("P.a --> P.b && x > 2", "accepting not (P.a --> P.b && x > 2)", false),
        ] {
            let expected = Asked { objective: objective.to_owned(), satisfied_if_found };
            assert_eq!(asked(query), Ok(expected.clone()), "{query}");
            let (keyword, rest) = objective.split_once(' ').expect("a keyword");
            match keyword {
                "state" => assert!(names.condition(&network, rest).is_ok(), "{rest} can be read again"),
                _ => assert!(
                    liveness::Formula::is_one(rest)
                        && liveness::Formula::read(&names, &network, rest).is_ok()
                ),
            }
        }
        assert!(asked("sup: x").is_err_and(|error| error.message.contains("sup")));
        assert!(asked("E<> P.c").is_err());
    }
}
