//! A sheet of SVG: shapes are added in any order, and the sheet knows how large it must be.

use super::style::CHART_STYLE;
use crate::drawing::shortened;
use crate::shapes::{Point, Shapes, escape_xml};

/// Pixels; a character of the font is about this wide.
pub(super) const CHARACTER: f64 = 6.4;
pub(super) const MARGIN: f64 = 16.0;
/// The usual length of an axis from left to right, and the least and greatest one that a given width leads to.
const AXIS: f64 = 960.0;
const AXIS_RANGE: (f64, f64) = (160.0, 2400.0);
/// The arrowhead: its length, and half its width.
const HEAD: (f64, f64) = (8.0, 3.5);

/// A chart of a trace, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    title: String,
    frame: String,
    body: String,
}

impl Drawing {
    /// A file that stands alone.
    pub fn file(&self) -> String {
        let xmlns = "xmlns=\"http://www.w3.org/2000/svg\" ";
        self.render(xmlns, &format!("<style>{CHART_STYLE}</style>\n"))
    }

    /// An `svg` element for a page that has the stylesheet [`CHART_STYLE`]. It has no style and no
    /// identifiers of its own, so that a page may hold any number of them.
    pub fn element(&self) -> String {
        self.render("", "")
    }

    fn render(&self, xmlns: &str, style: &str) -> String {
        let Drawing { title, frame, body } = self;
        let title = escape_xml(title);
        format!(
            "<svg {xmlns}class=\"chart\" role=\"img\" {frame}>\n<title>{title}</title>\n{style}{body}</svg>\n"
        )
    }
}

/// The length of an axis from left to right. If the picture has a given width, `other` of it is not axis.
pub(super) fn axis_length(width: Option<u32>, other: f64) -> f64 {
    let (least, greatest) = AXIS_RANGE;
    width.map_or(AXIS, |width| (f64::from(width) - other - 2.0 * MARGIN).clamp(least, greatest))
}

/// Shapes drawn so far. What belongs to no step lies below, and lifelines below everything.
#[derive(Default)]
pub(super) struct Canvas {
    lifelines: Shapes,
    back: Shapes,
    steps: Shapes,
    /// The step that is being drawn.
    open: Option<(usize, Shapes)>,
    right: f64,
    bottom: f64,
}

impl Canvas {
    /// Makes the sheet large enough for a place.
    pub(super) fn cover(&mut self, right: f64, bottom: f64) {
        self.right = self.right.max(right);
        self.bottom = self.bottom.max(bottom);
    }

    fn layer(&mut self) -> &mut Shapes {
        match &mut self.open {
            Some((_, shapes)) => shapes,
            None => &mut self.back,
        }
    }

    /// Draws a step: whatever `draw` adds is one group with the step's number.
    pub(super) fn step(&mut self, number: usize, draw: impl FnOnce(&mut Canvas)) {
        self.open = Some((number, Shapes::default()));
        draw(self);
        if let Some((number, shapes)) = self.open.take() {
            self.steps.step_group(number, &shapes);
        }
    }

    /// Draws a group at another place: whatever `draw` adds is moved there. `data` are attributes.
    pub(super) fn group(&mut self, class: &str, data: &str, (x, y): Point, draw: impl FnOnce(&mut Canvas)) {
        let mut part = Canvas::default();
        draw(&mut part);
        self.cover(x + part.right, y + part.bottom);
        self.back.placed_group(class, data, (x, y), &part.back);
    }

    pub(super) fn path(&mut self, class: &str, data: &str, title: &str) {
        self.layer().path(class, data, title);
    }

    pub(super) fn lifeline(&mut self, from: Point, to: Point, title: &str) {
        self.cover(from.0.max(to.0), from.1.max(to.1));
        self.lifelines.line("lifeline", from, to, title);
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): Point, (x2, y2): Point, title: &str) {
        self.cover(x1.max(x2), y1.max(y2));
        self.layer().line(class, (x1, y1), (x2, y2), title);
    }

    /// A line that ends in an arrowhead of a class of its own.
    pub(super) fn arrow(&mut self, class: &str, head: &str, from: Point, to: Point, title: &str) {
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        let length = x.hypot(y).max(0.001);
        let direction = (x / length, y / length);
        let end = (to.0 - direction.0 * HEAD.0 / 2.0, to.1 - direction.1 * HEAD.0 / 2.0);
        self.line(class, from, end, title);
        self.head(head, to, direction);
    }

    /// An arrowhead with its tip at a point.
    pub(super) fn head(&mut self, class: &str, (x, y): Point, (dx, dy): Point) {
        let (length, half) = HEAD;
        let base = (x - dx * length, y - dy * length);
        let (one, other) =
            ((base.0 - dy * half, base.1 + dx * half), (base.0 + dy * half, base.1 - dx * half));
        let data = format!("M{x:.1},{y:.1} L{:.1},{:.1} L{:.1},{:.1} z", one.0, one.1, other.0, other.1);
        self.layer().path(class, &data, "");
    }

    /// A curve that leaves a point to the right and comes back to another, with an arrowhead.
    pub(super) fn bow(
        &mut self,
        (class, head): (&str, &str),
        (x1, y1): Point,
        (x2, y2): Point,
        depth: f64,
        title: &str,
    ) {
        let far = x1.max(x2) + depth;
        self.cover(far, y1.max(y2));
        let end = x2 + HEAD.0 / 2.0;
        let data = format!("M{x1:.1},{y1:.1} C{far:.1},{y1:.1} {far:.1},{y2:.1} {end:.1},{y2:.1}");
        self.layer().path(class, &data, title);
        self.head(head, (x2, y2), (-1.0, 0.0));
    }

    /// A box with a text in its middle, as much of it as fits.
    pub(super) fn labelled(
        &mut self,
        class: &str,
        (x, y): Point,
        (width, height): Point,
        text: &str,
        title: &str,
    ) {
        self.rectangle(class, (x, y), (width, height), title);
        let fitting = (width / CHARACTER) as usize;
        if fitting >= 2 {
            let at = (x + width / 2.0, y + height / 2.0 + 3.5);
            self.text("name", "middle", at, &shortened(text, fitting), title);
        }
    }

    pub(super) fn rectangle(&mut self, class: &str, (x, y): Point, (width, height): Point, title: &str) {
        self.cover(x + width, y + height);
        self.layer().rectangle(class, (x, y), (width, height), title);
    }

    /// A round mark on a line.
    pub(super) fn dot(&mut self, (x, y): Point, title: &str) {
        self.cover(x + 4.0, y + 4.0);
        self.layer().circle("dot", (x, y), 3.5, title);
    }

    pub(super) fn text(&mut self, class: &str, anchor: &str, (x, y): Point, text: &str, title: &str) {
        let width = text.chars().count() as f64 * CHARACTER;
        let right = match anchor {
            "start" => x + width,
            "middle" => x + width / 2.0,
            _ => x,
        };
        self.cover(right, y + 4.0);
        self.layer().text(class, anchor, (x, y), text, title);
    }

    pub(super) fn finish(self, title: String) -> Drawing {
        let (width, height) = (self.right + 2.0 * MARGIN, self.bottom + 2.0 * MARGIN);
        let corner = -MARGIN;
        let frame = format!(
            "width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{corner:.0} {corner:.0} {width:.0} {height:.0}\""
        );
        let mut paper = Shapes::default();
        paper.rectangle("paper", (corner, corner), (width, height), "");
        let body = [&paper, &self.lifelines, &self.back, &self.steps].map(Shapes::as_str).concat();
        Drawing { title, frame, body }
    }
}
