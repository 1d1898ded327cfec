//! The page and the files beside it.

use std::fs;
use std::path::{Path, PathBuf};

use askama::Template;
use turnpike_model::Diagnostic;

use super::chart::precise;
use super::csv;
use super::drawing::{Figure, budget, figures};
use super::portfolio::{self, Comparison};
use super::published;
use super::results::Results;
use super::table::Table;
use crate::experiment::{Drawing, Kind};

/// The whole page.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    version: String,
    /// What `auto` costs, in one sentence and by model.
    auto: Option<String>,
    comparisons: Vec<Comparison>,
    /// How published figures stand, in one sentence and cell by cell.
    standing: Option<String>,
    published: Vec<published::Comparison>,
    sections: Vec<Section>,
}

/// One experiment.
struct Section {
    id: String,
    title: String,
    paper: Option<String>,
    about: Option<String>,
    runs: String,
    tables: Vec<Table>,
    figures: Vec<Figure>,
    commands: Vec<Command>,
}

/// How a cell is repeated.
struct Command {
    model: String,
    strategy: String,
    runs: usize,
    budget: String,
    seeds: String,
    text: String,
    changes: String,
    /// For programs: the source and its flags.
    compiled: Option<String>,
}

/// Writes `index.html`, `cells.csv`, `published.csv`, and one CSV file with all runs for each experiment into `folder`; returns what was written.
pub fn write(results: &[Results], version: &str, folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let comparisons = portfolio::comparisons(results);
    let published = published::comparisons(results);
    let page = Page {
        version: version.to_owned(),
        auto: portfolio::sentence(&comparisons, &portfolio::failures(results)),
        comparisons,
        standing: published::sentence(&published),
        published,
        sections: results.iter().map(section).collect(),
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let html =
        page.render().map_err(|error| Diagnostic::error(format!("cannot make the report: {error}")))?;
    let index = folder.join("index.html");
    fs::write(&index, html).map_err(failed(&index))?;
    let cells = folder.join("cells.csv");
    fs::write(&cells, csv::cells(results)).map_err(failed(&cells))?;
    let mut written = vec![index, cells];
    for result in results {
        let path = folder.join(format!("{}.csv", result.name));
        fs::write(&path, csv::runs(result)).map_err(failed(&path))?;
        written.push(path);
    }
    let beside = folder.join("published.csv");
    fs::write(&beside, csv::published(&page.published)).map_err(failed(&beside))?;
    written.push(beside);
    Ok(written)
}

fn section(results: &Results) -> Section {
    let experiment = &results.experiment;
    let (tables, others): (Vec<Drawing>, Vec<Drawing>) =
        experiment.all_drawings().into_iter().partition(|drawing| drawing.kind == Kind::Table);
    let commands = results.cells.iter().map(|result| {
        let setting = &result.cell.setting;
        let changes =
            setting.replace.iter().map(|change| format!("`{}` becomes `{}`", change.text, change.with));
        Command {
            model: result.cell.model.clone(),
            strategy: result.cell.strategy.clone(),
            runs: result.runs.len(),
            budget: budget(&result.cell.flags),
            seeds: result.runs.first().zip(result.runs.last()).map_or(String::new(), |(first, last)| {
                format!("runs {} to {} of seed {}", first.number, last.number, experiment.seed)
            }),
            text: result.command(),
            changes: changes.collect::<Vec<_>>().join("; "),
            compiled: setting.is_program().then(|| {
                let hooks = if setting.hooks { " -fsanitize=thread" } else { "" };
                let flags: String = setting.compile.iter().map(|flag| format!(" {flag}")).collect();
                format!("{}{hooks}{flags}", setting.source)
            }),
        }
    });
    Section {
        id: results.name.clone(),
        title: experiment.title.clone(),
        paper: experiment.paper.clone(),
        about: experiment.about.clone(),
        runs: precise(results.count() as f64),
        tables: tables.iter().map(|drawing| Table::new(results, drawing)).collect(),
        figures: others.iter().flat_map(|drawing| figures(results, drawing)).collect(),
        commands: commands.collect(),
    }
}

/// What is wrong when a file cannot be written.
pub(super) fn failed(path: &Path) -> impl Fn(std::io::Error) -> Diagnostic {
    let path = path.display().to_string();
    move |error| Diagnostic::error(format!("cannot write {path}: {error}"))
}
