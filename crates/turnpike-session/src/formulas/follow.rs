//! Evidence as runs of the system, and the formula files next to a model.

use std::path::{Path, PathBuf};

use turnpike_formula::{Evidence, Shape};
use turnpike_model::{Model, Trace};

use super::has_extension;
use crate::problem::Problem;
use crate::purpose::Purpose;
use crate::session::Session;
use crate::simulation::{Simulation, Visit, without_abstractions};
use crate::source::{Location, Source};

/// The most formula files that are found next to a model.
const MOST_FILES: usize = 200;

impl Session {
    /// Converts evidence that is a path, with or without a loop, to a trace of the system. `None`
    /// if it branches. Steps that only describe locations, which formulas about timed automata see,
    /// are omitted.
    pub fn evidence_trace(&self, evidence: &Evidence) -> Result<Option<Trace>, Problem> {
        let stem = match evidence.shape() {
            Shape::Branching => return Ok(None),
            Shape::Path(_) => None,
            Shape::Lasso { stem, .. } => Some(stem),
        };
        let model = self.prepare(&Purpose::default())?.model;
        self.follow_evidence(&*model, evidence, stem)
    }

    fn follow_evidence(
        &self,
        model: &dyn Model,
        evidence: &Evidence,
        stem: Option<usize>,
    ) -> Result<Option<Trace>, Problem> {
        let failed = |error: turnpike_model::StepError| {
            Problem::new(error.to_string()).in_file(model.info().name.clone())
        };
        let mut simulation = Simulation::new(model).map_err(failed)?;
        let (mut visit, mut loop_start) = (Visit::INITIAL, None);
        for (at, edge) in evidence.path().into_iter().enumerate() {
            if stem == Some(at) {
                loop_start = Some(simulation.path(visit).len() - 1);
            }
            match simulation.step(visit, edge.choice).map_err(failed)? {
                Some(next) if self.timed().is_some() || simulation.label(next) == edge.label => visit = next,
                // The model is explored in another order than the one in which the formula was
                // decided.
                Some(_) => return Ok(None),
                None if self.timed().is_some() => {}
                None => return Ok(None),
            }
        }
        let mut trace = without_abstractions(model, simulation.trace(visit));
        // A loop of such steps alone is not a loop of the system.
        trace.loop_start = loop_start.filter(|&start| start < trace.len());
        Ok(Some(trace))
    }

    /// The formula files next to the model: in its folder, in `properties` there, and in the folder
    /// with its name in `requirements`.
    pub fn formula_files(&self) -> Vec<String> {
        let Source::Model { location: Location::File(path), .. } = self.source() else { return Vec::new() };
        let path = Path::new(path);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let own = folder.join("requirements").join(path.file_stem().unwrap_or_default());
        let mut files: Vec<String> = Vec::new();
        for folder in [folder.clone(), folder.join("properties"), own] {
            let Ok(entries) = folder.read_dir() else { continue };
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            let found = paths.filter(|path| has_extension(path) && path.is_file());
            files.extend(
                found.map(|path| path.strip_prefix(".").unwrap_or(&path).to_string_lossy().into_owned()),
            );
        }
        files.sort();
        files.truncate(MOST_FILES);
        files
    }
}
