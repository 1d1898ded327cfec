//! Each displayed value is a state expression that holds in that state.

use std::path::Path;

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::{Explorer, Model, Successors};

use crate::public_models;

fn model(text: &str) -> Mcrl2Model {
    let options = Options::default();
    Mcrl2Model::new("test.mcrl2", text, &options).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}")).0
}

/// Evaluates all values of all states in a random walk as state expressions, and the conjunction of
/// the values of components and data.
fn walk_and_ask(model: &Mcrl2Model, name: &str, steps: usize, seed: u64) -> usize {
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let (mut successors, mut values, mut random, mut asked) =
        (Successors::new(model.info().width), Vec::new(), seed, 0);
    for _ in 0..steps {
        explorer.state_values(&state, &mut values);
        let printed: Vec<String> = model
            .info()
            .parameters
            .iter()
            .zip(&values)
            // Equality of functions is not decidable.
            .filter(|(_, value)| !value.contains("lambda"))
            .map(|(parameter, value)| format!("{parameter} == {value}"))
            .collect();
        for text in printed.iter().chain([&printed.join(" && ")]).filter(|text| !text.is_empty()) {
            assert!(holds(explorer, text, &state), "{name}: `{text}` does not hold where it was printed");
            asked += 1;
        }
        if explorer.successors(&state, &mut successors).is_err() || successors.is_empty() {
            break;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let choice = (random >> 33) as usize % successors.len();
        state = successors.state(choice).to_vec();
    }
    asked
}

fn holds(explorer: &mut dyn Explorer, text: &str, state: &[u32]) -> bool {
    let predicates = explorer.predicates().expect("mCRL2 has state expressions");
    let id = predicates.compile(text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
    predicates.holds(id, state).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

#[test]
fn every_printed_value_of_a_bundled_model_can_be_asked_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let found = public_models::below(&folder);
    assert!(found.len() > 10);
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a readable model");
        let asked = walk_and_ask(&model(&text), &path.display().to_string(), 40, 7);
        assert!(asked > 10, "{}: {asked}", path.display());
    }
}

#[test]
fn every_printed_value_of_a_public_model_can_be_asked_for() {
    let Some(all) = public_models::read() else { return };
    let mut asked = 0;
    for (path, text) in all.iter().filter(|(_, text)| text.len() < 6_000) {
        if let Ok((model, _)) = Mcrl2Model::new("test.mcrl2", text, &Options::default())
            && !model.has_initial_choice()
        {
            asked += walk_and_ask(&model, &path.display().to_string(), 6, 11);
        }
    }
    assert!(asked > 1_000, "{asked}");
}

/// The names of the parameters.
fn names(text: &str) -> Vec<String> {
    model(text).info().parameters.clone()
}

const RING: &str = "act a, b, c: Pos; \
    proc Off(n: Pos) = a(n) . On(n, 1); On(n, total: Pos) = b(n) . On(n, total + 1) + c(total) . Off(n); \
    Link(n: Pos) = c(n) . b(n) . Link(n); \
    Station(n: Pos) = Off(n) || Link(n); \
    Ring(n: Pos) = (n > 1) -> (Station(n) || Ring(Int2Pos(n - 1))) <> Station(1); \
    init Ring(2);";

#[test]
fn components_are_called_after_their_instances() {
    // A station may become another process, but a link may not.
    assert_eq!(
        names(RING),
        ["Station(2)", "Station(2).total", "Link(2)", "Station(1)", "Station(1).total", "Link(1)"]
    );
}

#[test]
fn only_arguments_that_differ_are_part_of_a_name() {
    let cells = "act a, b; proc C(x: Nat, n: Pos) = a . b . C(x, n);";
    assert_eq!(names(&format!("{cells} init C(5, 1) || C(5, 2);")), ["C(1)", "C(2)"]);
    assert_eq!(names(&format!("{cells} init C(5, 1);")), ["C"]);
    assert_eq!(
        names(&format!("{cells} init C(5, 1) || C(6, 1) || C(5, 2);")),
        ["C(5, 1)", "C(6, 1)", "C(5, 2)"]
    );
    assert_eq!(names(&format!("{cells} init C(5, 1) || C(5, 1) || C(5, 2);")), ["C(1)#1", "C(1)#2", "C(2)"]);
    // For parameters that change, their initial value.
    let counters = "act a: Nat; b; proc P(n: Nat) = a(n) . b . P(n + 1); init P(1) || P(2);";
    assert_eq!(names(counters), ["P(1)", "P(1).n", "P(2)", "P(2).n"]);
}

#[test]
fn names_are_never_those_of_other_processes() {
    let text = "act a, b: Nat; c; proc P(n: Nat) = a(n) . P(n + 1); \
        P1(m: Nat) = (m < 3) -> b(m) . P1(m + 1) <> c . delta; init P(0) || P(0) || P1(0) || P1(1);";
    assert_eq!(names(text), ["P(0)#1.n", "P(0)#2.n", "P1(0)", "P1(0).m", "P1(1)", "P1(1).m"]);
    let model = model(text);
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    for text in ["P1(1).m == 1", "P(0)#2.n == 0", "P1(1).m = 1", "P1(1).m=1 && P1(0).m=0"] {
        assert!(holds(&mut *explorer, text, &state), "{text}");
    }
    let plain = "act a, b, c; proc P = a . b . P; P1 = c . a . P1; init P || P || P1;";
    assert_eq!(names(plain), ["P#1", "P#2", "P1"]);
}

#[test]
fn components_that_begin_in_a_recursive_process_keep_their_own_name() {
    let text = "act a, b: Pos; proc Off(n: Pos) = a(n) . On(n); On(n: Pos) = b(n) . Off(n); \
        All(n: Pos) = (n > 1) -> (Off(n) || All(Int2Pos(n - 1))) <> Off(1); init All(2);";
    assert_eq!(names(text), ["Off(2)", "Off(1)"]);
    let two = "act a, b: Pos; proc Off(n: Pos) = a(n) . On(n); On(n: Pos) = b(n) . Off(n); \
        Pair(n: Pos) = Off(n) || Off(n + 1); init Pair(1);";
    assert_eq!(names(two), ["Off(1)", "Off(2)"]);
    let plain =
        "act a, b: Pos; proc Cell(n: Pos) = (a(n) . b(n) . delta) || (b(n) . a(n) . delta); init Cell(1);";
    assert_eq!(names(plain), ["Cell(1)#1", "Cell(1)#2"]);
}

#[test]
fn a_location_is_the_current_process_or_what_is_left_to_do() {
    let text = "act a, b, c; proc P = a . b . Q; Q = c . (a . Q + b . P); init P;";
    let model = model(text);
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    let (mut seen, mut successors, mut values) =
        (Vec::new(), Successors::new(model.info().width), Vec::new());
    for _ in 0..4 {
        explorer.state_values(&state, &mut values);
        seen.push(values[0].clone());
        explorer.successors(&state, &mut successors).expect("successors");
        state = successors.state(0).to_vec();
    }
    // Both processes have `b`, so it does not identify them.
    assert_eq!(seen, ["P", "b . Q", "Q", "Q: a . Q + …"]);
}

#[test]
fn a_location_names_the_process_that_it_is_in() {
    // The condition of T is decided when T is called, so only one of its branches exists.
    let text = "act a: Nat; e; proc P(n: Nat) = a(n) . T(n); T(k: Nat) = (k > 0) -> e . P(0) <> a(7) . P(1); init P(0);";
    let model = model(text);
    let mut explorer = model.explorer();
    let (mut state, mut successors, mut values) =
        (Vec::new(), Successors::new(model.info().width), Vec::new());
    explorer.initial(&mut state).expect("an initial state");
    explorer.successors(&state, &mut successors).expect("successors");
    explorer.state_values(successors.state(0), &mut values);
    assert_eq!(values[0], "T: a(7) . P(1)");
    let asked = explorer.predicates().expect("predicates").compile("P == T: a(7) . P(1)");
    assert!(asked.is_ok(), "what is shown can be asked for");
}

#[test]
fn names_of_parameters_may_say_their_component() {
    let model =
        model("act a, b: Nat; proc P(n: Nat) = a(n) . b(n) . P((n + 1) mod 3); init P(0) || (b(1) . delta);");
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).expect("an initial state");
    for text in [
        "n == 0",
        "P.n == 0",
        "P . n == 0 && P == P",
        "P != b(n) . P((n + 1) mod 3) && (P==P)",
        "P=P, n=0",
        "P=P, n=0, (n=1 || n == 0), {0, 1} == {1, 0}",
        "exists n: Nat. n == 1 && P.n < n",
    ] {
        assert!(holds(&mut *explorer, text, &state), "{text}");
    }
}

/// The error in a state expression of [`RING`], and the text of its location.
fn error(text: &str) -> (String, String) {
    let model = model(RING);
    let mut explorer = model.explorer();
    let error = explorer.predicates().expect("predicates").compile(text).expect_err(text);
    let place = error.span.as_ref().map_or("", |span| &text[span.range.clone()]).to_owned();
    (error.to_string(), place)
}

#[test]
fn mistakes_in_names_are_explained() {
    let check = |text: &str, message: &str, place: &str| {
        let (error, at) = error(text);
        assert!(error.contains(message), "{text}: {error}");
        assert_eq!(at, place, "{text}: {error}");
    };
    check("Station(2) == Onn", "expected a location of `Station(2)` (did you mean `On`?)", "Onn");
    check("Station(2) == Elsewhere", "its locations are: Off, On", "Elsewhere");
    check("Link(1) == Link && Station(2) ==", "expected a location", "");
    check("Station(2) > 1", "`Station(2)` must be compared with a location", "Station(2)");
    check("Station(2)=On || Link(1)=Link, Station(1)=Off", "separated by commas", "||");
    check("Station(2).totl == 1", "`Station(2)` has no parameter `totl` (did you mean `total`?)", "totl");
    check("Station(2).zzzzzz == 1", "its parameters are ", "zzzzzz");
    check("Station(2).total == true", "the sorts (Pos, Bool)", "Station(2).total == true");
    check("Station(2).total(1) == 1", "this has sort Pos", "Station(2).total");
    check("Station(3).total == 1", "Station", "Station");
    check("Station(2).total == 1 && nothing", "nothing", "nothing");
}
