//! The files of the page, compiled in.

use axum::extract::Path;
use axum::http::header;
use axum::response::{Html, IntoResponse};

use crate::refusal::Refusal;

/// The page itself.
pub(crate) async fn page() -> Html<&'static str> {
    Html(include_str!("../page/index.html"))
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// The files that the page refers to.
const FILES: [(&str, &str, &str); 11] = [
    ("style.css", STYLE, include_str!("../page/style.css")),
    ("icon.svg", PICTURE, include_str!("../page/icon.svg")),
    ("main.js", SCRIPT, include_str!("../page/main.js")),
    ("api.js", SCRIPT, include_str!("../page/api.js")),
    ("elements.js", SCRIPT, include_str!("../page/elements.js")),
    ("complete.js", SCRIPT, include_str!("../page/complete.js")),
    ("delay.js", SCRIPT, include_str!("../page/delay.js")),
    ("steps.js", SCRIPT, include_str!("../page/steps.js")),
    ("search.js", SCRIPT, include_str!("../page/search.js")),
    ("witness.js", SCRIPT, include_str!("../page/witness.js")),
    ("graph.js", SCRIPT, include_str!("../page/graph.js")),
];

/// A file of the page.
pub(crate) async fn file(Path(name): Path<String>) -> Result<impl IntoResponse, Refusal> {
    let found = FILES.iter().find(|(own, ..)| *own == name);
    let (_, kind, text) = found.ok_or_else(|| Refusal::unknown("the page has no such file"))?;
    Ok(([(header::CONTENT_TYPE, *kind)], *text))
}

/// The style of the charts, which charts in the page do not bring along.
pub(crate) async fn chart_style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, STYLE)], turnpike_lts::trace::CHART_STYLE)
}
