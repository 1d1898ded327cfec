//! `turnpike man`: the manual pages, generated from the same flags as `--help`.

use std::path::{Path, PathBuf};

use clap_mangen::Man;
use serde_json::json;

use crate::cli::{Cli, Format};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

/// Flags of `turnpike man`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write one page for each command into this folder, instead of the main page to standard output
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let pages = pages()?;
    let Some(folder) = &args.output else {
        let page = pages.first().map_or("", |(_, text)| text.as_str());
        match format {
            Format::Human => output::line(page.trim_end()),
            Format::Json => output::json(&json!({"turnpike": VERSION, "command": "man", "page": page})),
        }
        return Ok(Exit::Clean);
    };
    let failed =
        |path: &Path, error: &std::io::Error| Failure::file(&path.display().to_string(), "write", error);
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let mut files = Vec::new();
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
        files.push(path.display().to_string());
    }
    match format {
        Format::Human => output::line(&format!("wrote {} pages to {}", files.len(), folder.display())),
        Format::Json => output::json(&json!({"turnpike": VERSION, "command": "man", "files": files})),
    }
    Ok(Exit::Clean)
}

/// Adds the commands inside a command, however deep. Pages name what the user types.
fn add_subcommands(prefix: &str, command: &clap::Command, out: &mut Vec<(String, clap::Command)>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let name = format!("{prefix}-{}", inner.get_name());
        out.push((name.clone(), inner.clone().display_name(name.clone())));
        add_subcommands(&name, inner, out);
    }
}

/// File names and texts; the page of the program itself comes first.
fn pages() -> Outcome<Vec<(String, String)>> {
    let mut root = Cli::grammar();
    root.build();
    let mut commands = vec![("turnpike".to_owned(), root.clone())];
    add_subcommands("turnpike", &root, &mut commands);
    commands
        .into_iter()
        .map(|(name, command)| {
            let mut text = Vec::new();
            Man::new(command)
                .render(&mut text)
                .map_err(|error| Failure::file("the manual page", "make", &error))?;
            Ok((format!("{name}.1"), String::from_utf8_lossy(&text).into_owned()))
        })
        .collect()
}
