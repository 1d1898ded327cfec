//! Processes that search together, and searches that continue from a checkpoint, must use the same
//! system, so they compare all options that change it.

use turnpike_session::cluster::{identity_of, resumable_as, source_identity};
use turnpike_session::{
    Location, OptionRow, Purpose, Reading, Search, Section, Session, Source, Takes, TimedReading,
};

const UPPAAL: &str = "const int K = 0; int[0,3] i; clock x; broadcast chan c;
process P() { state a, b { x <= 5 }; init a;
  trans a -> b { guard i < 3; sync c!; assign i = i + 1, x = 0; }, b -> a { guard K == 1; }; }
p = P(); system p;
";
const TCK: &str = "system:s\nevent:a\nclock:1:x\nprocess:P\nlocation:P:l{initial:}\nlocation:P:m{}
edge:P:l:m:a{do:x=0}\nedge:P:m:l:a{provided:x<3}\n";
const MCRL2: &str =
    "map N: Nat; eqn N = 2; act a, b: Nat; proc P(n: Nat) = sum m: Nat. (m < N) -> a(m) . P(m);
init hide({a}, P(0));
";
const AUT: &str = "des (0, 2, 2)\n(0, \"i\", 1)\n(1, \"a\", 0)\n";
const TCK_OBSERVER: &str = "process:W\nlocation:W:w{initial:}\n";
const UPPAAL_OBSERVER: &str =
    "process Watch() { state w; init w; trans w -> w { sync c?; }; } system Watch;\n";

/// Values for an option of any section.
fn values(name: &str, takes: Takes, folder: &tempfile::TempDir) -> Vec<String> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match (name, takes) {
        ("set", _) => texts(&["K=1", "N=3", "n=4"]),
        ("observer", _) => {
            ["watch.tck", "watch.xta"].map(|name| folder.path().join(name).display().to_string()).to_vec()
        }
        (_, Takes::Word(words)) => words.iter().map(|(word, _)| (*word).to_owned()).collect(),
        (_, Takes::Switch) => texts(&[""]),
        (_, Takes::Names) => texts(&["a"]),
        (_, Takes::Small { .. }) => texts(&["7"]),
        (name, takes) => panic!("the option {name} takes {takes:?}: add values for it here"),
    }
}

/// All settings that differ from the default in one option, with the name of that option.
fn readings(folder: &tempfile::TempDir) -> Vec<(&'static str, Reading)> {
    let mut all = Vec::new();
    for OptionRow { name, takes, set, .. } in Reading::OPTIONS {
        for value in values(name, *takes, folder) {
            let mut reading = Reading::default();
            set(&mut reading, &value).unwrap_or_else(|error| panic!("{name} {value}: {error}"));
            all.push((*name, reading));
        }
    }
    for OptionRow { name, takes, set, .. } in TimedReading::OPTIONS {
        for value in values(name, *takes, folder) {
            let mut reading = Reading::default();
            set(&mut reading.timed_automata, &value)
                .unwrap_or_else(|error| panic!("{name} {value}: {error}"));
            all.push((*name, reading));
        }
    }
    all
}

/// The identities that are compared: by processes that search, by checkpoints, by processes that
/// generate, and by traces.
fn identities(session: &Session) -> (String, String, String, u64) {
    let search = Search::default();
    let together = identity_of("1", session, &search).expect("an identity");
    let resumed = resumable_as("1", session, &search).expect("an identity");
    let generating = source_identity("1", session).expect("an identity");
    let model = session.prepare(&Purpose::default()).expect("a system").model;
    (format!("{together:?}"), resumed, format!("{generating:?}"), model.info().fingerprint)
}

#[test]
fn every_option_that_changes_the_system_changes_what_is_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writes");
        path.display().to_string()
    };
    write("watch.tck", TCK_OBSERVER);
    write("watch.xta", UPPAAL_OBSERVER);
    let models = [
        ("uppaal", write("m.xta", UPPAAL)),
        ("tck", write("m.tck", TCK)),
        ("mcrl2", write("m.mcrl2", MCRL2)),
        ("aut", write("m.aut", AUT)),
        ("builtin", "builtin:philosophers".to_owned()),
    ];
    let mut accepted: Vec<(&str, &str)> = Vec::new();
    for (language, path) in &models {
        let open = |reading: &Reading| {
            let location = Location::from(path.as_str());
            Session::open(&Source::Model { location, reading: reading.clone() })
        };
        let usual = identities(&open(&Reading::default()).unwrap_or_else(|problem| panic!("{problem}")));
        for (option, reading) in readings(&folder) {
            // Most options are for one language.
            let Ok(session) = open(&reading) else { continue };
            // An explicit default value does not change anything.
            if reading == Reading::default() {
                continue;
            }
            accepted.push((language, option));
            let now = identities(&session);
            let shown = format!("{language}: {option} in {reading:?}");
            assert_ne!(now.0, usual.0, "{shown}");
            assert_ne!(now.1, usual.1, "{shown}");
            assert_ne!(now.2, usual.2, "{shown}");
            // These do not change the system: an explicit format, `cover`, which restricts the
            // search, and `cadp`, which only affects the output of other models.
            let same = ["as", "cover"].contains(&option) || (option == "cadp" && *language != "aut");
            if !same {
                assert_ne!(now.3, usual.3, "{shown}");
            }
        }
    }
    for expected in [
        ("uppaal", "set"),
        ("uppaal", "keep-dead"),
        ("uppaal", "extrapolation"),
        ("uppaal", "delay-first"),
        ("uppaal", "out-of-range"),
        ("uppaal", "observer"),
        ("tck", "keep-dead"),
        ("tck", "observer"),
        ("mcrl2", "set"),
        ("mcrl2", "unhide"),
        ("mcrl2", "timed"),
        ("mcrl2", "keep-dead"),
        ("mcrl2", "quantifier-limit"),
        ("aut", "cadp"),
        ("builtin", "set"),
    ] {
        assert!(accepted.contains(&expected), "{expected:?} was not tried");
    }
}

#[test]
fn another_version_is_the_first_difference() {
    let source =
        Source::Model { location: Location::from("builtin:philosophers"), reading: Reading::default() };
    let session = Session::open(&source).unwrap_or_else(|problem| panic!("{problem}"));
    let of = |version| identity_of(version, &session, &Search::default()).expect("an identity");
    let difference = of("1.0.0").first_difference(&of("1.0.1"));
    assert_eq!(difference, Some(("version of turnpike".into(), "1.0.0".into(), "1.0.1".into())));
    let resumed = |version| resumable_as(version, &session, &Search::default()).expect("an identity");
    assert_ne!(resumed("1.0.0"), resumed("1.0.1"));
}
