//! A sheet of SVG: shapes are added in any order, and the sheet knows how large it must be.

use crate::drawing::shortened;
use crate::shapes::{Page, Shapes};

/// Pixels; a character of the font is about this wide.
pub(super) const CHARACTER: f64 = 6.4;
const MARGIN: f64 = 16.0;

/// Shapes drawn so far; lines lie below boxes, and boxes below text.
#[derive(Default)]
pub(super) struct Canvas {
    lines: Shapes,
    boxes: Shapes,
    texts: Shapes,
    right: f64,
    bottom: f64,
}

impl Canvas {
    fn cover(&mut self, right: f64, bottom: f64) {
        self.right = self.right.max(right);
        self.bottom = self.bottom.max(bottom);
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64), title: &str) {
        self.cover(x1.max(x2), y1.max(y2));
        self.lines.line(class, (x1, y1), (x2, y2), title);
    }

    /// A box with a text in its middle, as much of it as fits.
    pub(super) fn labelled(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        text: &str,
        title: &str,
    ) {
        self.cover(x + width, y + height);
        self.boxes.rectangle(class, (x, y), (width, height), title);
        let fitting = (width / CHARACTER) as usize;
        if fitting >= 2 {
            self.text(
                "name",
                "middle",
                (x + width / 2.0, y + height / 2.0 + 3.5),
                &shortened(text, fitting),
                title,
            );
        }
    }

    /// A round mark on a line.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), title: &str) {
        self.cover(x + 4.0, y + 4.0);
        self.boxes.circle("dot", (x, y), 3.5, title);
    }

    pub(super) fn text(&mut self, class: &str, anchor: &str, (x, y): (f64, f64), text: &str, title: &str) {
        let width = text.chars().count() as f64 * CHARACTER;
        let right = match anchor {
            "start" => x + width,
            "middle" => x + width / 2.0,
            _ => x,
        };
        self.cover(right, y + 4.0);
        self.texts.text(class, anchor, (x, y), text, title);
    }

    pub(super) fn finish(self, title: &str) -> String {
        let (width, height) = (self.right + 2.0 * MARGIN, self.bottom + 2.0 * MARGIN);
        let page = Page { title, style: STYLE, tip: 8, left: -MARGIN, top: -MARGIN, width, height };
        page.render(&[&self.lines, &self.boxes, &self.texts])
    }
}

/// Plain colours and no variables: not every viewer knows those. The eight tints of bars are of one
/// lightness.
const STYLE: &str = "
.paper { fill: #ffffff; }
.lifeline, .axis { stroke: #7b8794; stroke-width: 1.2; }
.arrow { stroke: #1f2933; stroke-width: 1.4; marker-end: url(#arrow); }
.sync { stroke: #1f2933; stroke-width: 1.4; }
.moment { stroke: #cbd2d9; stroke-width: 1; stroke-dasharray: 3 3; }
.back { stroke: #c2410c; stroke-width: 1.2; stroke-dasharray: 5 3; }
.head, .dot { fill: #1f2933; }
.process { fill: #d3f2e1; stroke: #1f2933; stroke-width: 1.2; }
.place { fill: #f0f4f8; stroke: #7b8794; stroke-width: 1; }
.bar { stroke: #52606d; stroke-width: 0.6; }
.open { fill-opacity: 0.45; }
.t0 { fill: #bcdcf5; } .t1 { fill: #f7d9b5; } .t2 { fill: #c9e7c4; } .t3 { fill: #f3c6cf; }
.t4 { fill: #d8cdf0; } .t5 { fill: #f5ecb0; } .t6 { fill: #bfe6e4; } .t7 { fill: #dcdcdc; }
text { fill: #1f2933; font: 10.5px ui-monospace, monospace; }
.time, .note { fill: #52606d; }
.message { paint-order: stroke; stroke: #ffffff; stroke-width: 3; stroke-linejoin: round; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #14181d; }
  .arrow, .sync { stroke: #e4e7eb; }
  .head, .dot, .message, .process-name { fill: #e4e7eb; }
  .message { stroke: #14181d; }
  .time, .note { fill: #9aa5b1; }
  .moment { stroke: #3e4c59; }
}
";
