//! From rows and columns to cells.

use std::collections::BTreeMap;

use super::{Experiment, Model, Replacement, Strategy, Value};

/// One model with one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The row's name, parameters filled in.
    pub model: String,
    /// The column's name, parameters filled in.
    pub strategy: String,
    /// What is searched.
    pub setting: Setting,
    /// Flags of `turnpike search`, the experiment's first, then the model's, then the strategy's, and the seed.
    pub flags: Vec<String>,
    /// Arguments of a program.
    pub arguments: Vec<String>,
    /// Runs asked for.
    pub runs: u64,
    /// Parameters of both.
    pub parameters: BTreeMap<String, Value>,
    /// Both names, parameters not filled in.
    pub template: String,
    /// The column whose published figures it may explain.
    pub explains: Option<String>,
}

/// Which model a cell runs on.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// A built-in model or a path.
    pub source: String,
    /// The path is in the folder of public models.
    pub public: bool,
    /// The paper's own model exists, but this is not it.
    pub stand_in: bool,
    /// The paper's own model is not public, and this is one of ours.
    pub in_kind: bool,
    /// Changes to the text.
    pub replace: Vec<Replacement>,
    /// How a program is compiled.
    pub compile: Vec<String>,
    /// Whether its accesses to memory are visible.
    pub hooks: bool,
}

impl Cell {
    /// What the cell is called wherever it is printed: `MODEL / STRATEGY`.
    pub fn name(&self) -> String {
        format!("{} / {}", self.model, self.strategy)
    }

    /// What the cells have in common that differ in this parameter alone.
    pub fn line(&self, parameter: &str) -> String {
        let mut others = self.parameters.clone();
        others.insert(parameter.to_owned(), Value::Text(String::new()));
        fill(&self.template, &others).trim().to_owned()
    }

    /// Flags, and behind them the arguments of a program.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.flags.clone();
        if !self.arguments.is_empty() {
            words.push("--".to_owned());
            words.extend(self.arguments.iter().cloned());
        }
        words
    }
}

impl Setting {
    /// Whether it is the model that the paper measured, so that figures can be compared.
    pub fn is_the_papers(&self) -> bool {
        !self.stand_in && !self.in_kind
    }

    /// Whether it is the source of a program.
    pub fn is_program(&self) -> bool {
        [".c", ".cc", ".cpp"].iter().any(|extension| self.source.ends_with(extension))
    }

    /// The program's name, without folder and extension.
    pub fn program(&self) -> String {
        std::path::Path::new(&self.source).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Experiment {
    /// All cells, row by row. `public` tells whether a folder of public models is at hand.
    pub fn cells(&self, public: bool) -> Vec<Cell> {
        let mut cells = Vec::new();
        for model in &self.models {
            for row in combinations(&model.vary) {
                for strategy in &self.strategies {
                    let meant =
                        |only: &[String], name: &str| only.is_empty() || only.iter().any(|item| item == name);
                    if !meant(&model.only, &strategy.name) || !meant(&strategy.only, &model.name) {
                        continue;
                    }
                    for column in combinations(&strategy.vary) {
                        cells.push(self.cell(model, &row, strategy, &column, public));
                    }
                }
            }
        }
        cells
    }

    fn cell(
        &self,
        model: &Model,
        row: &BTreeMap<String, Value>,
        strategy: &Strategy,
        column: &BTreeMap<String, Value>,
        public: bool,
    ) -> Cell {
        let own = model.public.as_ref().filter(|_| public);
        let (source, flags, replace) = match own {
            Some(own) => (&own.file, &own.flags, &own.replace),
            None => (&model.source, &model.flags, &model.replace),
        };
        let mut parameters = row.clone();
        parameters.extend(column.clone());
        let texts = [self.flags.as_str(), flags, &strategy.flags];
        let flags = texts.iter().flat_map(|text| words(text).unwrap_or_default());
        Cell {
            model: fill(&model.name, row),
            strategy: fill(&strategy.name, column),
            explains: strategy.explains.as_deref().map(|name| fill(name, column)),
            setting: Setting {
                source: fill(source, row),
                public: own.is_some(),
                stand_in: model.public.is_some() && own.is_none(),
                in_kind: model.in_kind,
                replace: replace
                    .iter()
                    .map(|change| Replacement {
                        text: fill(&change.text, row),
                        with: fill(&change.with, row),
                        words: change.words,
                    })
                    .collect(),
                compile: filled(&model.compile, row),
                hooks: model.hooks,
            },
            arguments: filled(&model.arguments, &parameters),
            flags: flags
                .map(|flag| fill(&flag, &parameters))
                .chain(["--seed".to_owned(), self.seed.to_string()])
                .collect(),
            runs: strategy.runs.or(model.runs).unwrap_or(self.runs),
            parameters,
            template: format!("{} {}", model.name, strategy.name),
        }
    }
}

/// Every combination of values, the last parameter changing fastest.
fn combinations(vary: &BTreeMap<String, Vec<Value>>) -> Vec<BTreeMap<String, Value>> {
    vary.iter().fold(vec![BTreeMap::new()], |combinations, (name, values)| {
        combinations
            .iter()
            .flat_map(|combination| {
                values.iter().map(|value| {
                    let mut combination = combination.clone();
                    combination.insert(name.clone(), value.clone());
                    combination
                })
            })
            .collect()
    })
}

/// Puts values where `{name}` stands.
fn fill(text: &str, values: &BTreeMap<String, Value>) -> String {
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), &value.to_string()))
}

/// Words with their values.
fn filled(text: &str, values: &BTreeMap<String, Value>) -> Vec<String> {
    words(text).unwrap_or_default().iter().map(|word| fill(word, values)).collect()
}

/// Splits flags at blanks; quotes, single or double, keep words together. `None` when a quote is not closed.
pub(super) fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            // As a shell has it, so that a quoted word may hold a quote.
            (None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}
