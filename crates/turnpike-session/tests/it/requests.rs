//! Requests as JSON and their reports, as for clients other than the command line and the lab.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use turnpike_session::{
    Answer, Location, Observer, Outcome, Problem, Reading, Reply, Report, Request, Session, Silent, Source,
    StrategyChoice, Verdict,
};

fn read(json: &str) -> Request {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

fn run(request: &Request) -> Report {
    let report = request.run(&Silent, &AtomicBool::new(false));
    report.unwrap_or_else(|problem| panic!("{problem}"))
}

fn refused(request: &Request) -> String {
    match request.run(&Silent, &AtomicBool::new(false)) {
        Ok(_) => panic!("{request:?} is carried out"),
        Err(problem) => problem.to_string(),
    }
}

const AUTOMATA: &str = "clock x;
process P() { state a { x <= 3 }, b; init a; trans a -> b { guard x >= 2; }; }
system P;
";

fn model(folder: &tempfile::TempDir, name: &str, text: &str) -> Source {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("writes");
    let location = Location::from(path.display().to_string());
    Source::Model { location, reading: Reading::default() }
}

#[test]
fn a_request_is_read_and_carried_out() {
    let request = read(
        r#"{
            "source": { "model": { "location": "builtin:philosophers", "reading": { "settings": ["n=4"] } } },
            "search": {
                "goals": { "find": ["deadlock"] },
                "strategy": { "name": "highway", "options": { "width": 8 } },
                "limits": { "states": 5000, "time": "1m" },
                "running": { "runs": 3, "seed": 7 }
            }
        }"#,
    );
    let report = run(&request);
    assert_eq!(report.verdict, Verdict::Found);
    let Outcome::Search(findings) = &report.outcome else { panic!("a search") };
    assert_eq!((findings.strategy, findings.runs.len(), findings.runs_asked), ("highway", 3, 3));
    assert_eq!(findings.witness().map(|witness| witness.length), Some(4));
    // The written request is the one that was read.
    let text = serde_json::to_string(&request).expect("requests can be written");
    assert_eq!(read(&text), request);
}

#[test]
fn a_run_alone_is_the_run_among_many() {
    let mut request = Request::new(Source::Model {
        location: Location::from("builtin:philosophers"),
        reading: Reading::default(),
    });
    request.search.strategy = StrategyChoice::named("random");
    request.search.running.runs = Some(4);
    let Outcome::Search(findings) = run(&request).outcome else { panic!("a search") };
    let session = Session::open(&request.source).expect("opens");
    request.search.running.runs = None;
    let plan = session.plan(&request.search).expect("a plan");
    for (number, among) in findings.runs.iter().enumerate() {
        let alone = plan.run_alone(number as u64, &AtomicBool::new(false)).expect("runs").expect("a run");
        assert_eq!((alone.seed, alone.states, alone.verdict), (among.seed, among.states, among.verdict));
    }
}

#[test]
fn a_source_is_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = model(&folder, "p.xta", AUTOMATA);
    let session = Session::open(&source).expect("opens");
    drop(folder);
    let mut request = Request::new(source);
    request.set("find", "state P.b").expect("an objective");
    for _ in 0..2 {
        let report = session.run(&request.search, &Silent, &AtomicBool::new(false));
        assert_eq!(
            report.map(|report| report.verdict).map_err(|problem| problem.to_string()),
            Ok(Verdict::Found)
        );
    }
}

/// Records the answered queries.
#[derive(Default)]
struct Listening(Mutex<Vec<String>>);

impl Observer for Listening {
    fn answered(&self, answer: &Answer) -> Result<(), Problem> {
        self.0.lock().expect("one thread").push(answer.query.text.clone());
        Ok(())
    }
}

#[test]
fn queries_are_answered_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut request = Request::new(model(&folder, "p.xta", AUTOMATA));
    request.search.goals.queries =
        ["E<> P.b", "A[] P.a", "E<> P.nowhere", "sup: x", "A<> P.b"].map(str::to_owned).to_vec();
    let client = Listening::default();
    let report = request.run(&client, &AtomicBool::new(false)).expect("one bad query spoils no other");
    assert_eq!(*client.0.lock().expect("one thread"), request.search.goals.queries);
    let Outcome::Queries(answers) = &report.outcome else { panic!("queries") };
    let satisfied = |answer: &Answer| match &answer.reply {
        Ok(Reply::Searched { satisfied, .. }) => *satisfied,
        _ => None,
    };
    let all: Vec<_> = answers.iter().map(satisfied).collect();
    assert_eq!(all, [Some(true), Some(false), None, None, Some(true)]);
    assert!(answers[2].reply.as_ref().err().is_some_and(|problem| problem.to_string().contains("nowhere")));
    let Ok(Reply::Measured(extremes)) = &answers[3].reply else { panic!("measured") };
    assert_eq!(extremes.comparisons(), ["x has no bound"]);
    assert_eq!(report.verdict, Verdict::Found);
    // Without other requests, the request itself failed.
    request.search.goals.queries = vec!["E<> P.nowhere".to_owned()];
    assert!(refused(&request).contains("nowhere"));
}

#[test]
fn meaningless_requests_are_refused() {
    let request = |search: &str| {
        read(&format!(
            r#"{{ "source": {{ "model": {{ "location": "builtin:philosophers" }} }}, "search": {search} }}"#
        ))
    };
    for (search, message) in [
        (r#"{ "goals": { "find": ["deadlock"], "queries": ["A[] p"] } }"#, "cannot be given together"),
        (r#"{ "goals": { "queries": ["A[] p"] } }"#, "is not a timed automaton"),
        (r#"{ "strategy": { "name": "hihgway" } }"#, "there is no strategy `hihgway`"),
        (r#"{ "strategy": { "name": "bfs", "options": { "width": 8 } } }"#, "belongs to the strategies"),
        (r#"{ "running": { "bitstate_size": 100 } }"#, "needs the store bitstate"),
        (r#"{ "running": { "store": "tree" }, "strategy": { "name": "random" } }"#, "no effect"),
        (r#"{ "limits": { "memory": 18446744073709551615 } }"#, "this machine has"),
        (r#"{ "goals": { "non_zeno": true } }"#, "does not look for cycles"),
        (r#"{ "witness": { "shorten": false, "shorten_budget": 7 } }"#, "cannot be given together"),
    ] {
        let refused = refused(&request(search));
        assert!(refused.contains(message), "{search}: {refused}");
    }
    let unknown = serde_json::from_str::<Request>(r#"{ "source": { "model": { "locaton": "x" } } }"#);
    assert!(unknown.is_err_and(|error| error.to_string().contains("locaton")));
}

#[test]
fn options_are_set_by_name() {
    let location = Location::from("builtin:philosophers");
    let mut request = Request::new(Source::Model { location, reading: Reading::default() });
    for (name, text) in [("set", "n=3"), ("max-time", "30s"), ("strategy", "highway"), ("width", "8")] {
        request.set(name, text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    request.set("no-shorten", "").expect("a switch");
    assert!(!request.search.witness.shorten && request.search.strategy.options["width"] == "8");
    let message = |request: &mut Request, name: &str, text: &str| match request.set(name, text) {
        Ok(()) => panic!("{name} {text} is accepted"),
        Err(error) => error.to_string(),
    };
    assert!(message(&mut request, "spurious", "1").contains("is for programs"));
    assert!(message(&mut request, "max-states", "many").contains("whole number"));
    assert!(message(&mut request, "max-stats", "1").contains("did you mean `max-states`"));
    let mut program = Request::new(Source::Program(turnpike_session::ProgramSource::default()));
    assert!(message(&mut program, "cover", "alu").contains("is for models"));
}
