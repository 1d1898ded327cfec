//! The command line's grammar. Help, completions and man pages come from here.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::commands::{
    bench, check, compare, completions, convert, explore, formula, generate, header, info, lab, launch,
    linearise, lsp, man, reduce, replay, search, show, simulate, strategies,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::help;
use crate::output::ci;

/// Find bugs in designs and programs that are too big to verify, and report them as short traces.
#[derive(Parser)]
#[command(name = "turnpike", version, after_help = exit::TABLE)]
pub(crate) struct Cli {
    /// The format of the output
    #[arg(long, value_enum, default_value_t = AnyFormat::Human, global = true)]
    pub(crate) format: AnyFormat,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// The grammar with its help arranged.
    pub(crate) fn grammar() -> clap::Command {
        help::arrange(Cli::command())
    }

    /// Parses the command line. Treats a value such as -1 as a value rather than a flag, so that the
    /// error is specific.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Cli::read_from(std::env::args_os())
    }

    /// The same for words that come from elsewhere.
    pub(crate) fn read_from(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let signed = |arg: clap::Arg| {
            if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg }
        };
        let words: Vec<OsString> = words.into_iter().collect();
        let grammar = Cli::grammar();
        let grammar = if help::is_brief(&words) { help::shorten(grammar) } else { grammar };
        let mut grammar = grammar.mut_subcommands(|command| command.mut_args(signed));
        let matches = grammar.try_get_matches_from_mut(words)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
    }

    /// The format of errors: that of the command which several processes are to carry out, where this one
    /// starts them.
    pub(crate) fn error_format(&self) -> AnyFormat {
        match &self.command {
            Command::Launch(args) if args.asks_for_json() => AnyFormat::Json,
            _ => self.format,
        }
    }

    /// What this process is to do, if it is one of several.
    pub(crate) fn enter(self) -> Outcome<Self> {
        let Command::Launch(args) = &self.command else { return Ok(self) };
        Ok(args.enter(self.format)?.unwrap_or(self))
    }
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnyFormat {
    /// Readable text.
    Human,
    /// Exactly one JSON object on standard output, also for errors.
    Json,
    /// Test cases as XML, by search and check.
    Junit,
    /// Results of static analysis as JSON, by search and check.
    Sarif,
}

/// How every command can print its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Human,
    Json,
}

impl AnyFormat {
    /// The format for continuous integration, if it is one.
    pub(crate) fn ci(self) -> Option<ci::Kind> {
        match self {
            AnyFormat::Junit => Some(ci::Kind::Junit),
            AnyFormat::Sarif => Some(ci::Kind::Sarif),
            AnyFormat::Human | AnyFormat::Json => None,
        }
    }
}

macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident => $module:ident),* $(,)?) => {
        #[derive(Subcommand)]
        #[allow(clippy::large_enum_variant, reason = "there is one, and it is moved once")]
        pub(crate) enum Command {
            $($(#[$doc])* $variant($module::Args)),*
        }

        impl Command {
            /// The name as typed.
            pub(crate) fn name(&self) -> &'static str {
                match self { $(Command::$variant(_) => stringify!($module)),* }
            }

            /// Whether several processes can do it together.
            pub(crate) fn can_be_launched(&self) -> bool {
                matches!(self, Command::Search(_) | Command::Generate(_))
            }

            pub(crate) fn run(mut self, format: AnyFormat) -> Outcome {
                match (&mut self, format.ci()) {
                    (Command::Search(args), ci) => args.ci = ci,
                    (Command::Check(args), ci) => args.ci = ci,
                    (_, None) => {}
                    (_, Some(_)) => {
                        return Err(Failure::usage("the formats junit and sarif are for search and check"));
                    }
                }
                let format = if format == AnyFormat::Human { Format::Human } else { Format::Json };
                match self { $(Command::$variant(args) => $module::run(args, format)),* }
            }
        }
    };
}

commands! {
    /// Look for a bug: a deadlock, an action, a state, an extreme value.
    Search => search,
    /// Write the whole state space.
    Generate => generate,
    /// Search or generate with several processes, on one or more machines.
    Launch => launch,
    /// Re-execute a trace on a model, step by step.
    Replay => replay,
    /// Print a trace as numbered steps with the values that changed.
    Show => show,
    /// Step through a model by hand.
    Simulate => simulate,
    /// Search, step through and look at a model in a browser.
    Explore => explore,
    /// Minimise a transition system up to an equivalence.
    Reduce => reduce,
    /// Check whether two transition systems are equivalent, and if not, why.
    Compare => compare,
    /// Check that a model can be read.
    Check => check,
    /// Print a formula for a common requirement.
    Formula => formula,
    /// Print the linear process of an mCRL2 specification.
    Linearise => linearise,
    /// Write timed automata as a TChecker file.
    Convert => convert,
    /// Describe a model, or list the built-in models.
    Info => info,
    /// Describe the search strategies.
    Strategies => strategies,
    /// Run experiments that compare strategies: success rate, cost, witness length.
    Lab => lab,
    /// Measure speed on built-in models.
    Bench => bench,
    /// Write the C header turnpike.h for programs under test.
    Header => header,
    /// Write a completion script for a shell.
    Completions => completions,
    /// Serve editors: diagnostics, definitions, references, renaming (the Language Server Protocol).
    Lsp => lsp,
    /// Write the manual pages.
    Man => man,
}
