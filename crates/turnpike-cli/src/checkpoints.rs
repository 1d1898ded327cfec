//! Flags to write checkpoints, to continue from one, and to move states to files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use turnpike_session::{Checkpoints, Spill, join_words, values};

use crate::failure::Outcome;
use crate::{cluster, output};

/// Flags for checkpoints.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checkpoints and files")]
pub(crate) struct CheckpointArgs {
    /// Write checkpoints to this folder, at the end of a level (bfs, highway, beam)
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// The time between checkpoints [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "checkpoint")]
    checkpoint_every: Option<Duration>,
    /// Continue from the last checkpoint in this folder, on any number of threads and processes
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Move states to files in this folder before the memory limit is reached (bfs)
    #[arg(long, value_name = "DIR")]
    spill: Option<PathBuf>,
}

/// Between two checkpoints.
const EVERY: Duration = Duration::from_secs(300);

impl CheckpointArgs {
    /// Whether there is anything to do.
    pub(crate) fn are_given(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// The first flag that was given, as it is typed.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let flags = [
            ("--checkpoint", self.checkpoint.is_some()),
            ("--resume", self.resume.is_some()),
            ("--spill", self.spill.is_some()),
        ];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Where states go that memory has no room for.
    pub(crate) fn spill(&self) -> Option<Spill> {
        self.spill.clone().map(|folder| Spill { folder, room: None })
    }

    /// What the session needs, for a search of this identity. Says which checkpoints cannot be used.
    pub(crate) fn of(&self, identity: impl FnOnce() -> Outcome<String>) -> Outcome<Checkpoints> {
        if !self.are_given() {
            return Ok(Checkpoints::default());
        }
        let identity = identity()?;
        if let Some(folder) = &self.checkpoint {
            Checkpoints::check_folder(folder, &identity)?;
        }
        let resume = match &self.resume {
            Some(folder) => Some(Checkpoints::choose(folder, &identity)?),
            None => None,
        };
        for refused in resume.iter().flat_map(|chosen| &chosen.refused) {
            output::note(&format!("warning: {refused}"));
        }
        let every = self.checkpoint_every.unwrap_or(EVERY);
        let write = self.checkpoint.as_ref().map(|folder| (folder.clone(), every));
        Ok(Checkpoints { write, resume, identity })
    }

    /// Says how to go on when a process was lost: with these words after `turnpike`.
    pub(crate) fn advise(&self, command: Vec<String>) {
        if !self.are_given() {
            return;
        }
        let written = self.checkpoint.iter().find(|folder| has_entries(folder));
        let Some(folder) = written.or(self.resume.as_ref()) else {
            return output::note("note: no checkpoint had been written yet");
        };
        let mut words = cluster::launch_words().to_vec();
        words.extend(command);
        if let Some(folder) = &self.checkpoint {
            words.extend(["--checkpoint".to_owned(), folder.display().to_string()]);
        }
        if let Some(every) = self.checkpoint_every {
            let every = humantime::format_duration(every).to_string().replace(' ', "");
            words.extend(["--checkpoint-every".to_owned(), every]);
        }
        words.extend(["--resume".to_owned(), folder.display().to_string()]);
        output::note(&format!("help: continue from the last checkpoint with `{}`", join_words(&words)));
    }
}

fn has_entries(folder: &Path) -> bool {
    folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())
}

/// A command as it was typed, without the flags for checkpoints.
pub(crate) fn without_flags(words: Vec<String>) -> Vec<String> {
    const FLAGS: [&str; 3] = ["--checkpoint", "--checkpoint-every", "--resume"];
    let is_joined = |word: &str| word.split_once('=').is_some_and(|(flag, _)| FLAGS.contains(&flag));
    let mut rest = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if FLAGS.contains(&word.as_str()) {
            words.next();
        } else if !is_joined(&word) {
            rest.push(word);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flags_for_checkpoints_are_left_out() {
        let typed = "generate m --checkpoint a --set n=3 --resume=b --checkpoint-every 1s --quiet";
        let rest = without_flags(typed.split(' ').map(str::to_owned).collect());
        assert_eq!(rest.join(" "), "generate m --set n=3 --quiet");
    }
}
