//! The facade as a user's own test would use it.

use turnpike::{NativeModel, Search, Verdict};

/// Two threads increment a counter in two steps each, without a lock.
struct LostUpdate;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    counter: u8,
    read: [Option<u8>; 2],
    done: [bool; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Action {
    Read(usize),
    Write(usize),
}

impl NativeModel for LostUpdate {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        State { counter: 0, read: [None; 2], done: [false; 2] }
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for thread in 0..2 {
            match state.read[thread] {
                _ if state.done[thread] => {}
                None => actions.push(Action::Read(thread)),
                Some(_) => actions.push(Action::Write(thread)),
            }
        }
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::Read(thread) => next.read[thread] = Some(state.counter),
            Action::Write(thread) => {
                next.counter = state.read[thread]? + 1;
                next.done[thread] = true;
            }
        }
        Some(next)
    }

    fn is_done(&self, state: &State) -> bool {
        state.done == [true; 2]
    }

    fn violation(&self, state: &State) -> Option<String> {
        (state.done == [true; 2] && state.counter != 2).then(|| "an update was lost".into())
    }
}

#[test]
fn every_strategy_finds_the_lost_update() {
    for strategy in ["auto", "bfs", "dfs", "rdfs", "highway", "drs", "genetic"] {
        let report = Search::of(LostUpdate).find("assertion").strategy(strategy).seed(3).run().unwrap();
        assert_eq!(report.verdict, Verdict::Found, "{strategy}");
        let witness = report.witness().unwrap();
        assert_eq!(witness.length, 4);
        assert!(witness.steps[0].label.starts_with("read("), "{}", witness.steps[0].label);
    }
}

#[test]
fn termination_is_not_a_deadlock() {
    let report = Search::of(LostUpdate).find("deadlock").strategy("bfs").run().unwrap();
    assert_eq!(report.verdict, Verdict::None);
}

#[test]
#[should_panic(expected = "found: any-error in 4 steps")]
fn assert_absent_tells_the_witness() {
    Search::of(LostUpdate).assert_absent();
}

#[test]
fn mistakes_are_explained() {
    let message = |search: Search| search.run().unwrap_err().to_string();
    assert!(message(Search::of(LostUpdate).find("deadlok")).contains("did you mean `deadlock`?"));
    assert!(message(Search::of(LostUpdate).strategy("higway")).contains("did you mean `highway`?"));
}

/// The same model with a list of the names of its actions.
struct WithNames(&'static [&'static str]);

impl NativeModel for WithNames {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        LostUpdate.initial()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        LostUpdate.actions(state, actions);
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        LostUpdate.next(state, action)
    }

    fn action_names(&self) -> Vec<String> {
        self.0.iter().map(|&name| name.to_owned()).collect()
    }
}

#[test]
fn a_misspelt_action_is_not_a_proof() {
    let of = |find: &str| Search::of(LostUpdate).find(find).strategy("bfs");
    for find in ["action wriet", "label wriet(0)", "label wriet*", "max wriet.1"] {
        let error = of(find).run().expect_err(find).to_string();
        assert!(error.contains("wriet") && error.contains("`action_names`"), "{find}: {error}");
    }
    assert!(of("action wriet").run().unwrap_err().to_string().contains("did you mean `write`?"));
    // A value that never occurs is what a search finds out.
    assert_eq!(of("label write(7)").run().unwrap().verdict, Verdict::None);
    let allowed = of("action wriet").with_request(|request| request.goals.allow_unknown = true);
    assert_eq!(allowed.run().unwrap().verdict, Verdict::None);
    // A search that was cut short claims nothing.
    assert_eq!(of("action wriet").max_states(2).run().unwrap().verdict, Verdict::Inconclusive);
}

#[test]
fn declared_actions_need_not_occur() {
    let of = |find: &str| Search::of(WithNames(&["read", "write", "reset"])).find(find).strategy("bfs");
    // The names are compared before the search.
    let error = of("action wriet").max_states(1).run().unwrap_err().to_string();
    assert!(error.contains("did you mean `write`?"), "{error}");
    assert_eq!(of("action reset").run().unwrap().verdict, Verdict::None);
    let error = Search::of(WithNames(&["read"])).find("deadlock").strategy("bfs").run().unwrap_err();
    let expected = "`action_names` of `WithNames` does not have `write`";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn checks_of_programs_refuse_misspelt_operations() {
    let checked = turnpike::Config::new().find("action unlok").run(|| {
        drop(turnpike::sync::Mutex::new(0).lock());
    });
    let error = format!("{:?}", checked.expect_err("no program does `unlok`"));
    assert!(error.contains("did you mean `unlock`?"), "{error}");
}

#[test]
fn formulas_are_about_labels() {
    let decide = |formula: &str| Search::of(LostUpdate).decide(formula).unwrap();
    assert_eq!(decide("[true*] forall n: Nat. [write(n)]<true*>true").holds, Some(true));
    assert_eq!(decide("[(!read(0))* . write(0)]false").holds, Some(true), "nobody writes before reading");
    let reply = decide("[true* . read(1) . true* . write(0) . true* . write(1)]false");
    assert_eq!(reply.holds, Some(false));
    let labels: Vec<String> = reply.evidence.unwrap().path().iter().map(|edge| edge.label.clone()).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert_eq!(labels[3], "write(1)");
    // Any strategy looks for such a path.
    for strategy in ["bfs", "drs", "highway"] {
        let search = Search::of(LostUpdate).strategy(strategy).seed(5);
        assert_eq!(search.decide("[true* . write(0) . write(1)]false").unwrap().holds, Some(false));
    }
}

#[test]
#[should_panic(expected = "violated: [true* . write(1)]false\n   1  read(1)\n   2  write(1)\n")]
fn assert_holds_tells_the_path() {
    Search::of(LostUpdate).assert_holds("[true* . write(1)]false");
}

#[test]
fn wrong_formulas_are_explained() {
    let message = |search: Search, formula: &str| search.decide(formula).unwrap_err().to_string();
    assert!(message(Search::of(LostUpdate), "[true").contains("never closed"));
    assert!(message(Search::of(LostUpdate), "mu X. !X").contains("odd number of negations"));
    assert!(message(Search::of(LostUpdate).find("deadlock"), "true").contains("`find`"));
    assert!(message(Search::of(LostUpdate), "missing.mcf").contains("missing.mcf"));
}
