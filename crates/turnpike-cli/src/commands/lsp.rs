//! `turnpike lsp`: a language server for editors.

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

const EXAMPLES: &str = "\
The server speaks the Language Server Protocol over standard input and output. Editors start it themselves; the book
tells how to set up VS Code, Neovim, Helix and Emacs.";

/// Flags of `turnpike lsp`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Use standard input and output; always so, but some editors pass this flag
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(_: Args, _: Format) -> Outcome {
    turnpike_lsp::serve().map_err(|error| Failure::usage(format!("the language server ended: {error}")))?;
    Ok(Exit::Clean)
}
