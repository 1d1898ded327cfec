//! Several processes give the result of one; whoever does not fit is refused; a loss proves nothing.
//! Everything stays on loopback addresses of this machine, within a bounded time.
#![allow(clippy::print_stderr, reason = "the test of kills says how many it made")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Ran, command, folder, timeless, turnpike};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
const SECRET: &str = "as long as a secret must be";
/// A search that takes long, for a process that is lost meanwhile.
const LONG: [&str; 6] = ["search", "builtin:bakery", "--set", "n=5", "--strategy", "bfs"];

/// What so many processes print, without times and memory.
fn report(processes: &str, threads: &str, arguments: &[&str]) -> Value {
    let more = ["--threads", threads, "--format", "json"];
    let launch = [&["launch", "-n", processes, "--"], arguments, &more].concat();
    let ran = turnpike(&if processes == "1" { [arguments, &more].concat() } else { launch });
    assert!(!ran.text().contains("panicked"), "{}", ran.text());
    let mut report = timeless(ran.json());
    let fields = report.as_object_mut().expect("an object");
    fields.insert("exit code".into(), ran.code.into());
    // Stores of several workers take other sizes, only processes send, and the command says how many threads there were.
    fields.retain(|name, _| !["store_bytes", "sent_bytes", "repeat"].contains(&name.as_str()));
    report
}

#[test]
fn several_processes_give_the_result_of_one() {
    let (lift, fischer) = (format!("{MODELS}/lift.mcrl2"), format!("{MODELS}/timed/fischer.xta"));
    let system = folder(&[]);
    let aut = system.path().join("system.aut").display().to_string();
    turnpike(&["generate", "builtin:philosophers", "--set", "n=9", "-o", &aut]).exits(0);
    let rows: [&[&str]; 8] = [
        &["generate", "builtin:two-phase-commit", "--set", "n=6"],
        &["generate", &lift, "--set", "N=4", "--max-states", "12000"],
        &["search", "builtin:philosophers", "--set", "n=9", "--strategy", "bfs"],
        &["search", &lift, "--set", "N=4", "--strategy", "bfs", "--max-states", "15000"],
        &[
            "search",
            &lift,
            "--set",
            "N=4",
            "--strategy",
            "highway",
            "--width",
            "2000",
            "--max-states",
            "20000",
        ],
        &["search", &fischer, "--set", "N=6", "--cover", "none", "--find", "deadlock", "--strategy", "bfs"],
        &[
            "search",
            &fischer,
            "--set",
            "N=6",
            "--cover",
            "none",
            "--find",
            "deadlock",
            "--strategy",
            "highway",
            "--width",
            "1500",
        ],
        &["search", &aut, "--strategy", "highway", "--width", "1500", "--find", "cover *"],
    ];
    for (index, row) in rows.iter().enumerate() {
        let alone = report("1", "1", row);
        let large = alone["states"].as_u64() > Some(4096);
        assert!(large || alone["stop"] == "found", "{row:?} is too small: {alone}");
        let shape = [("2", "1"), ("2", "2"), ("4", "1")][index % 3];
        assert_eq!(report(shape.0, shape.1, row), alone, "{row:?} on {shape:?}");
    }
}

/// Four counters, one of which leaves its range in a level of two thousand states.
const COUNTERS: &str = "int[0,20] n[4];
process P(const int[0,3] i) { state a; init a; trans a -> a { assign n[i] = n[i] + 1; }; }
system P;
";

/// Threads and processes × threads, on searches that go to the end, or stop within a level: by a limit, by an error.
#[test]
fn every_shape_gives_the_result_of_one() {
    let folder = folder(&[("counters.xta", COUNTERS)]);
    let counters = folder.path().join("counters.xta").display().to_string();
    let philosophers = ["search", "builtin:philosophers", "--set", "n=10", "--strategy"];
    let row = |more: &[&'static str]| [&philosophers[..], more].concat();
    let rows: [(Vec<&str>, Option<&str>); 4] = [
        (row(&["beam", "--guide", "waiting", "--width", "2000", "--find", "cover *"]), Some("finished")),
        (
            row(&["bfs", "--max-states", "12345", "--find", "action none", "--allow-unknown"]),
            Some("max-states"),
        ),
        (
            row(&["highway", "--width", "1500", "--max-states", "12345", "--find", "cover *"]),
            Some("max-states"),
        ),
        (vec!["search", &counters, "--strategy", "bfs", "--find", "state n[0] == 20 && n[1] == 20"], None),
    ];
    for (row, stop) in &rows {
        let alone = report("1", "1", row);
        assert_eq!(alone["stop"].as_str(), *stop, "{row:?}: {alone}");
        assert!(stop.is_some() || alone["error"].is_string(), "{row:?}: {alone}");
        for (processes, threads) in
            [("1", "2"), ("1", "3"), ("1", "4"), ("1", "7"), ("2", "1"), ("2", "2"), ("4", "1")]
        {
            assert_eq!(report(processes, threads, row), alone, "{row:?} on {processes} x {threads}");
        }
    }
}

#[test]
fn what_processes_cannot_share_is_refused() {
    let refused = |arguments: &[&str], words: &[&str]| {
        turnpike(&[&["launch", "-n", "2", "--"], arguments].concat()).expect(2, words);
    };
    let philosophers = ["search", "builtin:philosophers"];
    refused(&[&philosophers[..], &["--strategy", "dfs"]].concat(), &["the strategy dfs does not share"]);
    refused(&[&philosophers[..], &["--strategy", "bfs", "--runs", "3"]].concat(), &["several runs"]);
    refused(&[&philosophers[..], &["--strategy", "bfs", "--find", "livelock"]].concat(), &["`livelock`"]);
    refused(&["strategies"], &["strategies does not use several processes"]);
    refused(&["generate", "builtin:philosophers", "-o", "x.aut"], &["do not write it"]);
    refused(&["search", "missing.mcrl2", "--strategy", "bfs"], &["missing.mcrl2"]);
    refused(&["generate", "-"], &["standard input", "write it to a file"]);
    refused(&["search", "-", "--as", "mcrl2"], &["standard input"]);
}

#[test]
fn a_search_without_a_strategy_is_breadth_first() {
    let ran = turnpike(&["launch", "-n", "2", "--", "search", "builtin:philosophers", "--set", "n=4"]);
    ran.expect(1, &["note: several processes search with --strategy bfs", "deadlock"]);
    let named =
        turnpike(&["launch", "-n", "2", "--", "search", "builtin:philosophers", "--strategy", "auto"]);
    named.expect(2, &["the strategy auto does not share"]);
}

#[test]
fn a_wrong_command_within_launch_is_reported_as_json() {
    for inner in [&["search", "builtin:philosophers", "--no-such-flag"][..], &["strategies"]] {
        let ran = turnpike(&[&["launch", "-n", "2", "--"], inner, &["--format", "json"]].concat());
        assert_eq!(ran.code, 2, "{}", ran.text());
        assert!(ran.json()["error"].is_string(), "{}", ran.text());
    }
}

const COIN: &str = "act a: Bool; proc P = dist b: Bool[1/2]. a(b) . P; init P;\n";

#[test]
fn what_probabilistic_systems_do_not_do_is_refused_by_name() {
    let folder = folder(&[("coin.mcrl2", COIN)]);
    let path = folder.path().join("coin.mcrl2").display().to_string();
    turnpike(&["generate", &path]).exits(0);
    for flag in ["--checkpoint", "--spill"] {
        let ran = turnpike(&["generate", &path, flag, "nowhere-to-be-made"]);
        ran.expect(2, &[flag, "probabilistic choices"]);
    }
    turnpike(&["launch", "-n", "2", "--", "generate", &path])
        .expect(2, &["several processes cannot be used"]);
}

/// Processes that are started by hand.
struct Cluster {
    folder: tempfile::TempDir,
    addresses: Vec<String>,
}

impl Cluster {
    /// The processes bind their ports later. Connections take ports of 127.0.0.1, so on an address that no other
    /// test has nobody takes them meanwhile.
    fn new(count: usize) -> Self {
        static CLUSTERS: AtomicU32 = AtomicU32::new(0);
        let cluster = CLUSTERS.fetch_add(1, Ordering::Relaxed) % 100 + 2;
        let [_, _, high, low] = std::process::id().to_be_bytes();
        let bind = |_| TcpListener::bind(format!("127.{cluster}.{high}.{low}:0")).expect("a free port");
        let ports: Vec<TcpListener> = (0..count).map(bind).collect();
        let address = |port: &TcpListener| port.local_addr().expect("an address").to_string();
        let addresses: Vec<String> = ports.iter().map(address).collect();
        Cluster { folder: folder(&[("hosts", &addresses.join("\n"))]), addresses }
    }

    fn start(&self, process: usize, secret: &str, wait: &str, arguments: &[&str]) -> Child {
        self.start_in(self.folder.path(), process, secret, wait, arguments)
    }

    /// Starts a process in another folder.
    fn start_in(&self, folder: &Path, process: usize, secret: &str, wait: &str, arguments: &[&str]) -> Child {
        let process = process.to_string();
        let hosts = self.folder.path().join("hosts").display().to_string();
        let hosts = ["launch", "--hosts", &hosts, "--process", &process, "--wait", wait, "--"];
        command(&[&hosts, arguments].concat())
            .current_dir(folder)
            .env("TURNPIKE_CLUSTER_SECRET", secret)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    }
}

fn end_of(child: Child) -> Ran {
    child.wait_with_output().expect("it ends").into()
}

#[test]
fn who_does_not_fit_is_refused_on_both_sides() {
    let small = ["search", "builtin:philosophers", "--strategy", "bfs"];
    for (secret, search, words) in [
        (SECRET, &["--set", "n=4"][..], "model"),
        (SECRET, &["--find", "action eat", "--allow-unknown"], "search"),
        ("another secret of a fair length", &[], "secret"),
    ] {
        // Processes that differ end as soon as they meet; one with another secret is not waited for longer than
        // asked. On a busy machine they may need more time to meet.
        for wait in ["2s", "10s", "60s"] {
            let cluster = Cluster::new(2);
            let first = cluster.start(0, SECRET, wait, &small);
            let second = cluster.start(1, secret, wait, &[&small[..], search].concat());
            let (first, second) = (end_of(first), end_of(second));
            assert_eq!((first.code, second.code), (2, 2), "{}{}", first.text(), second.text());
            let met = first.text().contains(words) && second.text().contains(words);
            assert!(met || wait != "60s", "{words}: {}{}", first.text(), second.text());
            if met {
                break;
            }
        }
    }
}

#[test]
fn strangers_are_refused_and_the_absent_are_named() {
    let cluster = Cluster::new(2);
    let first = cluster.start(0, SECRET, "2s", &["search", "builtin:philosophers", "--strategy", "bfs"]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let stranger = loop {
        match TcpStream::connect(&cluster.addresses[0]) {
            Ok(stream) => break Some(stream),
            Err(_) if Instant::now() > deadline => break None,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    // It may have waited long enough before anyone called.
    if let Some(mut stranger) = stranger {
        let _ = stranger.write_all(b"GET / HTTP/1.1\r\nHost: garbage that is longer than a greeting\r\n\r\n");
    }
    let absent = format!("process 1 ({}) did not join within 2s", cluster.addresses[1]);
    end_of(first).expect(2, &[&absent]);
}

#[test]
fn a_lost_process_ends_the_others() {
    let search = [&LONG[..], &["--format", "json", "--max-time", "100s", "--progress", "json"]].concat();
    for victim in [1, 2] {
        let cluster = Cluster::new(3);
        let mut children: Vec<Child> =
            (0..3).map(|process| cluster.start(process, SECRET, "30s", &search)).collect();
        // The first event of process 0: the search is under way. Notes may come before it.
        let mut err = BufReader::new(children[0].stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.starts_with('{') {
            line.clear();
            assert!(err.read_line(&mut line).expect("text") > 0, "process 0 ended too early");
        }
        let drain = std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
        std::thread::sleep(Duration::from_millis(60 * victim as u64));
        children[victim].kill().expect("it lives");
        let mut report = None;
        for (process, mut child) in children.into_iter().enumerate() {
            if process == victim {
                child.wait().expect("it ends");
                continue;
            }
            let ended = end_of(child);
            assert_eq!(ended.code, 3, "{}", ended.text());
            report = report.or_else(|| (process == 0).then(|| ended.json()));
        }
        drain.join().expect("no panic").expect("text");
        let report = report.expect("process 0 prints");
        assert_eq!((&report["stop"], &report["verdict"]), (&"process-lost".into(), &"inconclusive".into()));
    }
}

#[test]
fn a_wrong_list_of_hosts_is_pointed_at() {
    let wrong = folder(&[("hosts", "127.0.0.1:7000\nno address\n")]);
    let path = wrong.path().join("hosts").display().to_string();
    let launch = ["launch", "--hosts", &path, "--process", "0", "--", "search", "builtin:philosophers"];
    turnpike(&launch).expect(2, &["hosts", "2"]);
    assert!(Path::new(&path).exists());
    turnpike(&["launch", "--hosts", &path, "--", "search", "builtin:philosophers"]).exits(2);
}

/// Whether a level of a checkpoint has the parts of all three processes.
fn has_whole_level(saved: &Path) -> bool {
    let levels = std::fs::read_dir(saved).into_iter().flatten().flatten();
    levels
        .map(|level| level.path())
        .any(|level| (0..3).all(|part| level.join(format!("part-{part}")).exists()))
}

/// What is left of a search that is killed by SIGKILL goes on to the result of an undisturbed one.
/// `TURNPIKE_KILLS` makes more rounds than a test needs, and asks that the others end within 10 s.
#[test]
fn a_killed_search_goes_on_from_its_checkpoint() {
    let asked = std::env::var("TURNPIKE_KILLS").ok().and_then(|text| text.parse().ok());
    let rounds = asked.unwrap_or(3u64);
    let search = ["search", "builtin:philosophers", "--set", "n=9", "--strategy", "bfs", "--find", "cover *"];
    let alone = report("1", "1", &search);
    let (mut resumed, mut in_time) = (0, 0);
    for round in 0..rounds {
        let cluster = Cluster::new(3);
        let writing =
            [&search[..], &["--checkpoint", "saved", "--checkpoint-every", "0s", "--threads", "1"]].concat();
        let start = |process| cluster.start(process, SECRET, "30s", &writing);
        let mut children: Vec<Child> = (0..3).map(start).collect();
        let saved = cluster.folder.path().join("saved");
        // Some are killed before there is anything to go on from.
        let early = round % 8 == 7;
        let ready = || if early { saved.exists() } else { has_whole_level(&saved) };
        while !ready() && children[0].try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(round * 37 % 400));
        let victim = (round % 3) as usize;
        children[victim].kill().expect("it can be killed");
        let killed = Instant::now();
        for (process, child) in children.into_iter().enumerate() {
            let output = child.wait_with_output().expect("it ends");
            let seconds = killed.elapsed().as_secs();
            assert!(asked.is_none() || seconds < 10, "{seconds} s after the kill");
            assert!(matches!(output.status.code(), None | Some(0 | 3)), "{}", output.status);
            in_time += u64::from(process == victim && output.status.code().is_none());
            if process == 0 && String::from_utf8_lossy(&output.stdout).contains("a process was lost") {
                assert_eq!(output.status.code(), Some(3), "a loss is not a result");
                let text = String::from_utf8_lossy(&output.stderr);
                let command = "--process 0 -- search builtin:philosophers";
                assert!(text.contains(command) || text.contains("no checkpoint had been written"), "{text}");
                assert!(text.contains("--resume saved`") || !text.contains(command), "{text}");
            }
        }
        let resume = saved.display().to_string();
        let going_on = [&search[..], &["--resume", &resume]].concat();
        let shape = [("1", "1"), ("2", "2"), ("1", "3")][victim];
        let ran = turnpike(&[&going_on[..], &["--format", "json"]].concat());
        if ran.code == 2 {
            // It was killed before the first checkpoint was whole.
            assert!(early && ran.text().contains("checkpoint"), "{}", ran.text());
            continue;
        }
        assert_eq!(report(shape.0, shape.1, &going_on), alone, "round {round}");
        resumed += 1;
    }
    eprintln!("{rounds} rounds: {in_time} processes were killed before they had ended");
    eprintln!("{resumed} searches went on to the same result, the others had no checkpoint yet");
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let saved = folder(&[]);
    let path = saved.path().display().to_string();
    let search = ["search", "builtin:philosophers", "--strategy", "bfs"];
    let write = ["--checkpoint", &path, "--checkpoint-every", "0s"];
    turnpike(&[&search[..], &write].concat()).exits(1);
    turnpike(&[&search[..], &["--resume", &path]].concat()).expect(1, &["deadlock"]);
    turnpike(&[&search[..], &["--set", "n=6", "--resume", &path]].concat()).expect(2, &["another search"]);
    turnpike(&["search", "builtin:philosophers", "--strategy", "dfs", "--resume", &path]).exits(2);
    turnpike(&[&search[..], &["--resume", "nowhere"]].concat()).expect(2, &["nowhere"]);
    let empty = folder(&[]);
    let empty = empty.path().display().to_string();
    turnpike(&[&search[..], &["--resume", &empty]].concat()).expect(2, &["there is no checkpoint"]);
}

/// `bad` is reached only if the constant is 1.
const SWITCH: &str = "const int K = 0; int i;
process P() { state a, b, bad; init a; trans a -> b { guard i < 3; assign i = i + 1; }, b -> a { },
  a -> bad { guard K == 1 && i == 1; }; }
p = P(); system p;
";

#[test]
fn a_checkpoint_of_other_constants_is_refused() {
    let folder = folder(&[("k.xta", SWITCH)]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (model, saved) = (path("k.xta"), path("saved"));
    let search = ["search", &model, "--strategy", "bfs", "--find", "state p.bad"];
    let write = ["--checkpoint", &saved, "--checkpoint-every", "0s"];
    turnpike(&[&search[..], &write].concat()).expect(0, &["none"]);
    turnpike(&[&search[..], &["--resume", &saved]].concat()).expect(0, &["none"]);
    for changed in [&["--set", "K=1"][..], &["--keep-dead"], &["--out-of-range", "disable"]] {
        let ran = turnpike(&[&search[..], changed, &["--resume", &saved]].concat());
        ran.expect(2, &["it is of another search"]);
        // Nor does it write its own beside them.
        let ran = turnpike(&[&search[..], changed, &write].concat());
        ran.expect(2, &["holds checkpoints of another search", "choose another folder"]);
    }
    turnpike(&[&search[..], &["--set", "K=1"]].concat()).expect(1, &["found"]);
    let counted = ["generate", &model, "--resume", &saved];
    turnpike(&counted).expect(2, &["it is of another search"]);
}

/// What two processes say that are started with different flags.
fn two(first: &[&str], second: &[&str]) -> [Ran; 2] {
    let search = ["search", "builtin:philosophers", "--set", "n=6", "--strategy", "bfs"];
    let cluster = Cluster::new(2);
    let first = cluster.start(0, SECRET, "60s", &[&search[..], first].concat());
    let second = cluster.start(1, SECRET, "60s", &[&search[..], second].concat());
    [end_of(first), end_of(second)]
}

#[test]
fn processes_agree_on_checkpoints() {
    let folder = folder(&[]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (one, other) = (path("one"), path("other"));
    // The same search from two checkpoints: one by one process, one of a lesser depth.
    let search = ["search", "builtin:philosophers", "--set", "n=6", "--strategy", "bfs"];
    for saved in [&one, &other] {
        let write = ["--checkpoint", saved, "--checkpoint-every", "0s"];
        turnpike(&[&search[..], &write].concat()).exits(1);
    }
    for ran in two(&["--resume", &one], &["--resume", &other]) {
        ran.expect(2, &["checkpoint to go on from"]);
    }
    for ran in two(&["--resume", &one], &[]) {
        ran.expect(2, &["checkpoint to go on from"]);
    }
    for ran in two(&["--checkpoint", &one], &[]) {
        ran.expect(2, &["checkpoints"]);
    }
    let [first, _] = two(&["--resume", &one], &["--resume", &one]);
    first.expect(1, &["deadlock"]);
}

#[test]
fn a_folder_that_is_not_shared_is_refused_at_once() {
    let cluster = Cluster::new(2);
    let homes = [folder(&[]), folder(&[])];
    let search = ["search", "builtin:philosophers", "--strategy", "bfs", "--checkpoint", "saved"];
    let children: Vec<Child> = (0..2)
        .map(|process| cluster.start_in(homes[process].path(), process, SECRET, "60s", &search))
        .collect();
    for child in children {
        end_of(child).expect(2, &["saved of process 1 is not that of process 0", "all processes see"]);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_to_launch_alone_ends_all_processes() {
    let search = [&["launch", "-n", "2", "--"], &LONG[..], &["--max-time", "100s", "--progress", "json"]];
    for signal in ["-INT", "-TERM"] {
        let mut child = command(&search.concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.starts_with('{') {
            line.clear();
            assert!(err.read_line(&mut line).expect("text") > 0, "it ended too early");
        }
        let drain = std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        // Its standard error ends when all processes have ended that were started with it.
        drain.join().expect("no panic").expect("text");
        let ended = end_of(child);
        ended.expect(3, &["interrupted"]);
    }
}
