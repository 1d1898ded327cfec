//! Requests that are refused: a status and a sentence.

use std::fmt;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use turnpike_model::{Diagnostic, StepError};
use turnpike_session::Problem;

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    help: Option<String>,
}

impl Refusal {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into(), help: None }
    }

    /// Nothing has this address.
    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, what)
    }

    /// Not now, or not so much.
    pub(crate) fn too_much(what: impl Into<String>) -> Self {
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, what)
    }

    /// The request makes no sense.
    pub(crate) fn wrong(what: impl Into<String>) -> Self {
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, what)
    }

    /// The thread that answers is gone.
    pub(crate) fn broken() -> Self {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the model can no longer be asked")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.help {
            Some(help) => write!(f, "{} ({help})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Self {
        Refusal::wrong(error.to_string())
    }
}

impl From<Diagnostic> for Refusal {
    fn from(error: Diagnostic) -> Self {
        // The text of a diagnostic contains its help, which has a place of its own here.
        Refusal { help: error.help, ..Refusal::wrong(error.message) }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        problem.into_diagnostic().into()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message, "help": self.help }))).into_response()
    }
}
