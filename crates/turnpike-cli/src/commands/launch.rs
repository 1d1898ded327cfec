//! `turnpike launch`: one search by several processes, here or on other machines.

use std::ffi::OsString;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use turnpike_model::Diagnostic;
use turnpike_session::cluster::{Hosts, Membership, Secret};
use turnpike_session::values;

use crate::cli::{self, AnyFormat, Cli, Format};
use crate::cluster;
use crate::exit::{self, Exit};
use crate::failure::{self, Failure, Outcome};
use crate::output::{self, interrupt};

/// The variable that holds the secret.
const SECRET: &str = "TURNPIKE_CLUSTER_SECRET";
/// The number of this process, where SLURM starts it.
/// After how many milliseconds the allocator returns memory that was freed: at once, where processes share a machine.
/// What one keeps after a level, the others cannot have.
const PURGE: &str = "MIMALLOC_PURGE_DELAY";
const SLURM: &str = "SLURM_PROCID";
/// The strategies of searches that name none, of models and of programs: the default, `auto`, shares
/// nothing out.
const OF_MODELS: &str = "bfs";
const OF_PROGRAMS: &str = "pos";
/// After a process failed, the others get this long to notice, or to fail for the same reason.
const GRACE: Duration = Duration::from_secs(3);

/// What `turnpike launch --help` ends with.
fn after_help() -> String {
    format!(
        "\
Examples:
  turnpike launch -n 4 -- search builtin:philosophers --set n=12
  TURNPIKE_CLUSTER_SECRET=... turnpike launch --hosts hosts.txt --process 0 -- generate big.mcrl2
  turnpike launch -n 2 -- search --program ./bank --max-executions 1000000
  srun turnpike launch --hosts hosts.txt -- search big.mcrl2 --strategy highway --width 1000000

The result is that of one process. Process 0 prints it. Traffic between machines is not encrypted.

{}",
        exit::TABLE
    )
}

/// Flags of `turnpike launch`.
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// Start this many processes on this machine
    #[arg(short = 'n', long, value_name = "N", value_parser = values::positive::<usize>)]
    #[arg(conflicts_with_all = ["hosts", "process"], required_unless_present = "hosts")]
    number: Option<usize>,
    /// Take part as one of the processes in this file, which has one host:port on each line
    #[arg(long, value_name = "FILE")]
    hosts: Option<String>,
    /// The number of this process in the file, from 0 [default: the value of SLURM_PROCID]
    #[arg(long, value_name = "K")]
    process: Option<usize>,
    /// How long to wait for the other processes
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    wait: Duration,
    /// Processes on this machine
    #[arg(long, value_name = "N", hide = true)]
    neighbours: Option<usize>,
    /// The search, or the generation
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Args {
    /// Becomes one of the processes, if that was requested: what it is to do.
    pub(crate) fn enter(&self, format: AnyFormat) -> Outcome<Option<Cli>> {
        let Some(path) = &self.hosts else { return Ok(None) };
        let (inner, defaulted) = self.inner(format)?;
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, "read", &error))?;
        let hosts = Hosts::parse(&text).map_err(|diagnostics| Failure {
            origin: path.clone(),
            source: Some(text.clone()),
            diagnostics,
            ..Failure::usage("")
        })?;
        let process = self.process()?;
        let secret = std::env::var(SECRET).map_err(|_| {
            let error = Diagnostic::error(format!("the variable {SECRET} is not set"));
            error.help("give all processes the same secret, of at least 16 characters")
        })?;
        let secret = Secret::new(&secret).map_err(|weak| Failure::usage(weak.to_string()))?;
        let (patience, neighbours) = (self.wait, self.neighbours.unwrap_or(1));
        let membership = Membership { hosts, process, secret, patience, neighbours };
        cluster::become_member(membership, self.words(path));
        if self.neighbours.is_some() {
            follow_launcher();
        }
        if let Some(strategy) = defaulted {
            output::note(&format!("note: several processes search with --strategy {strategy}"));
        }
        output::repeat::typed_as(&self.command);
        Ok(Some(inner))
    }

    /// The words that start the processes again, up to what they do.
    fn words(&self, hosts: &str) -> Vec<String> {
        let mut words = vec!["launch".to_owned()];
        match (self.neighbours, self.process) {
            // The list of hosts is gone with them.
            (Some(count), _) => words.extend(["-n".to_owned(), count.to_string()]),
            (None, process) => {
                words.extend(["--hosts".to_owned(), hosts.to_owned()]);
                words.extend(process.iter().flat_map(|number| ["--process".to_owned(), number.to_string()]));
            }
        }
        words.push("--".to_owned());
        words
    }

    /// Whether the command that the processes carry out is to print JSON.
    pub(crate) fn asks_for_json(&self) -> bool {
        let words: Vec<String> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        failure::asks_for_json(&words)
    }

    /// The command that the processes carry out, and its strategy if that was chosen for it.
    fn inner(&self, format: AnyFormat) -> Outcome<(Cli, Option<&'static str>)> {
        let words = std::iter::once(OsString::from("turnpike")).chain(self.command.iter().cloned());
        let mut inner = Cli::read_from(words).map_err(|error| failure::inner_usage(&error))?;
        if !inner.command.can_be_launched() {
            let error = Diagnostic::error(format!("{} does not use several processes", inner.command.name()));
            let help = match inner.command {
                cli::Command::Lab(_) => {
                    "runs of the lab are shared out to the cores of one machine, by `lab run --jobs`; launch \
                     starts search and generate"
                }
                _ => "launch starts search and generate",
            };
            return Err(error.help(help).into());
        }
        if inner.format == AnyFormat::Human {
            inner.format = format;
        }
        let defaulted = match &mut inner.command {
            cli::Command::Search(args) => {
                let strategy = if args.model.program.program.is_some() { OF_PROGRAMS } else { OF_MODELS };
                args.default_to(strategy).then_some(strategy)
            }
            _ => None,
        };
        Ok((inner, defaulted))
    }

    /// Refuses a model that only one of several processes could read.
    fn refuse_standard_input(inner: &Cli) -> Outcome<()> {
        let model = match &inner.command {
            cli::Command::Search(args) => &args.model.model,
            cli::Command::Generate(args) => &args.model.model,
            _ => return Ok(()),
        };
        if model != "-" {
            return Ok(());
        }
        let error = Diagnostic::error("several processes cannot read the model from standard input");
        Err(error.help("write it to a file").into())
    }

    fn process(&self) -> Outcome<usize> {
        if let Some(process) = self.process {
            return Ok(process);
        }
        let number = std::env::var(SLURM).ok().and_then(|text| text.parse().ok());
        number.ok_or_else(|| {
            let error = Diagnostic::error("the number of this process is not known");
            error.help(format!("pass --process, or start it by srun, which sets {SLURM}")).into()
        })
    }
}

/// Starts processes on this machine, and waits for them.
pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let outer = if format == Format::Json { AnyFormat::Json } else { AnyFormat::Human };
    let count = args.number.unwrap_or(1);
    Args::refuse_standard_input(&args.inner(outer)?.0)?;
    let secret = Secret::random_text().map_err(|error| Failure::file("a secret", "make", &error))?;
    let hosts = write_hosts(count)?;
    // Ctrl-C in a terminal reaches the processes, too; a signal to this one alone does not. They report, and
    // this one waits for them.
    let interrupted = interrupt::install_quietly()?;
    let program = std::env::current_exe().map_err(|error| Failure::file("turnpike", "find", &error))?;
    let start = |process: usize| {
        let mut command = Command::new(&program);
        command.args([
            "--format",
            if format == Format::Json { "json" } else { "human" },
            "launch",
            "--hosts",
        ]);
        command.arg(hosts.path()).args(["--process", &process.to_string()]);
        command.args(["--neighbours", &count.to_string()]);
        command.args(["--wait", &format!("{}s", args.wait.as_secs().max(1))]).arg("--").args(&args.command);
        command.env(SECRET, &secret).stdin(Stdio::piped());
        if std::env::var_os(PURGE).is_none() {
            command.env(PURGE, "0");
        }
        command.spawn().map_err(|error| Failure::file("a process", "start", &error))
    };
    let mut children: Vec<Child> = (0..count).map(start).collect::<Outcome<_>>()?;
    let ends = wait_for(&mut children, &|| interrupted.load(Ordering::SeqCst))?;
    let first = ends[0].code();
    for (process, end) in ends.iter().enumerate() {
        if end.code().is_none() || (has_failed(*end) && end.code() != first) {
            output::note(&format!("process {process} ended early: {end}"));
        }
    }
    Ok(exit_of(ends[0]))
}

/// Waits for all processes. When `interrupted` says so, or some time after one failed, all are asked to end:
/// one that waits for others to join would wait in vain.
fn wait_for(children: &mut [Child], interrupted: &dyn Fn() -> bool) -> Outcome<Vec<ExitStatus>> {
    let mut ends: Vec<Option<ExitStatus>> = vec![None; children.len()];
    let mut deadline: Option<Instant> = None;
    while ends.contains(&None) {
        for (child, end) in children.iter_mut().zip(&mut ends).filter(|(_, end)| end.is_none()) {
            *end = child.try_wait().map_err(|error| Failure::file("a process", "wait for", &error))?;
            if end.is_some_and(has_failed) {
                deadline.get_or_insert_with(|| Instant::now() + GRACE);
            }
        }
        if interrupted() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            children.iter_mut().for_each(|child| drop(child.stdin.take()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(ends.into_iter().flatten().collect())
}

/// Whether a process came to no result.
fn has_failed(end: ExitStatus) -> bool {
    !matches!(end.code(), Some(0 | 1 | 3))
}

/// Ends the work when the process that started this one closes its standard input, or is gone.
fn follow_launcher() {
    let interrupt = interrupt::shared();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        interrupt.store(true, Ordering::SeqCst);
    });
}

/// What process 0 found; a process that was killed found nothing.
fn exit_of(end: ExitStatus) -> Exit {
    match end.code() {
        Some(0) => Exit::Clean,
        Some(1) => Exit::Found,
        Some(2) => Exit::Usage,
        Some(3) | None => Exit::Inconclusive,
        Some(_) => Exit::Internal,
    }
}

/// The list of processes on this machine, in a file of its own that is removed at the end.
fn write_hosts(count: usize) -> Outcome<tempfile::NamedTempFile> {
    let failed = |error: std::io::Error| Failure::file("a free port", "find", &error);
    // The processes bind their ports a moment later. On a loopback address of its own no connection of
    // another program takes them meanwhile; where there is only one address, that is unlikely.
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let own = Ipv4Addr::new(127, high.max(1), middle, low);
    let bind = |_| TcpListener::bind((own, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    // All are held until all are known, so that no two are the same.
    let ports: Vec<_> = (0..count).map(bind).collect::<std::io::Result<_>>().map_err(failed)?;
    let mut text = String::new();
    for port in &ports {
        text.push_str(&format!("{}\n", port.local_addr().map_err(failed)?));
    }
    let unwritten = |error: std::io::Error| Failure::file("the list of processes", "write", &error);
    let mut file = tempfile::Builder::new().prefix("turnpike-hosts-").tempfile().map_err(unwritten)?;
    file.write_all(text.as_bytes()).map_err(unwritten)?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn start(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::null());
        command.spawn().expect("it starts")
    }

    fn codes(ends: &[ExitStatus]) -> Vec<Option<i32>> {
        ends.iter().map(ExitStatus::code).collect()
    }

    #[test]
    fn a_process_that_fails_ends_the_wait_of_the_others() {
        // The first one waits until it is asked to end.
        for (failing, code) in [("exit 2", Some(2)), ("kill -9 $$", None)] {
            let mut children = [start("cat; exit 3"), start(failing)];
            let ends = wait_for(&mut children, &|| false).expect("they end");
            assert_eq!(codes(&ends), [Some(3), code], "{failing}");
        }
    }

    #[test]
    fn processes_that_come_to_a_result_leave_the_others_alone() {
        let mut children = [start("sleep 2; exit 1"), start("exit 0"), start("exit 3")];
        let ends = wait_for(&mut children, &|| false).expect("they end");
        assert_eq!(codes(&ends), [Some(1), Some(0), Some(3)]);
        let mut asked = [start("cat; exit 3"), start("cat; exit 3")];
        assert_eq!(codes(&wait_for(&mut asked, &|| true).expect("they end")), [Some(3), Some(3)]);
    }
}
