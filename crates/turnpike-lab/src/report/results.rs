//! What the database knows of an experiment, condensed.

use turnpike_model::Diagnostic;

use crate::experiment::{Cell, Experiment, Published, Success};
use crate::runner;
use crate::statistics::{Proportion, Summary};
use crate::store::{CellId, CellKey, Record, Store};

/// An experiment with its runs.
pub struct Results {
    /// Its name: the file's.
    pub name: String,
    /// As written.
    pub experiment: Experiment,
    /// Row by row, as the experiment has them.
    pub cells: Vec<CellResult>,
}

/// A cell with its runs.
pub struct CellResult {
    /// As the experiment has it.
    pub cell: Cell,
    /// What its results are filed under; `None` = there are none.
    pub key: Option<CellKey>,
    /// By number.
    pub runs: Vec<Record>,
    /// What others measured.
    pub published: Option<Published>,
}

impl Results {
    /// Gathers the runs of an experiment. Of a cell with several versions of its model or of turnpike the newest counts.
    pub fn gather(name: &str, experiment: Experiment, store: &Store) -> Result<Results, Diagnostic> {
        let filed = store.cells(name)?;
        // The same row may have runs of the paper's model and of its stand-in: the paper's comes first.
        let candidates = [experiment.cells(true), experiment.cells(false)];
        let mut cells = Vec::new();
        for (public, stand_in) in candidates[0].iter().zip(&candidates[1]) {
            let found = [public, stand_in]
                .into_iter()
                .find_map(|cell| newest(cell, &filed).map(|found| (cell, found)));
            let fitting = experiment.published.iter().filter(|published| {
                let names =
                    |asked: &Option<String>, name: &str| asked.as_deref().is_none_or(|asked| asked == name);
                names(&published.model, &public.model) && names(&published.strategy, &public.strategy)
            });
            // What names both goes before what names one.
            let published = fitting.max_by_key(|published| {
                u8::from(published.model.is_some()) + u8::from(published.strategy.is_some())
            });
            let (cell, key, runs) = match found {
                Some((cell, (id, key))) => {
                    let mut runs = store.runs(*id)?;
                    if experiment.success == Success::Proof {
                        runs.iter_mut().for_each(|run| run.found = !run.found && run.stop == "exhausted");
                    }
                    (cell, Some(key.clone()), runs)
                }
                None => (stand_in, None, Vec::new()),
            };
            cells.push(CellResult { cell: cell.clone(), key, runs, published: published.cloned() });
        }
        Ok(Results { name: name.to_owned(), experiment, cells })
    }

    /// Names of rows, in order.
    pub fn rows(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|result| result.cell.model.as_str()))
    }

    /// Names of columns, in order.
    pub fn columns(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|result| result.cell.strategy.as_str()))
    }

    /// A cell by its names.
    pub fn cell(&self, row: &str, column: &str) -> Option<&CellResult> {
        self.cells.iter().find(|result| result.cell.model == row && result.cell.strategy == column)
    }

    /// All runs there are.
    pub fn count(&self) -> usize {
        self.cells.iter().map(|result| result.runs.len()).sum()
    }
}

fn newest<'a>(cell: &Cell, filed: &'a [(CellId, CellKey)]) -> Option<&'a (CellId, CellKey)> {
    let wanted = runner::key("", "", cell, 0);
    filed.iter().rev().find(|(_, key)| {
        (&key.model, &key.strategy, &key.flags, &key.source, key.stand_in)
            == (&wanted.model, &wanted.strategy, &wanted.flags, &wanted.source, wanted.stand_in)
    })
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

impl CellResult {
    /// How many succeeded.
    pub fn rate(&self) -> Proportion {
        Proportion::of(self.runs.iter().map(|run| run.found))
    }

    /// A figure of the successful runs: `states`, `considered`, `generated`, `transitions`, `depth`, `length`, `original_length`, `seconds`; or an
    /// extreme by its objective (`max report.1`), then of all runs.
    pub fn measure(&self, name: &str) -> Summary {
        let of = |value: fn(&Record) -> Option<f64>| {
            Summary::new(self.runs.iter().filter(|run| run.found).filter_map(value))
        };
        match name {
            "states" => of(|run| Some(run.states as f64)),
            "considered" => of(|run| run.considered.map(|count| count as f64)),
            "generated" => of(|run| run.generated.map(|count| count as f64)),
            "held" => of(|run| run.held.map(|count| count as f64)),
            "transitions" => of(|run| Some(run.transitions as f64)),
            "depth" => of(|run| Some(f64::from(run.depth))),
            "length" => of(|run| run.length.map(|length| length as f64)),
            "original_length" => of(|run| run.original_length.map(|length| length as f64)),
            "seconds" => of(|run| Some(run.seconds)),
            "executions" => of(|run| run.executions.map(|count| count as f64)),
            extreme => Summary::new(self.runs.iter().filter_map(|run| extreme_of(run, extreme))),
        }
    }

    /// A figure of the cell as a whole: its rate, its cost, or the mean of a measure.
    pub fn figure(&self, name: &str) -> Option<f64> {
        match name {
            "rate" => self.rate().rate(),
            "cost" => self.cost_per_success(),
            "microseconds" => {
                let (states, seconds) = self.runs.iter().fold((0, 0.0), |(states, seconds), run| {
                    (states + run.states + run.shorten_states, seconds + run.seconds)
                });
                (states > 0).then(|| seconds * 1e6 / states as f64)
            }
            measure => self.measure(measure).mean(),
        }
    }

    /// States of all runs, failed ones and shortening included, for each success.
    pub fn cost_per_success(&self) -> Option<f64> {
        let successes = self.runs.iter().filter(|run| run.found).count();
        let states: u64 = self.runs.iter().map(|run| run.states + run.shorten_states).sum();
        (successes > 0).then(|| states as f64 / successes as f64)
    }

    /// The command that repeats the cell.
    pub fn command(&self) -> String {
        let setting = &self.cell.setting;
        let mut words = vec!["turnpike".to_owned(), "search".to_owned()];
        if setting.is_program() {
            words.extend(["--program".to_owned(), format!("./{}", setting.program())]);
        } else {
            words.push(setting.source.clone());
        }
        words.extend(self.cell.flags.iter().cloned());
        words.extend(["--runs".to_owned(), self.runs.len().max(1).to_string()]);
        words.extend(self.cell.words().into_iter().skip(self.cell.flags.len()));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }
}

fn extreme_of(run: &Record, objective: &str) -> Option<f64> {
    let extra: serde_json::Value = serde_json::from_str(run.extra.as_deref()?).ok()?;
    extra.get("extreme")?.get(objective)?.as_f64()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./:=,@+".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
