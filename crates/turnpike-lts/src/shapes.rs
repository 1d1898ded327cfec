//! The few SVG shapes of all pictures, and the file around a self-contained picture.

use std::fmt::Write;

/// A point in a picture, in pixels.
pub type Point = (f64, f64);

/// Shapes in drawing order: each covers those before it. Every shape has a class for its style, and
/// may have a tooltip.
#[derive(Clone, Debug, Default)]
pub struct Shapes(String);

impl Shapes {
    /// A path in the syntax of SVG.
    pub fn path(&mut self, class: &str, data: &str, tooltip: &str) {
        self.element(format_args!("path class=\"{class}\" d=\"{data}\""), tooltip, "path");
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, (x1, y1): Point, (x2, y2): Point, tooltip: &str) {
        self.path(class, &format!("M{x1:.1},{y1:.1} L{x2:.1},{y2:.1}"), tooltip);
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, (x, y): Point, radius: f64, tooltip: &str) {
        let start = format_args!("circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"");
        self.element(start, tooltip, "circle");
    }

    /// A rectangle with rounded corners.
    pub fn rectangle(&mut self, class: &str, (x, y): Point, (width, height): Point, tooltip: &str) {
        let start = format_args!(
            "rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             rx=\"3\""
        );
        self.element(start, tooltip, "rect");
    }

    /// A line of text. `anchor` is the part of it that is at the point: `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, anchor: &str, (x, y): Point, text: &str, tooltip: &str) {
        self.text_at(class, anchor, format_args!("x=\"{x:.1}\" y=\"{y:.1}\""), text, tooltip);
    }

    /// A line of text, rotated to read upwards.
    pub fn upright_text(&mut self, class: &str, anchor: &str, (x, y): Point, text: &str) {
        let place = format_args!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\"");
        self.text_at(class, anchor, place, text, "");
    }

    fn text_at(
        &mut self,
        class: &str,
        anchor: &str,
        place: std::fmt::Arguments<'_>,
        text: &str,
        tooltip: &str,
    ) {
        let _ = write!(self.0, "<text class=\"{class}\" text-anchor=\"{anchor}\" {place}>");
        self.tooltip(tooltip);
        let _ = writeln!(self.0, "{}</text>", escape_xml(text));
    }

    /// Shapes of one class with a common tooltip.
    pub fn group(&mut self, class: &str, tooltip: &str, shapes: &Shapes) {
        let _ = write!(self.0, "<g class=\"{class}\">");
        self.tooltip(tooltip);
        let _ = writeln!(self.0, "{}</g>", shapes.0);
    }

    /// The shapes of one step of a trace. Scripts use its number, counted from 1.
    pub(crate) fn step_group(&mut self, number: usize, shapes: &Shapes) {
        let _ = writeln!(self.0, "<g class=\"step\" data-step=\"{number}\">\n{}</g>", shapes.0);
    }

    /// Shapes that are translated together, with attributes for scripts.
    pub(crate) fn placed_group(&mut self, class: &str, data: &str, (x, y): Point, shapes: &Shapes) {
        let _ = writeln!(
            self.0,
            "<g class=\"{class}\" {data} transform=\"translate({x:.1} {y:.1})\">\n{}</g>",
            shapes.0
        );
    }

    fn element(&mut self, start: std::fmt::Arguments<'_>, tooltip: &str, name: &str) {
        let _ = write!(self.0, "<{start}");
        if tooltip.is_empty() {
            self.0.push_str("/>\n");
        } else {
            self.0.push('>');
            self.tooltip(tooltip);
            let _ = writeln!(self.0, "</{name}>");
        }
    }

    fn tooltip(&mut self, text: &str) {
        if !text.is_empty() {
            let _ = write!(self.0, "<title>{}</title>", escape_xml(text));
        }
    }

    /// The shapes as SVG elements.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A self-contained picture: shapes on a background, with a style and an arrowhead.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    pub(crate) style: &'a str,
    /// The position of the arrowhead's tip: at 8, the end of a line is the tip itself.
    pub(crate) tip: u32,
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Page<'_> {
    /// The contents of the file. Later layers cover earlier ones.
    pub(crate) fn render(&self, layers: &[&Shapes]) -> String {
        let Page { title, style, tip, left, top, width, height } = *self;
        let title = escape_xml(title);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{left:.0} {top:.0} {width:.0} {height:.0}\">\n<title>{title}</title>\n<style>{style}</style>\n\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"{tip}\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path class=\"head\" d=\"M0,0.5 L8,4 L0,7.5 z\"/></marker></defs>\n\
             <rect class=\"paper\" x=\"{left:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n"
        );
        layers.iter().for_each(|layer| out.push_str(layer.as_str()));
        out.push_str("</svg>\n");
        out
    }
}

/// Escapes text for XML, in content and in quoted attributes, in which readers turn line breaks
/// into blanks. Replaces characters that XML 1.0 cannot contain, even escaped.
pub fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_content_and_attributes() {
        assert_eq!(
            escape_xml("a < b && \"c\"\n\td\u{1}\r"),
            "a &lt; b &amp;&amp; &quot;c&quot;\n\td\u{fffd}\u{fffd}"
        );
    }
}
