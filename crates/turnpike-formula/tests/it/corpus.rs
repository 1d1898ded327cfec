//! The public formulas beside the public specifications, with what the mCRL2 tools answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use turnpike_formula::{Decision, solve};
use turnpike_mcrl2::explore::{LabelSource, Mcrl2Model, Options};
use turnpike_model::Model;

/// What came of one pair.
fn answer(spec: &str, formula: &str, seconds: f64, states: u64) -> Result<String, String> {
    let (model, _) = Mcrl2Model::new("spec", spec, &Options::default())
        .map_err(|refusal| format!("refused: {}", refusal.diagnostics[0]))?;
    let model = Arc::new(model);
    let (requirement, _) =
        model.requirement(formula, LabelSource::Own).map_err(|all| format!("not typed: {}", all[0]))?;
    let begun = Instant::now();
    let limit = Duration::from_secs_f64(seconds);
    let outcome = solve(&*model as &dyn Model, &requirement, &mut |progress| {
        begun.elapsed() > limit || progress.states > states
    });
    let outcome = outcome.map_err(|error| format!("error: {error}"))?;
    Ok(match outcome.decision {
        Decision::Holds => "true".to_owned(),
        Decision::Violated => "false".to_owned(),
        Decision::Open => format!("open after {} states", outcome.progress.states),
    })
}

/// Every pair that has an answer, within a small limit: what we answer is what the tools answer. With
/// `FORMULA_SECONDS` set, the limit is that many seconds a pair, and every pair is printed.
#[test]
#[allow(clippy::print_stderr, reason = "the long list is for people")]
fn public_formulas_have_the_known_verdicts() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let all = std::env::var("FORMULA_SECONDS").ok().and_then(|text| text.parse::<f64>().ok());
    let list = corpus.read("oracle/formulas.jsonl");
    let (mut same, mut open) = (0, 0);
    for line in list.lines() {
        let pair: serde_json::Value = serde_json::from_str(line).expect("an object a line");
        let field = |name: &str| pair[name].as_str().unwrap_or_default().to_owned();
        let (outcome, seconds) = (field("outcome"), pair["seconds"].as_f64());
        let known = outcome == "true" || outcome == "false";
        if all.is_none() && !(known && seconds.is_some_and(|seconds| seconds < 0.2)) {
            continue;
        }
        let read = |name: &str| corpus.read(format!("models/mcrl2/{}", field(name)));
        let begun = Instant::now();
        let (limit, states) = all.map_or((2.0, 3_000), |seconds| (seconds, u64::MAX));
        let found = answer(&read("spec"), &read("formula"), limit, states);
        let text = found.clone().unwrap_or_else(|error| error);
        if all.is_some() {
            let took = begun.elapsed().as_secs_f64();
            eprintln!("{outcome}\t{seconds:?}\t{text}\t{took:.3}\t{}\t{}", field("formula"), field("spec"));
        }
        match text.as_str() {
            "true" | "false" if known => {
                assert_eq!(text, outcome, "{} on {}", field("formula"), field("spec"));
                same += 1;
            }
            "true" | "false" => assert!(outcome.starts_with("pbessolve"), "{text}: {line}"),
            _ if known && all.is_none() => {
                assert!(found.is_ok(), "{text}: {line}");
                open += 1;
            }
            _ => {}
        }
    }
    if all.is_none() {
        assert!(same >= 40 && open <= 8, "{same} the same, {open} not decided within the limit");
    }
}
