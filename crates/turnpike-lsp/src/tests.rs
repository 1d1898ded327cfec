//! Random edits of the bundled models: nothing panics, and the quick analysis agrees with the whole check.

use std::path::{Path, PathBuf};

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::Severity;

use crate::analysis::Language;
use crate::answers::{Document, Related};
use crate::layout;
use crate::text::Text;

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

fn models() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let files =
        ["abp.mcrl2", "philosophers.mcrl2", "lift.mcrl2", "timed/fischer.xta", "timed/train_gate.xta"];
    files
        .iter()
        .map(|file| (folder.join(file), std::fs::read_to_string(folder.join(file)).expect("a model")))
        .collect()
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|one| one.severity == Severity::Error)
}

/// Something that people type.
const TYPED: &[&str] = &[
    "",
    "a",
    "(",
    ")",
    ";",
    "\n",
    "proc ",
    "sum x: Nat.",
    "% é𝔸\n",
    "->",
    "struct",
    "0",
    ", ",
    "init",
    "{",
    "*/",
    "\u{0}",
];

fn edit(dice: &mut Dice, document: &Document) -> TextDocumentContentChangeEvent {
    let text = &document.text;
    let start = dice.below(text.content.len() + 1);
    let length = if dice.below(4) == 0 { dice.below(40) } else { dice.below(2) };
    let (start, mut end) = (text.position(start), text.position(start + length));
    if dice.below(20) == 0 {
        end = Position::new(end.line + 1000, end.character + 7);
    }
    let typed = TYPED[dice.below(TYPED.len())].to_owned();
    TextDocumentContentChangeEvent { range: Some(Range::new(start, end)), range_length: None, text: typed }
}

#[test]
fn a_thousand_edits_agree_with_the_whole_check() {
    let uri: Uri = "file:///model".parse().expect("an address");
    let (mut dice, mut wrong, mut right) = (Dice(7), 0, 0);
    for (path, text) in models() {
        let language = Language::of_file(path.to_str().expect("a name")).expect("a language");
        for _ in 0..50 {
            let mut document = Document::new(language, text.clone(), None);
            assert!(!has_errors(&document.analysis.diagnostics), "{} is right", path.display());
            for _ in 0..4 {
                let change = edit(&mut dice, &document);
                document.text.change(change);
                document.analyse();
                let quick = has_errors(&document.analysis.diagnostics);
                let whole = has_errors(&language.check(&document.text.content, None));
                let content = &document.text.content;
                assert!(!quick || whole, "only the quick analysis finds an error in\n{content}");
                // Later phases refuse some specifications that are well sorted.
                assert!(quick || !whole || language == Language::Mcrl2, "an error is missed in\n{content}");
                (wrong, right) = (wrong + u32::from(whole), right + u32::from(!whole));
                ask_everything(&mut dice, &document, &uri);
            }
        }
    }
    assert!(wrong > 300 && right > 50, "edits break and keep models: {wrong} and {right}");
}

/// Asks all questions at some place; answers are in the text.
fn ask_everything(dice: &mut Dice, document: &Document, uri: &Uri) {
    let length = document.text.content.len();
    let offset = document.text.offset(document.text.position(dice.below(length + 1)));
    let _ = document.hover(offset);
    let _ = document.definition(uri, offset);
    let _ = document.completions(offset);
    let _ = document.outline();
    let _ = document.lenses(uri);
    let _ = document.show(&document.analysis.diagnostics);
    let _ = document.rename(uri, offset, "fresh_name");
    for one in &document.analysis.uses {
        assert!(one.range.end <= length && one.symbol < document.analysis.symbols.len());
    }
    let tidy = layout::format(document.language, &document.text.content);
    assert_eq!(layout::format(document.language, &tidy), tidy, "formatting twice is formatting once");
    let solid = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    assert_eq!(solid(&tidy), solid(&document.text.content), "formatting changes blanks only");
}

#[test]
fn every_name_of_the_bundled_specifications_is_known() {
    for (path, text) in
        models().into_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "mcrl2"))
    {
        let analysis = Language::Mcrl2.analyse(&text, None);
        for piece in layout::pieces(Language::Mcrl2, &text) {
            let layout::Piece::Word(range) = piece else { continue };
            let word = &text[range.clone()];
            let number = word.starts_with(|first: char| first.is_ascii_digit());
            let built_in =
                analysis.keywords.contains(&word) || !analysis.symbols.iter().any(|one| one.name == word);
            let known = analysis.uses.iter().any(|one| one.range == range);
            assert!(number || built_in || known, "{word} at {range:?} of {} has no meaning", path.display());
        }
        for one in &analysis.uses {
            assert_eq!(text[one.range.clone()], analysis.symbols[one.symbol].name, "{}", path.display());
        }
    }
}

#[test]
fn edits_of_formulas_agree_with_the_whole_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("a file");
    let specification = read("abp.mcrl2");
    let uri: Uri = "file:///formula.mcf".parse().expect("an address");
    let (mut dice, mut wrong, mut right) = (Dice(8), 0, 0);
    for name in ["2-nothing-from-nowhere", "4-in-order", "7-delivered-if-fair", "9-one-at-a-time"] {
        let text = read(&format!("requirements/abp/{name}.mcf"));
        for _ in 0..25 {
            let related = Related { uri: uri.clone(), text: Text::new(specification.clone()) };
            let mut document = Document::new(Language::Formula, text.clone(), Some(related));
            assert!(
                !has_errors(&document.analysis.diagnostics),
                "{name}: {:?}",
                document.analysis.diagnostics
            );
            for _ in 0..4 {
                let change = edit(&mut dice, &document);
                document.text.change(change);
                document.analyse();
                let content = &document.text.content;
                let quick = has_errors(&document.analysis.diagnostics);
                let whole = has_errors(&Language::Formula.check(content, Some(&specification)));
                assert_eq!(quick, whole, "{content}");
                (wrong, right) = (wrong + u32::from(whole), right + u32::from(!whole));
                let at = document.text.offset(document.text.position(dice.below(content.len() + 1)));
                let _ = (document.hover(at), document.definition(&uri, at), document.completions(at));
                let _ = (document.references(&uri, at, true), document.rename(&uri, at, "fresh_name"));
            }
        }
    }
    assert!(wrong > 100 && right > 20, "edits break and keep formulas: {wrong} and {right}");
}
