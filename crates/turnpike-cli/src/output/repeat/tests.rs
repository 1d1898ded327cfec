use clap::{Args as _, FromArgMatches as _};
use turnpike_session::{Location, ProgramSource, Reading, Section, Takes, TimedReading};

use super::*;
use crate::commands::search::strategy::all_options;

/// What the command line makes of words.
fn parse(words: &[String]) -> Request {
    let grammar = Args::augment_args(clap::Command::new("turnpike"));
    let matches = grammar.try_get_matches_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let args = Args::from_arg_matches(&matches).expect("the grammar fits the arguments");
    let source = args.model.source().unwrap_or_else(|failure| panic!("{words:?}: {failure:?}"));
    let search = args.search().unwrap_or_else(|failure| panic!("{words:?}: {failure:?}"));
    Request { source, search }
}

/// A small generator: a test needs no better one.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// A value that an option of this name accepts.
fn value(name: &str, takes: Takes, chance: &mut Chance) -> String {
    match takes {
        Takes::Switch => String::new(),
        Takes::Count | Takes::Positive | Takes::Small { .. } => (1 + chance.below(90_000)).to_string(),
        Takes::Size => chance.pick(&["1", "4096", "3K", "1.5M"]).to_string(),
        Takes::Time => chance.pick(&["0s", "30s", "1500ms", "1h 2ms", "7us", "3s 5ns"]).to_string(),
        Takes::Seed => chance.pick(&["0", "7", "0xffffffffffffffff", "4294967296"]).to_string(),
        Takes::Word(words) => chance.pick(words).0.to_owned(),
        Takes::Names => chance.pick(&["a", "a,b", "in put,-x"]).to_string(),
        Takes::Text | Takes::Texts if name == "find" => {
            chance.pick(&["deadlock", "label f(*)", "state x > -1 && it's", "accepting a; b"]).to_string()
        }
        Takes::Text | Takes::Texts if name == "suppress" => {
            chance.pick(&["assertion@a.c:3", "deadlock@my bank.c:31+bank.c:44"]).to_string()
        }
        Takes::Text | Takes::Texts => {
            chance.pick(&["n=4", "-1", "--find", "a b", "it's", "", "x='y'"]).to_string()
        }
    }
}

/// Sets some options of a section.
fn vary<T: Section>(section: &mut T, chance: &mut Chance) {
    for option in T::OPTIONS {
        let times = if option.takes.is_repeated() { chance.below(4) } else { chance.below(2) };
        // Those that exclude each other are left to other requests.
        for _ in 0..if option.conflicts.is_empty() { times } else { 0 } {
            let text = value(option.name, option.takes, chance);
            (option.set)(section, &text).unwrap_or_else(|error| panic!("{} {text}: {error}", option.name));
        }
    }
}

fn any_request(chance: &mut Chance) -> Request {
    let source = if chance.below(2) == 0 {
        let (mut reading, mut timed_automata) = (Reading::default(), TimedReading::default());
        vary(&mut reading, chance);
        vary(&mut timed_automata, chance);
        let location = Location::from(*chance.pick(&["builtin:philosophers", "-", "a model.xta", "a.aut"]));
        Source::Model { location, reading: Reading { timed_automata, ..reading } }
    } else {
        let mut program = ProgramSource { path: "./a program".into(), ..ProgramSource::default() };
        vary(&mut program, chance);
        program.arguments =
            (0..chance.below(3)).map(|_| chance.pick(&["-q", "--", "x y", ""]).into()).collect();
        Source::Program(program)
    };
    let mut search = Search::default();
    vary(&mut search.goals, chance);
    vary(&mut search.limits, chance);
    vary(&mut search.running, chance);
    vary(&mut search.witness, chance);
    if search.goals.find.is_empty() && chance.below(2) == 0 {
        let formulas = ["[true*]<true>true", "a folder", "it's.mcf", "-q", "<a('x')>\n  true", ""];
        search.goals.formulas = (0..chance.below(4)).map(|_| chance.pick(&formulas).to_string()).collect();
    } else if search.goals.find.is_empty() {
        search.goals.queries = (0..chance.below(3)).map(|_| "A[] not deadlock".to_owned()).collect();
        search.goals.query_file = (chance.below(2) == 0).then(|| "a file.q".to_owned());
    }
    if search.witness.shorten && chance.below(2) == 0 {
        search.witness.shorten_budget = Some(7);
    }
    if chance.below(2) == 0 {
        search.strategy.name = Some((*chance.pick(&["auto", "bfs", "highway", "no such"])).to_owned());
    }
    for option in all_options() {
        if chance.below(4) == 0 && option.mistake("1").is_none() {
            let switch = option.value == turnpike_session::strategy::ValueKind::Switch;
            search.strategy.options.insert(option.name.into(), if switch { "true" } else { "1" }.into());
        }
    }
    Request { source, search }
}

#[test]
fn a_request_survives_its_command_line_and_json() {
    let mut chance = Chance(7);
    let mut with_formulas = 0;
    for _ in 0..1_000 {
        let request = any_request(&mut chance);
        with_formulas += usize::from(!request.search.goals.formulas.is_empty());
        let words = request.command_words(&[]);
        assert_eq!(parse(&words), request, "{words:?}");
        let json = serde_json::to_string(&request).expect("requests can be written");
        assert_eq!(serde_json::from_str::<Request>(&json).expect("and read"), request, "{json}");
    }
    assert!(with_formulas > 50, "{with_formulas} requests with formulas");
}

#[test]
fn every_flag_of_a_search_is_an_option_or_presentation() {
    let mut presentation = vec!["trace", "show-output", "quiet", "verbose", "progress", "program"];
    // A search that goes on from a checkpoint has the result of one that was never interrupted.
    presentation.extend(["checkpoint", "checkpoint-every", "resume"]);
    // States in files change no result.
    presentation.push("spill");
    let grammar = Args::augment_args(clap::Command::new("turnpike"));
    for flag in grammar.get_arguments().filter_map(clap::Arg::get_long) {
        let known = turnpike_session::takes(flag).is_some() || presentation.contains(&flag);
        assert!(known, "--{flag} would be missing in the command that repeats a search");
    }
}

#[test]
fn commands_leave_out_what_does_not_matter() {
    let typed = "turnpike --program ./a.out --spurious 1 -q --trace w.json --threads 2 --runs 9 -- --seed 7";
    let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
    let grammar = Args::augment_args(clap::Command::new("turnpike"));
    let args = Args::from_arg_matches(&grammar.try_get_matches_from(&words).expect("fits")).expect("fits");
    let (source, search) = (args.model.source().expect("a program"), args.search().expect("a search"));
    let invocation = Invocation::new(&args, source, search, Format::Human);
    let start = "turnpike search --program ./a.out --spurious 1";
    assert_eq!(
        invocation.exactly(),
        format!("{start} --runs 9 --threads 2 --trace w.json --quiet --seed 0 -- --seed 7")
    );
    assert_eq!(invocation.result(), format!("{start} --runs 9 --seed 0 -- --seed 7"));
    let seed = u64::MAX;
    assert_eq!(
        invocation.one_run(seed),
        format!("{start} --runs 1 --trace w.json --quiet --seed 0xffffffffffffffff -- --seed 7")
    );
    assert_eq!(
        invocation.replay("w.json"),
        "turnpike replay --program ./a.out --spurious 1 w.json -- --seed 7"
    );
}
