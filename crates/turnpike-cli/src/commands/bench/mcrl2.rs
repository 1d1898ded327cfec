//! Benchmarks of generating mCRL2 specifications: bundled ones, and public ones next to the figures
//! of the mCRL2 tools.

use std::path::Path;

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_model::Model;
use turnpike_session::Problem;
use turnpike_session::StoreKind;

use super::measure::{best, generation};
use super::table::Row;
use crate::failure::{Failure, Outcome};

/// A bundled specification, with a setting that makes it large enough to be measured.
struct Bundled {
    name: &'static str,
    text: &'static str,
    constant: &'static str,
    full: &'static str,
}

macro_rules! bundled {
    ($name:literal, $constant:literal = $full:literal) => {
        Bundled {
            name: $name,
            text: include_str!(concat!("../../../../../models/", $name, ".mcrl2")),
            constant: $constant,
            full: $full,
        }
    };
}

const BUNDLED: [Bundled; 5] = [
    bundled!("philosophers", "N" = "9"),
    bundled!("brp", "RETRIES" = "90"),
    bundled!("lift", "N" = "4"),
    bundled!("linklayer", "N" = "3"),
    bundled!("swp", "W" = "2"),
];

/// What the mCRL2 tools need for exploration alone, on a machine of two cores (release 202607.0).
struct Peer {
    /// How the path of the specification ends.
    file: &'static str,
    /// Seconds with the default rewriter.
    interpreted: f64,
    /// Seconds with the compiling rewriter, after 10 to 27 seconds of compiling.
    compiled: Option<f64>,
}

const PEERS: [Peer; 6] = [
    Peer { file: "industrial/brp/brp.mcrl2", interpreted: 0.37, compiled: Some(0.25) },
    Peer { file: "industrial/lift/lift3-init.mcrl2", interpreted: 5.2, compiled: Some(0.84) },
    Peer { file: "academic/dining/dining8.mcrl2", interpreted: 3.0, compiled: Some(0.76) },
    Peer { file: "academic/swp/swp_func.mcrl2", interpreted: 0.54, compiled: None },
    Peer { file: "industrial/DIRAC/SMS.mcrl2", interpreted: 0.88, compiled: Some(0.37) },
    Peer { file: "industrial/1394/1394-fin.mcrl2", interpreted: 69.0, compiled: None },
];

/// Promised from reading the text to the first state, in seconds.
const START: f64 = 0.2;
/// Promised for the stored states, in bytes each.
const BYTES: f64 = 64.0;

/// Measures all rows, and reports each as soon as it is known.
pub(super) fn measure(
    folder: Option<&Path>,
    quick: bool,
    repeat: u32,
    tell: &mut dyn FnMut(&Row),
) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        tell(&row);
        rows.push(row);
    };
    for Bundled { name, text, constant, full } in BUNDLED {
        let mut options = Options::default();
        // Quick measurements take a specification as it is, which is the smaller.
        let label = if quick { name.to_owned() } else { format!("{name}({full})") };
        if !quick {
            options.settings.push((constant.to_owned(), full.to_owned()));
        }
        add(one(name, &label, text, &options, repeat, !quick)?);
    }
    for peer in PEERS.iter().filter(|_| folder.is_some()) {
        let path = folder.unwrap_or(Path::new(".")).join(peer.file);
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| Failure::file(&name, "read", &error))?;
        let label = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let row = one(&name, &label, &text, &Options::default(), repeat, !quick)?;
        let seconds = row.cpu_seconds.unwrap_or(row.seconds).max(1e-6);
        let least = if peer.interpreted >= 3.0 { 20.0 } else { 8.0 };
        let times = peer.interpreted / seconds;
        let mut row = row.promised(
            format!("{least} times the default rewriter's {} s: {times:.0} times", peer.interpreted),
            times >= least,
            !quick,
        );
        if let Some(compiled) = peer.compiled {
            let times = compiled / seconds;
            let promise = format!("4 times the compiling rewriter's {compiled} s: {times:.1} times");
            row = row.promised(promise, times >= 4.0, !quick);
        }
        add(row);
    }
    Ok(rows)
}

fn one(name: &str, label: &str, text: &str, options: &Options, repeat: u32, judged: bool) -> Outcome<Row> {
    let (start, model) = best(repeat, || {
        let (model, _) = Mcrl2Model::new(name, text, options)
            .map_err(|refusal| Problem::of_text(name, text.to_owned(), refusal.diagnostics))?;
        let mut initial = Vec::new();
        let first = model.explorer().initial(&mut initial);
        first.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(model)
    })?;
    let row = generation("generate", label, &model, StoreKind::Auto, repeat)?;
    let per_state = row.bytes_per_state.unwrap_or_default();
    Ok(row
        .promised(format!("start under {START} s: {:.3} s", start.seconds), start.seconds < START, judged)
        .promised(format!("{BYTES} bytes a state"), per_state <= BYTES, judged))
}
