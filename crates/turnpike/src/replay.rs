//! Schedules that a user gives.

use std::path::Path;

use turnpike_model::Trace;
use turnpike_runtime::schedule::decode;

/// A schedule given by the user: text, or a file with text or with a trace of the command line.
pub(crate) fn read(given: &str) -> Result<Vec<u32>, String> {
    let path = Path::new(given);
    if !path.is_file() {
        return decode(given);
    }
    if let Ok(text) = std::fs::read_to_string(path)
        && let Ok(choices) = decode(&text)
    {
        return Ok(choices);
    }
    let trace = Trace::read_file(path).map_err(|error| error.to_string())?;
    choices(&trace).ok_or_else(|| format!("{given} has no schedule of a program"))
}

/// The schedule of a trace.
pub(crate) fn choices(trace: &Trace) -> Option<Vec<u32>> {
    trace.steps.iter().map(|step| step.choice).collect()
}
