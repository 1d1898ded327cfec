//! Figures as SVG: lines and steps on two axes.
//!
//! Colours come from the page's style sheet, so that a figure follows its light and dark themes; every line and dot has a title that
//! browsers show when it is pointed at. Coordinates are rounded: a picture needs no more.

use std::fmt::Write as _;

use turnpike_lts::{Shapes, escape_xml};

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    /// What the horizontal axis shows.
    pub(super) x_label: String,
    /// What the vertical axis shows.
    pub(super) y_label: String,
    /// The horizontal axis is logarithmic.
    pub(super) log_x: bool,
    /// The vertical axis shows shares, from 0 to 1.
    pub(super) shares: bool,
    /// The series, at most ten of which have colours of their own.
    pub(super) series: Vec<Series>,
}

/// One line.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    /// In the legend.
    pub(super) name: String,
    /// How it is drawn.
    pub(super) shape: Shape,
    /// Ascending in x.
    pub(super) points: Vec<(f64, f64)>,
    /// Small crosses on the line: runs that were stopped.
    pub(super) marks: Vec<(f64, f64)>,
    /// Where steps begin: 0, or 1 when they descend.
    pub(super) start: f64,
    /// Published figures: dashed.
    pub(super) published: bool,
}

impl Series {
    /// The class of its dashes. When the colours are used up, they come again with dots.
    pub(super) fn dashes(&self, index: usize) -> &'static str {
        match (self.published, index >= 10) {
            (true, _) => " published",
            (false, true) => " again",
            (false, false) => "",
        }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// Straight from point to point.
    #[default]
    Line,
    /// Level until the next point.
    Steps,
}

pub(super) const WIDTH: f64 = 720.0;
pub(super) const HEIGHT: f64 = 380.0;
pub(super) const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;
/// More points than a screen has pixels are not drawn.
const MOST_POINTS: usize = 1500;

impl Chart {
    /// Axes and series; `None` when there is nothing to draw.
    pub(super) fn shapes(&self) -> Option<Shapes> {
        let frame = Frame::new(self)?;
        let mut shapes = Shapes::default();
        frame.axes(self, &mut shapes);
        for (index, series) in self.series.iter().enumerate() {
            frame.series(series, index, &mut shapes);
        }
        Some(shapes)
    }

    /// The picture on the page; `None` when there is nothing to draw.
    pub(super) fn svg(&self) -> Option<String> {
        let shapes = self.shapes()?;
        Some(format!(
            r#"<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{} against {}">{}</svg>"#,
            escape_xml(&self.y_label),
            escape_xml(&self.x_label),
            shapes.as_str()
        ))
    }
}

/// Where values lie on the picture.
struct Frame {
    x: Axis,
    y: Axis,
}

struct Axis {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<f64>,
}

impl Axis {
    fn new(low: f64, high: f64, log: bool) -> Axis {
        let high = if high > low { high } else { low + 1.0 };
        let ticks = if log { powers(low, high) } else { round_steps(low, high) };
        Axis { low, high, log, ticks }
    }

    /// From 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
}

impl Frame {
    fn new(chart: &Chart) -> Option<Frame> {
        let points = || chart.series.iter().flat_map(|series| series.points.iter().chain(&series.marks));
        let extremes = |value: fn(&(f64, f64)) -> f64| {
            points().map(value).filter(|value| value.is_finite()).fold(
                None,
                |range: Option<(f64, f64)>, value| {
                    Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
                },
            )
        };
        let (x_low, x_high) = extremes(|point| point.0)?;
        let (y_low, y_high) = extremes(|point| point.1)?;
        let x = match chart.log_x {
            true => Axis::new(x_low.max(1.0), x_high.max(2.0), true),
            false => Axis::new(x_low.min(0.0), x_high, false),
        };
        let y =
            if chart.shares { Axis::new(0.0, 1.0, false) } else { Axis::new(y_low.min(0.0), y_high, false) };
        Some(Frame { x, y })
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.place(x) * (WIDTH - LEFT - RIGHT);
        let up = HEIGHT - BOTTOM - self.y.place(y) * (HEIGHT - TOP - BOTTOM);
        (across, up)
    }

    fn axes(&self, chart: &Chart, shapes: &mut Shapes) {
        let (left, bottom) = (LEFT, HEIGHT - BOTTOM);
        let (right, top) = (WIDTH - RIGHT, TOP);
        for &tick in &self.x.ticks {
            let (x, _) = self.at((tick, self.y.low));
            shapes.path("grid", &format!("M{x:.1} {top}V{bottom}"), "");
            shapes.text("tick", "middle", (x, bottom + 16.0), &short(tick), "");
        }
        for &tick in &self.y.ticks {
            let (_, y) = self.at((self.x.low, tick));
            let text = if chart.shares { format!("{:.0}%", tick * 100.0) } else { short(tick) };
            shapes.path("grid", &format!("M{left} {y:.1}H{right}"), "");
            shapes.text("tick", "end", (left - 6.0, y + 4.0), &text, "");
        }
        shapes.path("axis", &format!("M{left} {top}V{bottom}H{right}"), "");
        let scale = if chart.log_x { " (logarithmic)" } else { "" };
        let below = format!("{}{scale}", chart.x_label);
        shapes.text("name", "middle", ((left + right) / 2.0, HEIGHT - 8.0), &below, "");
        shapes.upright_text("name", "middle", (14.0, (top + bottom) / 2.0), &chart.y_label);
    }

    fn series(&self, series: &Series, index: usize, shapes: &mut Shapes) {
        let colour = index % 10;
        let name = &series.name;
        let points: Vec<_> = thinned(&series.points).collect();
        let mut path = String::new();
        if series.shape == Shape::Steps {
            // A step function comes from the axis.
            let (left, ground) = self.at((self.x.low, series.start));
            let _ = write!(path, "M{left:.1} {ground:.1}");
        }
        for (number, &point) in points.iter().enumerate() {
            let (x, y) = self.at(point);
            let _ = match (number, series.shape) {
                (_, Shape::Steps) => write!(path, "H{x:.1}V{y:.1}"),
                (0, _) => write!(path, "M{x:.1} {y:.1}"),
                (..) => write!(path, "L{x:.1} {y:.1}"),
            };
        }
        if series.shape == Shape::Steps {
            let _ = write!(path, "H{:.1}", WIDTH - RIGHT);
        }
        shapes.path(&format!("line c{colour}{}", series.dashes(index)), &path, name);
        if series.shape == Shape::Line && points.len() <= 80 {
            for &(x, y) in &points {
                let title = format!("{name}: {} at {}", precise(y), short(x));
                shapes.circle(&format!("dot c{colour}"), self.at((x, y)), 3.0, &title);
            }
        }
        for mark in thinned(&series.marks) {
            let (x, y) = self.at(mark);
            let title = format!("{name}: stopped at {}", short(mark.0));
            shapes.path(&format!("mark c{colour}"), &format!("M{x:.1} {:.1}v8", y - 4.0), &title);
        }
    }
}

/// Not more points than can be seen; the last one stays.
fn thinned(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + '_ {
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    points
        .iter()
        .enumerate()
        .filter(move |&(index, _)| index % every == 0 || index + 1 == points.len())
        .map(|(_, &point)| point)
}

/// About six round numbers.
fn round_steps(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 6.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|&step| step >= raw * 0.999)
        .unwrap_or(raw);
    let first = (low / step).ceil() as i64;
    (first..)
        .map(|number| number as f64 * step)
        .take_while(|&tick| tick <= high * 1.000_001)
        .take(20)
        .collect()
}

/// Powers of ten, with 2 and 5 between them when there are few.
fn powers(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let steps: &[f64] = if last - first <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    (first..=last)
        .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
        .filter(|&tick| tick >= low * 0.999 && tick <= high * 1.001)
        .collect()
}

/// A number for an axis.
pub(super) fn short(value: f64) -> String {
    let scaled = |divisor: f64, unit: &str| {
        let text = format!("{:.2}", value / divisor);
        format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
    };
    match value.abs() {
        size if size >= 1e9 => scaled(1e9, "G"),
        size if size >= 1e6 => scaled(1e6, "M"),
        size if size >= 1e4 => scaled(1e3, "k"),
        _ => scaled(1.0, ""),
    }
}

/// A number for a reader, with three significant digits below 100 and separators above.
pub(super) fn precise(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value.abs() >= 100.0 || value == value.trunc() {
        let digits = format!("{:.0}", value.abs());
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        return if value < 0.0 { format!("-{text}") } else { text };
    }
    match value.abs() {
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(round_steps(0.0, 1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(round_steps(0.0, 5000.0), [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
        assert_eq!(powers(1.0, 120.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(powers(1.0, 1e6).len(), 7);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [short(0.25), short(9999.0), short(12_500.0), short(3e6)],
            ["0.25", "9999", "12.5k", "3M"]
        );
        assert_eq!(
            [precise(1234567.0), precise(45.678), precise(3.0), precise(0.01234), precise(f64::NAN)],
            ["1,234,567", "45.7", "3", "0.012", "–"]
        );
    }

    #[test]
    fn drawings_are_well_formed() {
        let line = |name: &str, shape| Series {
            name: name.into(),
            shape,
            points: vec![(1.0, 0.1), (10.0, 0.5), (100.0, 1.0)],
            marks: vec![(50.0, 0.7)],
            start: 0.0,
            published: false,
        };
        for log_x in [false, true] {
            let chart = Chart {
                x_label: "states < limit".into(),
                y_label: "successful runs".into(),
                log_x,
                shares: true,
                series: vec![
                    line("a & b", Shape::Steps),
                    line("c", Shape::Line),
                    Series { name: "no points".into(), shape: Shape::Steps, ..Series::default() },
                ],
            };
            let svg = chart.svg().expect("a picture");
            let document = roxmltree::Document::parse(&svg).expect("well-formed");
            let titles: Vec<_> = document.descendants().filter(|node| node.has_tag_name("title")).collect();
            // Two lines with a mark each, three dots, one line along the axis.
            assert_eq!(titles.len(), 2 + 2 + 3 + 1);
            let paths = document.descendants().filter_map(|node| node.attribute("d"));
            assert!(paths.clone().count() > 3 && paths.clone().all(|path| path.starts_with('M')), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        assert!(Chart::default().svg().is_none());
    }
}
