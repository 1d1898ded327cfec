//! Draws a CSV file as an SVG line chart: the first column is the horizontal axis, every other column a line.
//! `cargo run --release -p turnpike-search --example plot -- IN.csv "TITLE" "X AXIS" "Y AXIS" > OUT.svg`

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::fmt::Write;

use turnpike_lts::escape_xml;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;
/// Distinguishable in print, on light and dark ground, and by the colour-blind.
const COLOURS: [&str; 8] =
    ["#d55e00", "#0072b2", "#999999", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#b8a500"];

struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

fn read(path: &str) -> Result<Table, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut lines = text.lines();
    let names = lines.next().unwrap_or_default().split(',').map(str::to_owned).collect();
    let rows = lines
        .map(|line| {
            line.split(',')
                .map(|cell| cell.parse().map_err(|_| format!("'{cell}' is not a number")))
                .collect()
        })
        .collect::<Result<_, _>>()?;
    Ok(Table { names, rows })
}

/// The smallest of 1, 2, 5, 10, 20, … that makes at most eight steps.
fn step(span: f64) -> f64 {
    let mut size = 10f64.powf((span / 8.0).log10().floor());
    for factor in [2.0, 2.5, 2.0] {
        if span / size <= 8.0 {
            break;
        }
        size *= factor;
    }
    size
}

/// The lines of all columns, with their names beside the picture.
fn draw_lines(
    svg: &mut String,
    table: &Table,
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) -> std::fmt::Result {
    let right = WIDTH - RIGHT;
    for (index, name) in table.names.iter().enumerate().skip(1) {
        let colour = COLOURS[(index - 1) % COLOURS.len()];
        let points: Vec<String> =
            table.rows.iter().map(|row| format!("{:.1},{:.1}", x(row[0]), y(row[index]))).collect();
        writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" points=\"{}\"><title>{}</title></polyline>",
            points.join(" "),
            escape_xml(name)
        )?;
        let at = TOP + 16.0 * index as f64;
        writeln!(
            svg,
            "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{colour}\" stroke-width=\"3\"/><text x=\"{3}\" y=\"{4}\">{5}</text>",
            right + 12.0,
            right + 30.0,
            at - 4.0,
            right + 36.0,
            at,
            escape_xml(name)
        )?;
    }
    Ok(())
}

fn draw(table: &Table, title: &str, horizontal: &str, vertical: &str) -> Result<String, std::fmt::Error> {
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (x_low, x_high) = bounds(&mut table.rows.iter().map(|row| row[0]));
    let (y_low, y_high) = bounds(&mut table.rows.iter().flat_map(|row| row[1..].iter().copied()));
    // Probabilities are drawn from 0 unless all of them are high.
    let (y_low, y_high) = (if y_low > 0.5 { (y_low * 10.0).floor() / 10.0 } else { 0.0 }, y_high.max(0.1));
    let x = |value: f64| LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{0}</title>\n<style>text{{fill:#333}}.axis{{stroke:#888;stroke-width:1}}.grid{{stroke:#8884;stroke-width:.5}}\
         @media(prefers-color-scheme:dark){{text{{fill:#ccc}}}}</style>\n\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"13\" font-weight=\"bold\">{0}</text>\n",
        escape_xml(title)
    );
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let y_step = step(y_high - y_low);
    let digits = if y_step < 1.0 { 2 } else { 0 };
    let mut tick = y_low;
    while tick <= y_high + 1e-9 {
        writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{tick:.digits$}</text>",
            y(tick),
            LEFT - 6.0,
            y(tick) + 4.0
        )?;
        tick += y_step;
    }
    let x_step = step(x_high - x_low);
    let mut tick = (x_low / x_step).ceil() * x_step;
    while tick <= x_high + 1e-9 {
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
            x(tick),
            bottom + 16.0
        )?;
        tick += x_step;
    }
    writeln!(svg, "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{bottom}\" y2=\"{bottom}\"/>")?;
    writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        (LEFT + right) / 2.0,
        HEIGHT - 10.0,
        escape_xml(horizontal)
    )?;
    writeln!(
        svg,
        "<text x=\"14\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0})\">{1}</text>",
        (TOP + bottom) / 2.0,
        escape_xml(vertical)
    )?;
    draw_lines(&mut svg, table, x, y)?;
    svg.push_str("</svg>");
    Ok(svg)
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, title, horizontal, vertical] = arguments.as_slice() else {
        return Err("usage: plot IN.csv TITLE X-AXIS Y-AXIS".into());
    };
    let svg = draw(&read(path)?, title, horizontal, vertical).map_err(|error| error.to_string())?;
    println!("{svg}");
    Ok(())
}
