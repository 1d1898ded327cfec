//! Figures as files of their own: SVG with title, colours and legend, and the numbers behind it as CSV.

use std::fs;
use std::path::{Path, PathBuf};

use turnpike_lts::{Shapes, escape_xml};
use turnpike_model::Diagnostic;

use super::chart::{Chart, HEIGHT, LEFT, WIDTH};
use super::csv;
use super::drawing::{Figure, figures};
use super::page::failed;
use super::results::Results;
use crate::experiment::Kind;

/// The colours of the page in daylight, for paper is white.
pub(super) const COLOURS: [&str; 10] = [
    "#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f", "#78716c",
    "#1e3a8a",
];

const STYLE: &str = "text { fill: #1c1e21; font: 12px system-ui, sans-serif; } .title { font-size: 15px; font-weight: 600; } \
     .tick, .caption { fill: #5c6370; font-size: 11px; } .grid { stroke: #d8dce2; stroke-width: .6; fill: none; } \
     .axis { stroke: #5c6370; fill: none; } .line { fill: none; stroke-width: 1.8; } .mark { fill: none; stroke-width: 1.2; } \
     .published { stroke-dasharray: 5 4; } .again { stroke-dasharray: 1.5 3; } .paper { fill: #fff; }";

/// Heights of the title above a chart and of a line of text below it.
const HEAD: f64 = 30.0;
const LINE: f64 = 19.0;

/// Widths in the legend: about that of a character, of a sample of a line, and of the space between entries.
const CHARACTER: f64 = 6.6;
const SAMPLE: f64 = 24.0;
const GAP: f64 = 16.0;

/// Writes every figure of every experiment into `folder`: `EXPERIMENT-NUMBER-KIND[-MODEL].svg`, and the
/// same with `.csv`. Tables are CSV files only. Returns what was written.
pub fn write(results: &[Results], folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut written = Vec::new();
    let mut save = |name: String, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(failed(&path))?;
        written.push(path);
        Ok::<(), Diagnostic>(())
    };
    for results in results {
        let mut number = 0;
        for drawing in results.experiment.all_drawings() {
            let mut name = |model: Option<&str>, extension: &str| {
                number += 1;
                let model = model.map_or(String::new(), |model| format!("-{}", file_name_of(model)));
                let kind = drawing.kind.name();
                format!("{}-{number:02}-{kind}{model}{extension}", results.name)
            };
            if drawing.kind == Kind::Table {
                save(name(None, ".csv"), &csv::table(results, &drawing))?;
                continue;
            }
            for figure in figures(results, &drawing) {
                // What has nothing to draw has no numbers either.
                let Some(svg) = svg(&figure) else { continue };
                let name = name(figure.model.as_deref(), "");
                save(format!("{name}.svg"), &svg)?;
                save(format!("{name}.csv"), &csv::chart(&figure.chart))?;
            }
        }
    }
    Ok(written)
}

/// A model's name without what file names should not have.
fn file_name_of(model: &str) -> String {
    let plain = model.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let mut name = plain.collect::<Vec<_>>().join("-");
    name.truncate(60);
    name
}

/// A figure that stands alone; `None` when there is nothing to draw.
fn svg(figure: &Figure) -> Option<String> {
    let chart = figure.chart.shapes()?;
    let (legend, lines) = legend(&figure.chart);
    let height = HEAD + HEIGHT + LINE * (lines + 1) as f64 + 4.0;
    let mut head = Shapes::default();
    head.text("title", "start", (LEFT, 21.0), &figure.title, "");
    let mut foot = Shapes::default();
    foot.text("caption", "start", (LEFT, HEAD + HEIGHT + LINE * (lines as f64 + 0.7)), &figure.caption, "");
    let colours: String = COLOURS
        .iter()
        .enumerate()
        .map(|(index, colour)| {
            format!(
                " .line.c{index}, .mark.c{index} {{ stroke: {colour}; }} .dot.c{index} {{ fill: {colour}; }}"
            )
        })
        .collect();
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH} {height:.0}\">\n<title>{}</title>\n<style>{STYLE}{colours}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height:.0}\"/>\n{}\
         <g transform=\"translate(0 {HEAD})\">\n{}</g>\n{}{}</svg>\n",
        escape_xml(&figure.title),
        head.as_str(),
        chart.as_str(),
        legend.as_str(),
        foot.as_str()
    ))
}

/// The names of the series with their colours below the chart, and the number of lines that they take.
fn legend(chart: &Chart) -> (Shapes, usize) {
    let mut shapes = Shapes::default();
    let (mut x, mut line) = (LEFT, 1);
    for (index, series) in chart.series.iter().enumerate() {
        let width = SAMPLE + CHARACTER * series.name.chars().count() as f64 + GAP;
        if x > LEFT && x + width > WIDTH {
            (x, line) = (LEFT, line + 1);
        }
        let y = HEAD + HEIGHT + LINE * (line as f64 - 0.4);
        let dashes = series.dashes(index);
        shapes.path(&format!("line c{}{dashes}", index % 10), &format!("M{x:.1} {:.1}h18", y - 4.0), "");
        shapes.text("name", "start", (x + SAMPLE, y), &series.name, "");
        x += width;
    }
    (shapes, line)
}
