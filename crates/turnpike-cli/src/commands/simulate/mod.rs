//! `turnpike simulate`: step through a model, by hand or from a script.

mod command;
mod input;
mod session;

use serde_json::json;
use turnpike_lts::trace::{Stuckness, hindered_lines};
use turnpike_model::{Diagnostic, Model, StateValues};
use turnpike_program::{HeldLock, Incident, ProgramModel};
use turnpike_session::{Enabled, Pattern, Source, add_participants, replay, values};

use crate::cli::Format;
use crate::commands::show;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::known_programs;
use crate::output::{self, VERSION};
use crate::source::ModelArgs;
use crate::steps::{self, StepView, ViewArgs};
use command::{Command, HELP};
use input::Input;
use session::Session;

/// What `turnpike simulate --help` ends with.
fn after_help() -> String {
    HELP.lines().fold("Commands, one per line:".to_owned(), |text, line| format!("{text}\n  {line}"))
}

/// What can be stepped through. Commands come from standard input.
const SIMULATED: &str =
    "A model file (.mcrl2, .tck, .xml, .xta, .ta, .aut, .aut.gz) or `builtin:NAME`; or --program";

/// Flags of `turnpike simulate`.
#[derive(clap::Args)]
#[command(after_help = after_help(), mut_arg("model", |argument| argument.help(SIMULATED)))]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Seed of the random steps
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = values::seed)]
    seed: u64,
    /// Start at the end of this trace
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Stop with exit code 2 at the first command that fails
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    view: ViewArgs,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if args.model.model == "-" {
        let message = "commands come from standard input, so the model cannot";
        return Err(Diagnostic::error(message).help("name a file or a built-in model").into());
    }
    let source = args.model.source()?;
    let prepared = args.model.prepare_exactly()?;
    let (model, program) = (prepared.model, prepared.program);
    let session = Session::new(&*model, args.seed).map_err(|error| Failure::usage(error.to_string()))?;
    let quiet = format == Format::Json;
    let program = program.as_deref();
    let view = args.view.view();
    let mut simulation = Simulation { source, model: &*model, program, session, view, quiet };
    simulation.say(&format!("{}; h lists the commands", model.info().name));
    if let Some(file) = &args.trace
        && let Err(message) = simulation.load(file)
    {
        if args.strict {
            return Err(Failure { exit: Exit::Found, ..Failure::usage(message) });
        }
        output::note(&message);
    }
    simulation.place();
    let errors = match simulation.list(None) {
        Ok(()) => converse(&mut simulation, args.strict)?,
        Err(message) => return Err(Failure::usage(message)),
    };
    if quiet {
        let trace = simulation.session.trace();
        let (enabled, _) = simulation.session.enabled(None, usize::MAX).map_err(Failure::usage)?;
        output::json(&json!({
            "turnpike": VERSION,
            "command": "simulate",
            "model": trace.model,
            "seed": args.seed,
            "depth": trace.len(),
            "deadlock": simulation.session.is_deadlock().map_err(Failure::usage)?,
            "enabled": enabled.into_iter().map(|enabled| enabled.label).collect::<Vec<_>>(),
            "errors": errors
                .iter()
                .map(|(line, message)| json!({"line": line, "message": message}))
                .collect::<Vec<_>>(),
            "witness": show::witness(&trace),
        }));
    }
    Ok(Exit::Clean)
}

/// Reads commands to the end of input. Gives the lines that failed, with their numbers.
fn converse(simulation: &mut Simulation<'_>, strict: bool) -> Outcome<Vec<(u64, String)>> {
    let mut input = Input::open(simulation.quiet);
    let mut errors = Vec::new();
    for number in 1.. {
        let Some(line) = input.next_line()? else { break };
        let outcome = command::parse(&line);
        match outcome.and_then(|command| command.map_or(Ok(true), |command| simulation.perform(command))) {
            Ok(true) if !output::closed() => {}
            Ok(_) => break,
            Err(message) if strict => return Err(Diagnostic::error(message).on_line(number).into()),
            Err(message) => {
                output::note(&if input.is_terminal() {
                    message.clone()
                } else {
                    format!("line {number}: {message}")
                });
                errors.push((number, message));
            }
        }
    }
    Ok(errors)
}

/// A session and what is shown of it.
struct Simulation<'m> {
    source: Source,
    model: &'m dyn Model,
    program: Option<&'m ProgramModel>,
    session: Session<'m>,
    view: StepView,
    /// Nothing is shown: a report follows.
    quiet: bool,
}

/// Transitions that are listed before the rest is only counted.
const LISTED: usize = 50;

impl Simulation<'_> {
    fn say(&self, line: &str) {
        if !self.quiet {
            output::line(line);
        }
    }

    /// Performs a command; false ends the simulation.
    fn perform(&mut self, command: Command) -> Result<bool, String> {
        let before = self.session.depth();
        match command {
            Command::Choose(number) => self.session.choose(number)?,
            Command::Take(pattern) => self.session.take(&pattern)?,
            Command::Random(count) => {
                let taken = self.session.random(count)?;
                self.taken(before);
                if taken < count {
                    self.say(&format!("after {taken} of {count} steps nothing is enabled"));
                }
                self.list(None)?;
                return Ok(true);
            }
            Command::Undo(count) => {
                self.session.undo(count)?;
                self.place();
            }
            Command::Jump(step) => {
                self.session.jump(step)?;
                self.place();
            }
            Command::Load(file) => {
                let outcome = self.load(&file);
                self.place();
                self.list(None)?;
                return outcome.map(|()| true);
            }
            Command::Save(file) => {
                self.save(&file)?;
                return Ok(true);
            }
            Command::Trace => {
                for line in steps::lines(&self.session.trace(), &self.view) {
                    self.say(&line);
                }
                match self.session.ahead() {
                    0 => {}
                    1 => self.say("1 more step ahead; type j to go there"),
                    steps => self.say(&format!("{steps} more steps ahead; type j to go there")),
                }
                return Ok(true);
            }
            Command::State => {
                for value in self.view.values(&self.session.values(before)) {
                    self.say(&format!("  {value}"));
                }
                return Ok(true);
            }
            Command::Find(pattern) => {
                self.list(Some(&Pattern::new(&pattern)))?;
                return Ok(true);
            }
            Command::Why => {
                self.explain()?;
                return Ok(true);
            }
            Command::Delay(delay) => {
                self.session.wait(delay)?;
                match delay {
                    Some(delay) => self.say(&format!("the next step is taken after {delay}")),
                    None => self.say("the next step is taken as soon as possible"),
                }
                return Ok(true);
            }
            Command::Enabled => {}
            Command::Help => {
                self.say(HELP);
                return Ok(true);
            }
            Command::Quit => return Ok(false),
        }
        self.taken(before);
        self.list(None)?;
        Ok(true)
    }

    /// Shows what is not possible now, and why; the call stacks of a program.
    fn explain(&mut self) -> Result<(), String> {
        let lines = match self.program {
            Some(program) => {
                let incident = program.incident(&self.session.choices());
                thread_lines(&incident.map_err(|error| error.to_string())?)
            }
            None => {
                let stuckness = Stuckness::of(self.session.is_deadlock()?, self.session.enabled_count());
                hindered_lines(&self.session.hindered()?, stuckness)
            }
        };
        if lines.is_empty() {
            self.say("everything that a component could do alone is possible");
        }
        lines.iter().for_each(|line| self.say(line));
        Ok(())
    }

    /// Writes the trace, which says what it belongs to.
    fn save(&mut self, file: &str) -> Result<(), String> {
        let mut trace = self.session.trace();
        add_participants(self.model, &mut trace).map_err(|error| error.to_string())?;
        if self.session.enabled_count() == 0 && self.session.is_deadlock()? {
            trace.stuck = match self.program {
                Some(program) => {
                    let incident = program.incident(&self.session.choices());
                    incident.map_err(|error| error.to_string())?.stuck_components()
                }
                None => self.session.hindered()?,
            };
        }
        // What cannot be written down is only not remembered.
        trace.source = serde_json::to_string(&self.source).unwrap_or_default();
        known_programs::remember(&self.source);
        turnpike_lts::trace::write_file(&trace, file).map_err(|error| error.to_string())?;
        self.say(&format!("wrote {file}"));
        Ok(())
    }

    /// Follows the trace in a file as far as it fits.
    fn load(&mut self, file: &str) -> Result<(), String> {
        let words = |failure: Failure| {
            failure.diagnostics.first().map_or(String::new(), |diagnostic| format!("{file}: {diagnostic}"))
        };
        let trace = show::read(file).map_err(words)?;
        let replayed = replay(self.model, &trace).map_err(|error| error.to_string())?;
        let choices: Vec<u32> = replayed.trace.steps.iter().filter_map(|step| step.choice).collect();
        self.session.follow(&choices)?;
        match replayed.divergence {
            None => Ok(()),
            Some(at) => Err(format!("{file} does not fit at step {}: {}", at.step, at.reason)),
        }
    }

    /// Shows where the simulation is.
    fn place(&mut self) {
        match self.session.depth() {
            0 => self.say("in the initial state"),
            step => self.say(&format!("after step {step}, {}", self.session.label(step))),
        }
    }

    /// Shows the steps taken since `before`.
    fn taken(&mut self, before: usize) {
        for step in before + 1..=self.session.depth() {
            let (old, new) = (self.session.values(step - 1), self.session.values(step));
            let values = self.shown(&old, &new, false);
            let time = self
                .session
                .moment(step)
                .map_or(String::new(), |moment| format!(" at {} (delay {})", moment.time, moment.delay));
            self.say(&format!("step {step}: {}{time}{values}", self.session.label(step)));
        }
    }

    /// Lists enabled transitions with what they would change.
    fn list(&mut self, pattern: Option<&Pattern>) -> Result<(), String> {
        if self.quiet {
            return Ok(());
        }
        if self.session.enabled_count() == 0 {
            let end = if self.session.is_deadlock()? { "deadlock" } else { "successful termination" };
            self.say(&format!("{end}: no transition is enabled"));
            return Ok(());
        }
        let here = self.session.values(self.session.depth());
        let (enabled, matching) = self.session.enabled(pattern, LISTED)?;
        if enabled.is_empty() {
            self.say(&format!("none of {} enabled transitions matches", self.session.enabled_count()));
        }
        let digits = enabled.last().map_or(1, |last| (last.choice + 1).to_string().len());
        let column = enabled.iter().map(|enabled| enabled.label.chars().count()).max().unwrap_or(0);
        let choices: Vec<u32> = enabled.iter().map(|enabled| enabled.choice).collect();
        let windows = self.session.outlook(&choices).map_or_else(Vec::new, |outlook| outlook.windows);
        // Every step changes the zone, which is long: it is shown where one is.
        let has_zone = !windows.is_empty() && !self.view.full;
        let mut windows = windows.into_iter();
        for Enabled { choice, label, target } in &enabled {
            let number = choice + 1;
            let mut values = self.shown(&here, target, has_zone);
            if let Some(windows) = windows.next() {
                let texts: Vec<String> = windows.iter().map(turnpike_model::Window::to_string).collect();
                values = format!("  {}{values}", delays_in_words(&texts));
            }
            self.say(format!("  {number:digits$}  {label:column$}{values}").trim_end());
        }
        if matching > enabled.len() {
            self.say(&format!("  and {} more; f PATTERN narrows the list", matching - enabled.len()));
        }
        Ok(())
    }

    /// The values of a state after another, as the view wants them, perhaps without the zone.
    fn shown(&self, before: &StateValues, after: &StateValues, without_zone: bool) -> String {
        let mut values = match () {
            () if self.view.actions_only => Vec::new(),
            () if self.view.full => self.view.values(after),
            () => self.view.changes(Some(before), after),
        };
        values.retain(|value| !(without_zone && value.starts_with("zone=")));
        if values.is_empty() { String::new() } else { format!("  {}", values.join(", ")) }
    }
}

/// Which locks the threads of a program hold, what they wait for, and where they are.
fn thread_lines(incident: &Incident) -> Vec<String> {
    let since = |since: Option<&String>| since.map_or(String::new(), |since| format!(" since {since}"));
    let holds = incident.held.iter().map(|held| {
        let HeldLock { thread, object, since: place, .. } = held;
        format!("{thread} holds {object}{}", since(place.as_ref()))
    });
    let waits = incident.waiting.iter().map(|waiting| {
        let holder = waiting
            .holder
            .as_ref()
            .map(|holder| format!(", which {holder} has had{}", since(waiting.since.as_ref())));
        format!("{} waits {}{}", waiting.thread, waiting.what, holder.unwrap_or_default())
    });
    let mut lines: Vec<String> = holds.chain(waits).collect();
    lines.extend(incident.stack_lines(false));
    lines
}

/// After which delays a transition can be taken.
fn delays_in_words(windows: &[String]) -> String {
    if windows.is_empty() {
        return "after other delays before".to_owned();
    }
    format!("after {}", windows.join(" or "))
}
