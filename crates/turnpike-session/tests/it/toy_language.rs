//! A language of one line for each transition: the example of the book's chapter "Adding an input
//! language".

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use turnpike_model::label::Label;
use turnpike_model::native::{Native, NativeModel};
use turnpike_model::{Diagnostic, Model};
use turnpike_session::{
    FRONT_ENDS, FrontEnd, Location, Reading, Request, Session, Silent, Source, SourceText, Verdict,
};

// ANCHOR: language
/// A file: `from label to` on each line. The first state is the initial one.
struct Toy {
    name: String,
    transitions: Vec<[String; 3]>,
}

impl NativeModel for Toy {
    type State = String;
    type Action = usize;

    fn initial(&self) -> String {
        self.transitions[0][0].clone()
    }

    fn actions(&self, state: &String, actions: &mut Vec<usize>) {
        actions.extend((0..self.transitions.len()).filter(|&index| self.transitions[index][0] == *state));
    }

    fn next(&self, _: &String, action: &usize) -> Option<String> {
        Some(self.transitions[*action][2].clone())
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn format_action(&self, action: &usize) -> String {
        self.transitions[*action][1].clone()
    }

    /// With these, an objective that names another action is a mistake.
    fn action_names(&self) -> Vec<String> {
        let names: BTreeSet<String> =
            self.transitions.iter().map(|[_, label, _]| Label::parse(label).name()).collect();
        names.into_iter().collect()
    }
}

/// Reads a file of the language. This function is all that its crate has to offer.
fn read(source: &SourceText<'_>) -> Result<Box<dyn Model>, Vec<Diagnostic>> {
    let (mut transitions, mut errors, mut start) = (Vec::new(), Vec::new(), 0);
    for line in source.text.split_inclusive('\n') {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match <[String; 3]>::try_from(words) {
            Ok(transition) => transitions.push(transition),
            Err(words) if words.is_empty() => {}
            Err(words) => {
                let message = format!("expected `from label to`, found {} words", words.len());
                errors.push(Diagnostic::error(message).at(start..start + line.trim_end().len(), ""));
            }
        }
        start += line.len();
    }
    if transitions.is_empty() && errors.is_empty() {
        errors.push(Diagnostic::error("a model needs a transition"));
    }
    let name = source.name.to_owned();
    if errors.is_empty() { Ok(Box::new(Native::new(Toy { name, transitions }))) } else { Err(errors) }
}

/// The one line in the session.
static TOY: FrontEnd = FrontEnd::new("toy", "Transitions, one a line", &[".toy"], read);
// ANCHOR_END: language

/// The languages of the session, and this one.
fn languages() -> Vec<&'static FrontEnd> {
    FRONT_ENDS.iter().copied().chain([&TOY]).collect()
}

fn source(folder: &tempfile::TempDir, text: &str) -> Source {
    let path = folder.path().join("a.toy");
    std::fs::write(&path, text).expect("writes");
    let location = Location::from(path.display().to_string());
    Source::Model { location, reading: Reading::default() }
}

#[test]
fn a_toy_language_is_searched() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source(&folder, "idle press busy\nbusy wait busy\nbusy jam stuck\n");
    let session = Session::open_among(&languages(), &source).expect("opens");
    let mut request = Request::new(source.clone());
    for (objective, verdict) in
        [("deadlock", Verdict::Found), ("action jam", Verdict::Found), ("label jam(7)", Verdict::None)]
    {
        request.search.goals.find.clear();
        request.set("find", objective).expect("an objective");
        let report = session.run(&request.search, &Silent, &AtomicBool::new(false)).expect("runs");
        assert_eq!(report.verdict, verdict, "{objective}");
    }
    request.search.goals.find.clear();
    request.set("find", "action jma").expect("an objective");
    let refused = session.run(&request.search, &Silent, &AtomicBool::new(false)).err().expect("a mistake");
    assert!(refused.to_string().contains("has no action `jma`"), "{refused}");
    // Without its row, the language does not exist.
    let unknown = Session::open(&source).err().expect("unknown");
    assert!(unknown.to_string().contains("unknown file extension"), "{unknown}");
}

#[test]
fn its_mistakes_have_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = Session::open_among(&languages(), &source(&folder, "a b c\nwrong line\n")).err();
    let problem = problem.expect("a mistake");
    assert_eq!(problem.to_string(), "expected `from label to`, found 2 words");
    let span = problem.diagnostics[0].span.clone().expect("a place");
    assert_eq!(&problem.source.expect("a text")[span.range], "wrong line");
}

#[test]
fn options_of_other_languages_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut request = Request::new(source(&folder, "a b c\n"));
    request.set("delay-first", "").expect("an option");
    let problem = Session::open_among(&languages(), &request.source).err().expect("refused");
    assert!(problem.to_string().contains("is for timed automata"), "{problem}");
}

#[test]
fn rows_do_not_contradict_each_other() {
    let all = languages();
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            assert_ne!(one.name, other.name);
            let shared = one.extensions.iter().find(|extension| other.extensions.contains(extension));
            assert_eq!(shared, None, "{} and {}", one.name, other.name);
        }
    }
}
