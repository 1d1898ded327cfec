//! The turnpike command line: flags, wiring, exit codes. Everything it prints is printed here; libraries never do.

mod checkpoints;
mod cli;
mod cluster;
mod commands;
mod exit;
mod explicit;
mod failure;
mod help;
mod known_programs;
mod options;
mod output;
mod source;
mod steps;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match cli::Cli::read() {
        Ok(cli) => cli,
        Err(mut error) => {
            failure::advise(&mut error);
            return failure::usage(&error);
        }
    };
    let (format, command) = (cli.error_format(), cli.command.name());
    // One of several processes does what they all do.
    let cli = match cli.enter() {
        Ok(cli) => cli,
        Err(failure) => return failure.report(command, format),
    };
    let (format, command) = (cli.error_format(), cli.command.name());
    match cli.command.run(cli.format) {
        Ok(_) if output::lost() => exit::Exit::Usage.into(),
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(command, format),
    }
}
