//! `turnpike explore`: a page on this machine to search, step through and look at a system.

use serde_json::json;
use turnpike_explore::Server;
use turnpike_model::{Diagnostic, Trace};
use turnpike_session::{Format as ModelFormat, Location, Reading, Source};

use crate::cli::Format;
use crate::commands::{replay, show};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::known_programs;
use crate::output::{self, VERSION, interrupt};
use crate::source::ModelArgs;

const EXAMPLES: &str = "\
Examples:
  turnpike explore models/lift.mcrl2
  turnpike explore witness.json
  turnpike explore --program ./bank -- 3 accounts
  turnpike explore models/fischer.xta --no-open --port 8080";

/// What can be explored. Standard input can be read once only.
const EXPLORED: &str = "A model file (.mcrl2, .tck, .xml, .xta, .ta, .aut, .aut.gz), `builtin:NAME`, or a trace \
    (.json) that says what it belongs to; or --program";

/// Flags of `turnpike explore`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("model", |argument| argument.help(EXPLORED)))]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Begin at the end of this trace
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// The port to listen on; any that is free by default
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Print the address, and leave it to you to open it
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if args.model.model == "-" {
        let error = Diagnostic::error("standard input can be read once only, so the page cannot show it");
        return Err(error.help("name a file or a built-in model").into());
    }
    let (source, trace) = source_and_trace(&args)?;
    let server = Server::open(&source, trace.as_ref(), args.port)?;
    // The page saves traces that name it.
    known_programs::remember(&source);
    let stop = interrupt::install_quietly()?;
    let url = server.url();
    match format {
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "explore",
            "url": url,
        })),
        Format::Human => {
            output::line(&format!("exploring {} at {url}", server.model_name()));
            output::line("press Ctrl-C to end");
        }
    }
    if !args.no_open && !open_browser(&url) {
        output::note("no browser could be started: open the address yourself");
    }
    server.run(stop).map_err(|error| Failure::usage(format!("the page cannot be served: {error}")))?;
    Ok(Exit::Clean)
}

/// What is explored, and where the page begins. A single trace says what it belongs to.
fn source_and_trace(args: &Args) -> Outcome<(Source, Option<Trace>)> {
    let named = &args.model.model;
    let format = Reading::default().format_of(&Location::from(named.as_str()));
    let is_trace = args.trace.is_none()
        && args.model.program.program.is_none()
        && format.is_none_or(|format| format == ModelFormat::AUT)
        && named.ends_with(".json");
    if !is_trace {
        let trace = args.trace.as_deref().map(show::read).transpose()?;
        return Ok((args.model.source()?, trace));
    }
    let trace = show::read(named)?;
    let Some(source) = replay::remembered(&trace) else {
        let error = Diagnostic::error(format!("{named} does not say which model it belongs to"));
        return Err(error.help("name the model: turnpike explore MODEL --trace TRACE").into());
    };
    let ModelArgs { reading, program, .. } = &args.model;
    replay::refuse_reading_flags(named, reading, program, "turnpike explore MODEL --trace TRACE")?;
    known_programs::check(&source, named, "turnpike explore --program PATH --trace TRACE")?;
    Ok((source, Some(trace)))
}

/// Starts the user's browser. Whether it works out cannot be known.
fn open_browser(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(opener);
    let quiet = || std::process::Stdio::null();
    let started = command.arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    match started {
        Ok(mut child) => {
            // It is waited for, so that it leaves nothing behind.
            std::thread::spawn(move || child.wait());
            true
        }
        Err(_) => false,
    }
}
