//! Chooses cells and experiments by their names as they are printed, or by patterns.
//!
//! A cell has three names: `MODEL / STRATEGY`, its model's and its strategy's. A text that is one of
//! these names means just that, whatever characters it has. In any other text, `*` stands for any
//! characters and `?` for one; nothing else has a special meaning.

use turnpike_model::Diagnostic;
use turnpike_session::Pattern;

use crate::experiment::Cell;

/// A choice of cells.
#[derive(Clone, Debug, Default)]
pub struct Selection(Option<Vec<Rule>>);

#[derive(Clone, Debug)]
enum Rule {
    Name(String),
    Pattern(Pattern),
}

impl Rule {
    /// What a text means among these names; `None` when it means none of them.
    fn among<'a>(text: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<Rule> {
        let text = text.trim();
        if names.clone().any(|name| name == text) {
            return Some(Rule::Name(text.to_owned()));
        }
        let rule = Rule::Pattern(Pattern::new(text));
        names.into_iter().any(|name| rule.fits(name)).then_some(rule)
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Rule::Name(asked) => asked == name,
            Rule::Pattern(pattern) => pattern.matches(name),
        }
    }
}

fn names_of(cell: &Cell) -> [String; 3] {
    [cell.name(), cell.model.clone(), cell.strategy.clone()]
}

impl Selection {
    /// The cells that one of these texts means; all of them without texts. A text that means none of
    /// the given cells is an error.
    pub fn new<'a>(
        texts: &[String],
        cells: impl IntoIterator<Item = &'a Cell>,
    ) -> Result<Selection, Diagnostic> {
        if texts.is_empty() {
            return Ok(Selection(None));
        }
        let names: Vec<String> = cells.into_iter().flat_map(names_of).collect();
        let names = || names.iter().map(String::as_str);
        let rule = |text: &String| {
            Rule::among(text, names()).ok_or_else(|| {
                let message = format!("no cell, model or strategy is called `{text}`");
                let example = names().next().map_or(String::new(), |name| format!(", such as `{name}`"));
                Diagnostic::error(message).suggest(text, names()).help_if_none(format!(
                    "cells are called `MODEL / STRATEGY`{example}; * and ? are wildcards"
                ))
            })
        };
        Ok(Selection(Some(texts.iter().map(rule).collect::<Result<_, _>>()?)))
    }

    /// Whether it has this cell.
    pub fn contains(&self, cell: &Cell) -> bool {
        self.0.as_ref().is_none_or(|rules| {
            let names = names_of(cell);
            rules.iter().any(|rule| names.iter().any(|name| rule.fits(name)))
        })
    }
}

/// The names that a text means: itself, or as a pattern those that it matches. Empty when there is none.
pub fn matching<'a>(text: &str, names: &'a [String]) -> Vec<&'a str> {
    let names = || names.iter().map(String::as_str);
    match Rule::among(text, names()) {
        Some(rule) => names().filter(|name| rule.fits(name)).collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn cells() -> Vec<Cell> {
        let text = r#"
title = "t"
runs = 1
[[model]]
name = "philosophers(n={n}) [old]"
use = "builtin:philosophers"
vary = { n = [3, 4] }
[[model]]
name = "models/a*b ? c.mcrl2"
use = "x"
[[model]]
name = "models/aXb Y c.mcrl2"
use = "y"
[[strategy]]
name = "highway {width}"
flags = "--width {width}"
vary = { width = [1, 12] }
"#;
        Experiment::parse(text).expect("an experiment").cells(false)
    }

    fn chosen(texts: &[&str]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let cells = cells();
        let selection = Selection::new(&texts, &cells).expect("some cells");
        cells.iter().filter(|cell| selection.contains(cell)).map(Cell::name).collect()
    }

    #[test]
    fn what_is_printed_selects_itself() {
        let cells = cells();
        assert_eq!(cells.len(), 8);
        for cell in &cells {
            assert_eq!(chosen(&[&cell.name()]), [cell.name()]);
            let of_model: Vec<_> = cells.iter().filter(|other| other.model == cell.model).collect();
            assert_eq!(chosen(&[&cell.model]), of_model.iter().map(|cell| cell.name()).collect::<Vec<_>>());
            let by_strategy = cells.iter().filter(|other| other.strategy == cell.strategy);
            assert_eq!(chosen(&[&cell.strategy]), by_strategy.map(Cell::name).collect::<Vec<_>>());
        }
        assert_eq!(chosen(&[]).len(), 8);
        assert_eq!(chosen(&["highway 1", "models/a*b ? c.mcrl2"]).len(), 4 + 1);
    }

    #[test]
    fn wildcards_are_stars_and_question_marks_only() {
        assert_eq!(chosen(&["*"]).len(), 8);
        assert_eq!(chosen(&["philosophers(n=?) [old] / highway*"]).len(), 4);
        assert_eq!(chosen(&["philosophers*/highway 12"]).len(), 2);
        assert_eq!(chosen(&["models/a* / highway 12"]).len(), 2);
        assert_eq!(chosen(&["highway 1*"]).len(), 8);
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        let help = |text: &str| {
            Selection::new(&[text.to_owned()], &cells()).expect_err("no cell").help.unwrap_or_default()
        };
        assert_eq!(help("higway 12"), "did you mean `highway 12`?");
        assert!(
            help("[a-z]*[0-9]").contains("`MODEL / STRATEGY`, such as `philosophers(n=3) [old] / highway 1`")
        );
    }

    #[test]
    fn names_are_matched_alike() {
        let names = ["a[1]".to_owned(), "a[2]".to_owned(), "b".to_owned()];
        assert_eq!(matching("a[1]", &names), ["a[1]"]);
        assert_eq!(matching("a*", &names), ["a[1]", "a[2]"]);
        assert_eq!(matching("[ab]", &names), [""; 0]);
    }
}
