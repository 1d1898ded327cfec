//! Verdicts on formulas as the page shows them, with what shows them.

use serde_json::{Value, json};
use turnpike_lts::trace::{Situation, automata_chart};
use turnpike_model::{Automaton, AutomatonEdge, AutomatonLocation};
use turnpike_session::{Evidence, FormulaAnswer, FormulaReply, Shape, explain_evidence};

use crate::searches::{Follower, diagnostic_json, problem_json};

/// Evidence with branches that has more states or steps is not drawn.
const MOST_STATES: usize = 60;
const MOST_STEPS: usize = 150;

/// A formula with its verdict.
pub(crate) async fn answer_json(answer: &FormulaAnswer, follower: &Follower) -> Value {
    let reply = match &answer.reply {
        Ok(reply) => reply_json(answer, reply, follower).await,
        Err(problem) => problem_json(problem),
    };
    json!({
        "formula": answer.formula.name(),
        "text": answer.formula.text.trim(),
        "seconds": answer.seconds,
        "reply": reply,
    })
}

async fn reply_json(answer: &FormulaAnswer, reply: &FormulaReply, follower: &Follower) -> Value {
    let verdict = match reply.holds {
        Some(true) => "holds",
        Some(false) => "violated",
        None => "inconclusive",
    };
    let mut json = json!({
        "verdict": verdict,
        "reason": reply.reason,
        "fragment": reply.fragment.to_string(),
        "strategy": reply.strategy,
        "states": reply.progress.states,
        "met": reply.progress.considered,
        "warnings": reply.warnings.iter().map(diagnostic_json).collect::<Vec<_>>(),
    });
    // Where all of the system was explored, that is the evidence.
    let decisive = reply.holds.is_some() && reply.fragment.path_refutes() != reply.holds;
    if let Some(evidence) = reply.evidence.as_ref().filter(|evidence| decisive && !evidence.edges.is_empty())
    {
        json["sentence"] = explain_evidence(evidence, &answer.formula.text).into();
        json["evidence"] = evidence_json(evidence, follower).await;
    }
    json
}

async fn evidence_json(evidence: &Evidence, follower: &Follower) -> Value {
    if evidence.shape() == Shape::Branching {
        let drawable = evidence.states.len() <= MOST_STATES && evidence.edges.len() <= MOST_STEPS;
        return json!({
            "kind": "strategy",
            "states": evidence.states.len(),
            "steps": evidence.edges.len(),
            "picture": drawable.then(|| picture(evidence)),
            "aut": evidence.to_aut(),
        });
    }
    let trace = follower.session.evidence_trace(evidence).ok().flatten();
    let start = match (&trace, evidence.shape()) {
        (Some(trace), _) => trace.loop_start,
        (None, Shape::Lasso { stem, .. }) => Some(stem),
        (None, _) => None,
    };
    let labels: Vec<&str> = evidence.path().iter().map(|edge| edge.label.as_str()).collect();
    let visit = match trace {
        Some(trace) => follower.visit(trace).await,
        None => Value::Null,
    };
    json!({ "kind": "path", "length": labels.len(), "labels": labels, "loop": start, "visit": visit })
}

/// A part of the system as a picture: its states are those of one automaton.
fn picture(evidence: &Evidence) -> String {
    let state =
        |number: usize| AutomatonLocation { name: number.to_string(), ..AutomatonLocation::default() };
    let edge = |edge: &turnpike_session::Edge| AutomatonEdge {
        from: edge.from,
        to: edge.to,
        action: edge.label.clone(),
        choices: 1,
        ..AutomatonEdge::default()
    };
    let automaton = Automaton {
        name: "evidence".to_owned(),
        locations: (0..evidence.states.len()).map(state).collect(),
        initial: vec![0],
        edges: evidence.edges.iter().map(edge).collect(),
    };
    automata_chart(&[automaton], &[0], &Situation::default(), None).element()
}
