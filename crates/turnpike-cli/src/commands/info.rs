//! `turnpike info`.

use serde_json::{Value, json};
use turnpike_builtin::{BuiltinInfo, catalogue};
use turnpike_model::{Describer, Model, ModelInfo, StateValues};
use turnpike_session::{Location, Prepared, Purpose, Session, Size, quote_word};
use turnpike_timed::network::Network;
use turnpike_timed::zeno;

use super::search::human::counted;
use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::schema::{SchemaKind, schema};
use crate::output::{self, VERSION};
use crate::source::{ProgramArgs, ReadingArgs, source};

/// Flags of `turnpike info`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A model file (.mcrl2, .tck, .xml, .xta, .ta, .aut, .aut.gz), `builtin:NAME`, or `-`; without it, list the built-in models
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// Print the JSON schema of the output of a command instead
    #[arg(long, value_enum, value_name = "OUTPUT", conflicts_with = "model")]
    schema: Option<SchemaKind>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if let Some(kind) = args.schema {
        output::json(&schema(kind));
        return Ok(Exit::Clean);
    }
    let name = match args.model {
        Some(name) => name,
        None if args.program.program.is_some() => String::new(),
        None => {
            catalogue_listing(format);
            return Ok(Exit::Clean);
        }
    };
    let session = Session::open(&source(&name, &args.reading, &args.program)?)?;
    let time = session.timed().map(|timed| time_passes(&timed.network)).unwrap_or_default();
    let Prepared { model, size, .. } = session.prepare(&Purpose::default())?;
    let initial = initial_values(&*model)?;
    let builtin = match Location::from(name.as_str()) {
        Location::Builtin(name) => catalogue().iter().find(|known| known.name == name),
        _ => None,
    };
    match format {
        Format::Human => {
            let named = args.program.repeated().unwrap_or_else(|| quote_word(&name));
            let lines = text(model.info(), &named, builtin, size, &initial);
            lines.iter().chain(&time).for_each(|line| output::line(line));
        }
        Format::Json => output::json(&object(model.info(), builtin, size, &initial)),
    }
    Ok(Exit::Clean)
}

/// Whether time must pass in every loop of timed automata, as far as their shape shows.
fn time_passes(network: &Network) -> Vec<String> {
    let culprits = zeno::culprits(network, &|_, _| true);
    if culprits.is_empty() {
        return vec!["time: diverges in every infinite run (no loop can be Zeno)".to_owned()];
    }
    let mut lines = vec!["time: need not pass in these loops, so infinite runs may be Zeno:".to_owned()];
    lines.extend(culprits.iter().map(|culprit| {
        let process = &network.processes[culprit.process.0 as usize].name;
        match culprit.edges.is_empty() {
            true => format!("  {process}: too many loops to analyse"),
            false => format!("  {process}: {}", culprit.path(network)),
        }
    }));
    lines
}

fn initial_values(model: &dyn Model) -> Outcome<StateValues> {
    let mut explorer = model.explorer();
    let mut state = Vec::new();
    explorer.initial(&mut state).map_err(|error| {
        Failure::usage(format!("the initial state cannot be computed: {error}")).in_file(&model.info().name)
    })?;
    Ok(Describer::of_states(model.info()).state(&mut *explorer, &state))
}

fn catalogue_listing(format: Format) {
    match format {
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "info",
            "models": catalogue().iter().map(builtin_object).collect::<Vec<_>>(),
        })),
        Format::Human => {
            output::line("Built-in models; run `turnpike info builtin:NAME` for details.");
            for info in catalogue() {
                output::line("");
                output::line(&format!("builtin:{}  {}", info.name, info.summary));
                parameters(info).iter().for_each(|line| output::line(line));
            }
        }
    }
}

/// One line for each parameter of a built-in model.
fn parameters(info: &BuiltinInfo) -> Vec<String> {
    let line = |parameter: &turnpike_builtin::ParameterInfo| {
        let (min, max) = parameter.range;
        format!("  --set {}={}  {} ({min} to {max})", parameter.name, parameter.default, parameter.doc)
    };
    info.parameters.iter().map(line).collect()
}

fn builtin_object(info: &BuiltinInfo) -> Value {
    json!({
        "name": format!("builtin:{}", info.name),
        "summary": info.summary,
        "details": info.details,
        "parameters": parameter_objects(info),
    })
}

fn parameter_objects(info: &BuiltinInfo) -> Vec<Value> {
    let object = |parameter: &turnpike_builtin::ParameterInfo| {
        json!({
            "name": parameter.name,
            "default": parameter.default,
            "min": parameter.range.0,
            "max": parameter.range.1,
            "doc": parameter.doc,
        })
    };
    info.parameters.iter().map(object).collect()
}

fn object(
    info: &ModelInfo,
    builtin: Option<&BuiltinInfo>,
    size: Option<Size>,
    initial: &StateValues,
) -> Value {
    json!({
        "turnpike": VERSION,
        "command": "info",
        "model": info.name,
        "summary": builtin.map(|builtin| builtin.summary),
        "details": builtin.map(|builtin| builtin.details),
        "settings": builtin.map(parameter_objects).unwrap_or_default(),
        "size": size.map(|size| json!({"states": size.states, "transitions": size.transitions})),
        "fingerprint": format!("{:016x}", info.fingerprint),
        "width": info.width,
        "parameters": info.parameters,
        "actions": info.actions,
        "measures": info
            .measures
            .iter()
            .map(|measure| json!({"name": measure.name, "doc": measure.doc}))
            .collect::<Vec<_>>(),
        "initial": initial,
        "suggestions": info.suggestions,
    })
}

/// Names on a terminal: the first few, and how many more there are.
const SHOWN: usize = 24;

fn text(
    info: &ModelInfo,
    name: &str,
    builtin: Option<&BuiltinInfo>,
    size: Option<Size>,
    initial: &StateValues,
) -> Vec<String> {
    let mut out = vec![format!("model: {}", info.name)];
    if let Some(builtin) = builtin {
        out.extend([builtin.summary, builtin.details].into_iter().flat_map(wrapped));
        out.push("settings:".to_owned());
        out.extend(parameters(builtin));
    }
    if let Some(Size { states, transitions }) = size {
        let transitions = counted(transitions, "transition");
        out.push(format!("size: {}, {transitions}", counted(states, "state")));
    }
    out.push(format!("width: {} of 4 bytes a state", counted(info.width as u64, "word")));
    out.push(format!("actions: {}", list(info.actions.iter().cloned())));
    out.push(format!(
        "initial state: {}",
        list(initial.iter().map(|(name, value)| format!("{name}={value}")))
    ));
    if !info.measures.is_empty() {
        out.push("measures (for --guide, --fitness, min, max and state):".to_owned());
        let widest = info.measures.iter().map(|measure| measure.name.chars().count()).max().unwrap_or(0);
        out.extend(
            info.measures.iter().map(|measure| format!("  {:widest$}  {}", measure.name, measure.doc)),
        );
    }
    if !info.suggestions.is_empty() {
        out.push("try:".to_owned());
        let find = |objective: &String| match name.split_once(" -- ") {
            Some((name, arguments)) => {
                format!("  turnpike search {name} --find {} -- {arguments}", quote_word(objective))
            }
            None => format!("  turnpike search {name} --find {}", quote_word(objective)),
        };
        out.extend(info.suggestions.iter().map(find));
    }
    out
}

/// Prose in indented lines.
fn wrapped(text: &str) -> Vec<String> {
    const LINE: usize = 100;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > LINE {
            lines.push(format!("  {word}"));
        } else {
            let gap = if lines[last].is_empty() { "  " } else { " " };
            lines[last].push_str(gap);
            lines[last].push_str(word);
        }
    }
    lines
}

fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    let total = names.len();
    if total == 0 {
        return "none named".to_owned();
    }
    let mut text = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    if total > SHOWN {
        text.push_str(&format!(", and {} more", total - SHOWN));
    }
    text
}
