//! Results for systems of continuous integration: JUnit and SARIF.

use clap::ValueEnum;
use serde_json::{Value, json};
use turnpike_lts::escape_xml;
use turnpike_model::{Diagnostic, Severity};
use turnpike_session::{
    Answer, Conclusion, Findings, FormulaAnswer, FormulaReply, Goals, Location, Objective, Outcome, Reply,
    Report, Verdict, WitnessReport,
};

use super::VERSION;
use crate::commands::search::formulas;
use crate::options::spell_all;

/// A format that systems of continuous integration read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Test cases, as XML.
    Junit,
    /// Results of static analysis, as JSON.
    Sarif,
}

/// One thing that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What was asked: a query, an objective, `check`.
    pub(crate) name: String,
    /// The model.
    pub(crate) model: String,
    pub(crate) seconds: f64,
    pub(crate) result: CaseResult,
    /// Where, if that is known better than by the model.
    pub(crate) place: Option<Place>,
    /// Lines that explain it.
    pub(crate) details: Vec<String>,
}

impl Case {
    /// A case without anything to say.
    pub(crate) fn passed(name: &str, model: &str) -> Self {
        Case {
            name: name.to_owned(),
            model: model.to_owned(),
            seconds: 0.0,
            result: CaseResult::Passed,
            place: None,
            details: Vec::new(),
        }
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: Option<u64>,
}

/// How a case ended, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaseResult {
    Passed,
    /// Worth a look, but not a failure.
    Warned(String),
    Failed(String),
    /// Nothing is known: a limit, a lossy store.
    Inconclusive(String),
    Skipped(String),
    /// The request or the model is wrong.
    Error(String),
}

impl CaseResult {
    fn of(conclusion: Conclusion, message: String) -> Self {
        match conclusion {
            Conclusion::Passed => CaseResult::Passed,
            Conclusion::Failed => CaseResult::Failed(message),
            Conclusion::Inconclusive => CaseResult::Inconclusive(message),
            Conclusion::Skipped => CaseResult::Skipped(message),
            Conclusion::Wrong => CaseResult::Error(message),
        }
    }

    /// The rule of SARIF, its level, and the message; nothing of what passed.
    fn finding(&self) -> Option<(&'static str, &'static str, &str)> {
        match self {
            CaseResult::Passed => None,
            CaseResult::Warned(message) => Some(("warning", "warning", message)),
            CaseResult::Failed(message) => Some(("failed", "error", message)),
            CaseResult::Inconclusive(message) => Some(("inconclusive", "warning", message)),
            CaseResult::Skipped(message) => Some(("skipped", "note", message)),
            CaseResult::Error(message) => Some(("error", "error", message)),
        }
    }
}

/// The rules of SARIF, with what they mean.
const RULES: [(&str, &str); 5] = [
    ("failed", "The result is not the expected one"),
    ("inconclusive", "Nothing was found, but not everything was covered"),
    ("skipped", "The query is not supported"),
    ("error", "The request or the model is wrong"),
    ("warning", "The model is odd"),
];

/// The cases of a search: one for each query, one for each objective if all were looked for, or one for
/// all objectives.
pub(crate) fn cases_of(report: &Report, verdict: &str, goals: &Goals) -> Vec<Case> {
    match &report.outcome {
        Outcome::Search(findings) => {
            let each = findings.of_each(goals);
            if !each.is_empty() {
                return each
                    .into_iter()
                    .map(|(objective, verdict)| {
                        case_of_objective(report, findings, objective, verdict, goals)
                    })
                    .collect();
            }
            let objectives: Vec<&str> =
                findings.objectives.iter().map(|objective| objective.text()).collect();
            let witness = findings.best_witnesses().first();
            vec![Case {
                name: objectives.join("; "),
                model: report.model.clone(),
                seconds: report.seconds,
                result: CaseResult::of(report.conclusion, verdict.to_owned()),
                place: witness.and_then(|witness| place_of(findings, witness)),
                details: witness.map(|witness| lines_of(findings, witness)).unwrap_or_default(),
            }]
        }
        Outcome::Queries(answers) => answers.iter().map(|answer| case_of(report, answer)).collect(),
        Outcome::Formulas(answers) => {
            answers.iter().flat_map(|answer| cases_of_formula(report, answer)).collect()
        }
    }
}

/// One of several objectives.
fn case_of_objective(
    report: &Report,
    findings: &Findings,
    objective: &Objective,
    verdict: Verdict,
    goals: &Goals,
) -> Case {
    let witnesses = findings.runs.iter().flat_map(|run| run.witnesses.iter().chain(&run.witness));
    let witness = witnesses.min_by_key(|one| (one.objective != objective.text(), one.length));
    let witness = witness.filter(|one| one.objective == objective.text());
    let message = match verdict {
        Verdict::Found => "found",
        Verdict::None => "none",
        Verdict::Inconclusive | Verdict::Measured => "inconclusive",
    };
    let conclusion = Conclusion::of_search(verdict, findings.scope.is_some(), goals);
    Case {
        name: objective.text().to_owned(),
        model: report.model.clone(),
        seconds: 0.0,
        result: CaseResult::of(conclusion, message.to_owned()),
        place: witness.and_then(|witness| place_of(findings, witness)),
        details: witness.map(|witness| lines_of(findings, witness)).unwrap_or_default(),
    }
}

fn case_of(report: &Report, answer: &Answer) -> Case {
    let message = match &answer.reply {
        Ok(Reply::Searched { satisfied: Some(true), .. }) => "satisfied".to_owned(),
        Ok(Reply::Searched { satisfied: Some(false), .. }) => "not satisfied".to_owned(),
        Ok(Reply::Searched { findings, .. }) => {
            let stop = findings.runs.first().map_or("interrupted", |run| run.stop.describe());
            format!("inconclusive: {stop}")
        }
        Ok(Reply::Measured(extremes)) => extremes.comparisons().join(", "),
        Err(problem) => spell_all(&problem.to_string()),
    };
    Case {
        name: answer.query.text.trim().to_owned(),
        model: report.model.clone(),
        seconds: answer.seconds,
        result: CaseResult::of(answer.conclusion, message),
        place: None,
        details: answer.findings().map(witness_lines).unwrap_or_default(),
    }
}

/// The verdict on a formula, and the warnings about it.
fn cases_of_formula(report: &Report, answer: &FormulaAnswer) -> Vec<Case> {
    let warnings = answer.reply.iter().flat_map(|reply| &reply.warnings).collect::<Vec<_>>();
    let origin = answer.formula.file.as_deref().unwrap_or_default();
    let name = answer.formula.name();
    let mut cases = vec![case_of_formula(report, answer)];
    cases.extend(cases_of_diagnostics(name, origin, Some(&answer.formula.text), &warnings));
    cases
}

fn case_of_formula(report: &Report, answer: &FormulaAnswer) -> Case {
    let message = match &answer.reply {
        Ok(reply) => match &reply.reason {
            Some(reason) => format!("inconclusive: {reason}"),
            None => formulas::word(answer).to_owned(),
        },
        Err(problem) => spell_all(&problem.to_string()),
    };
    let steps = match &answer.reply {
        Ok(FormulaReply { evidence: Some(evidence), .. }) => evidence.path(),
        _ => Vec::new(),
    };
    Case {
        name: answer.formula.name().to_owned(),
        model: report.model.clone(),
        seconds: answer.seconds,
        result: CaseResult::of(answer.conclusion, message),
        place: answer.formula.file.clone().map(|file| Place { file, line: None }),
        details: steps.iter().enumerate().map(|(at, edge)| format!("{} {}", at + 1, edge.label)).collect(),
    }
}

/// The steps of the best witness.
fn witness_lines(findings: &Findings) -> Vec<String> {
    findings.best_witnesses().first().map(|witness| lines_of(findings, witness)).unwrap_or_default()
}

fn lines_of(findings: &Findings, witness: &WitnessReport) -> Vec<String> {
    match findings.incident(witness) {
        Some(incident) => incident.report(super::WIDTH, false),
        None => {
            witness.steps.iter().enumerate().map(|(at, step)| format!("{} {}", at + 1, step.label)).collect()
        }
    }
}

/// Where a program failed.
fn place_of(findings: &Findings, witness: &WitnessReport) -> Option<Place> {
    let incident = findings.incident(witness)?;
    // Whoever only waits for the end of others says nothing about why.
    let (joining, telling): (Vec<_>, Vec<_>) = incident.waiting.iter().partition(|waiting| waiting.joins);
    let waits = || telling.iter().chain(&joining).find_map(|waiting| waiting.place.as_deref());
    let Place { file, line } = place(incident.place.as_deref().or_else(waits)?)?;
    Some(Place { file: find_source(&findings.model, file), line })
}

/// Where a source file of a program is. Debug information says where it was when it was compiled, of which
/// only the name is kept; it is probably beside the program, or in one of the folders around it.
fn find_source(program: &str, file: String) -> String {
    let folders = std::path::Path::new(program).ancestors().skip(1);
    let mut candidates =
        std::iter::once(std::path::PathBuf::from(&file)).chain(folders.map(|one| one.join(&file)));
    let found = candidates.find(|path| path.is_file());
    found.map_or(file, |path| path.strip_prefix(".").unwrap_or(&path).display().to_string())
}

/// Takes `bank.c:31` apart.
fn place(text: &str) -> Option<Place> {
    let (file, line) = text.strip_prefix("thread of ").unwrap_or(text).rsplit_once(':')?;
    Some(Place { file: file.to_owned(), line: Some(line.parse().ok()?) })
}

/// Diagnostics about an input as cases.
pub(crate) fn cases_of_diagnostics(
    name: &str,
    origin: &str,
    source: Option<&str>,
    diagnostics: &[&Diagnostic],
) -> Vec<Case> {
    let case = |diagnostic: &&Diagnostic| {
        let message = spell_all(&diagnostic.message);
        let before = diagnostic.span.as_ref().and_then(|span| source?.get(..span.range.start));
        let line = diagnostic.line.or_else(|| Some(before?.matches('\n').count() as u64 + 1));
        Case {
            name: name.to_owned(),
            model: origin.to_owned(),
            seconds: 0.0,
            result: match diagnostic.severity {
                Severity::Error => CaseResult::Error(message),
                Severity::Warning => CaseResult::Warned(message),
            },
            place: (!origin.is_empty()).then(|| Place { file: origin.to_owned(), line }),
            details: diagnostic.help.iter().map(|help| format!("help: {}", spell_all(help))).collect(),
        }
    };
    diagnostics.iter().map(case).collect()
}

/// The cases in a format.
pub(crate) fn write(kind: Kind, command: &str, cases: &[Case]) -> String {
    match kind {
        Kind::Junit => junit(command, cases),
        Kind::Sarif => serde_json::to_string_pretty(&sarif(cases)).unwrap_or_default(),
    }
}

/// Text for a quoted attribute, in which line breaks survive only if they are escaped.
fn attribute(text: &str) -> String {
    escape_xml(text).replace('\n', "&#10;")
}

fn junit(command: &str, cases: &[Case]) -> String {
    let count = |is: fn(&CaseResult) -> bool| cases.iter().filter(|case| is(&case.result)).count();
    let failures = count(|result| matches!(result, CaseResult::Failed(_)));
    let errors = count(|result| matches!(result, CaseResult::Error(_) | CaseResult::Inconclusive(_)));
    let skipped = count(|result| matches!(result, CaseResult::Skipped(_)));
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\"",
        cases.len()
    );
    let mut lines = vec![
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned(),
        format!("<testsuites name=\"turnpike\" {counts}>"),
        format!("  <testsuite name=\"turnpike {}\" {counts}>", attribute(command)),
    ];
    for case in cases {
        let head = format!(
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3}\"",
            attribute(&case.name),
            attribute(&case.model),
            case.seconds
        );
        let details = escape_xml(&case.details.join("\n"));
        let element = |tag: &str, kind: &str, message: &str| {
            format!("      <{tag} type=\"{kind}\" message=\"{}\">{details}</{tag}>", attribute(message))
        };
        let inside = match &case.result {
            CaseResult::Passed => None,
            CaseResult::Warned(message) => {
                Some(format!("      <system-out>warning: {}</system-out>", escape_xml(message)))
            }
            CaseResult::Failed(message) => Some(element("failure", "failed", message)),
            CaseResult::Inconclusive(message) => Some(element("error", "inconclusive", message)),
            CaseResult::Error(message) => Some(element("error", "error", message)),
            CaseResult::Skipped(message) => {
                Some(format!("      <skipped message=\"{}\"/>", attribute(message)))
            }
        };
        match inside {
            None => lines.push(format!("{head}/>")),
            Some(inside) => lines.extend([format!("{head}>"), inside, "    </testcase>".to_owned()]),
        }
    }
    lines.extend(["  </testsuite>".to_owned(), "</testsuites>".to_owned()]);
    lines.join("\n")
}

fn sarif(cases: &[Case]) -> Value {
    let rules: Vec<Value> =
        RULES.iter().map(|(id, text)| json!({"id": id, "shortDescription": {"text": text}})).collect();
    let result = |case: &Case| {
        let (rule, level, message) = case.result.finding()?;
        let mut text = match case.name.is_empty() {
            true => message.to_owned(),
            false => format!("{}: {message}", case.name),
        };
        for line in &case.details {
            text.push('\n');
            text.push_str(line);
        }
        let file = case.place.as_ref().map_or(case.model.as_str(), |place| place.file.as_str());
        let mut result = json!({"ruleId": rule, "level": level, "message": {"text": text}});
        if !file.is_empty() && matches!(Location::from(file), Location::File(_)) {
            let mut location = json!({"artifactLocation": {"uri": uri(file)}});
            if let Some(line) = case.place.as_ref().and_then(|place| place.line) {
                location["region"] = json!({"startLine": line.max(1)});
            }
            result["locations"] = json!([{"physicalLocation": location}]);
        }
        Some(result)
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "turnpike", "version": VERSION, "rules": rules}},
            "results": cases.iter().filter_map(result).collect::<Vec<Value>>(),
        }],
    })
}

/// A path as the reference that SARIF asks for. The settings behind a model's name are not part of it.
fn uri(path: &str) -> String {
    let path = match path.rfind('(') {
        Some(open) if path.ends_with(')') => &path[..open],
        _ => path,
    };
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into())
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, result: CaseResult) -> Case {
        let place = Some(Place { file: "a b.c".into(), line: Some(7) });
        let details = vec!["1 <go> & \"stop\"".to_owned(), "2 \u{1b}[0m".to_owned()];
        Case { name: name.into(), model: "m.xta(N=2)".into(), seconds: 0.5, result, place, details }
    }

    fn cases() -> Vec<Case> {
        let reason = || "why <not>?\nbecause".to_owned();
        vec![
            case("E<> p", CaseResult::Passed),
            case("A[] p && q", CaseResult::Failed(reason())),
            case("A<> \"p\"", CaseResult::Inconclusive(reason())),
            case("sup: x", CaseResult::Skipped(reason())),
            case("E<> typo", CaseResult::Error(reason())),
            case("check", CaseResult::Warned(reason())),
        ]
    }

    #[test]
    fn junit_is_xml_with_counts() {
        let text = junit("search", &cases());
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
        let counts =
            ["tests", "failures", "errors", "skipped", "time"].map(|name| suite.attribute(name).expect(name));
        assert_eq!(counts, ["6", "1", "2", "1", "3.000"]);
        let names: Vec<_> = suite.children().filter_map(|node| node.attribute("name")).collect();
        assert_eq!(names[1], "A[] p && q");
        let failure = suite.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
        assert_eq!(failure.attribute("message"), Some("why <not>?\nbecause"));
        assert_eq!(failure.text(), Some("1 <go> & \"stop\"\n2 \u{fffd}[0m"));
        for tag in ["error", "skipped", "system-out"] {
            assert!(suite.descendants().any(|node| node.has_tag_name(tag)), "{tag}");
        }
    }

    /// What the standard requires of a log, as far as ours has it.
    #[test]
    fn sarif_has_its_required_structure() {
        let log = sarif(&cases());
        assert_eq!(log["version"], "2.1.0");
        assert!(log["$schema"].as_str().is_some_and(|schema| schema.contains("sarif-2.1.0")));
        let runs = log["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), 1);
        let driver = &runs[0]["tool"]["driver"];
        assert!(driver["name"].is_string() && driver["version"].is_string());
        let rules: Vec<&str> = driver["rules"]
            .as_array()
            .expect("rules")
            .iter()
            .filter_map(|rule| rule["id"].as_str())
            .collect();
        let results = runs[0]["results"].as_array().expect("results");
        assert_eq!(results.len(), 5, "all but the one that passed");
        for result in results {
            assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
            assert!(rules.contains(&result["ruleId"].as_str().expect("a rule")));
            assert!(
                ["none", "note", "warning", "error"].contains(&result["level"].as_str().expect("a level"))
            );
            let location = &result["locations"][0]["physicalLocation"];
            assert_eq!(location["artifactLocation"]["uri"], "a%20b.c");
            assert_eq!(location["region"]["startLine"], 7);
        }
        assert_eq!(sarif(&[])["runs"][0]["results"], json!([]));
        let mut plain = case("x", CaseResult::Failed("y".into()));
        plain.place = None;
        let log = sarif(&[plain.clone()]);
        let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "m.xta");
        plain.model = "builtin:scc(size=5)".into();
        assert!(sarif(&[plain])["runs"][0]["results"][0].get("locations").is_none());
    }

    #[test]
    fn sources_are_found_beside_the_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("build");
        std::fs::create_dir(&inside).expect("a folder");
        std::fs::write(folder.path().join("bug.c"), "").expect("writes");
        let program = inside.join("bug").display().to_string();
        let expected = folder.path().join("bug.c").display().to_string();
        assert_eq!(find_source(&program, "bug.c".into()), expected);
        assert_eq!(find_source(&program, "other.c".into()), "other.c");
    }

    #[test]
    fn places_are_taken_apart() {
        assert_eq!(place("src/bank.c:31"), Some(Place { file: "src/bank.c".into(), line: Some(31) }));
        assert_eq!(place("thread of bank.cpp:9"), Some(Place { file: "bank.cpp".into(), line: Some(9) }));
        assert_eq!(place("somewhere"), None);
    }
}
