//! Killing the lab at any moment loses nothing that was committed and repeats nothing.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{command, folder, turnpike_in};

/// Runs of some milliseconds, so that kills come between them, in them, and while they are committed.
const EXPERIMENT: &str = r#"
title = "Walks"
runs = 60
flags = "--find deadlock --no-shorten --strategy random --restart"

[[model]]
name = "either({n})"
use = "builtin:philosophers-either"
flags = "--set n={n}"
vary = { n = [11, 13] }

[[strategy]]
name = "{k} states"
flags = "--max-states {k}000"
vary = { k = [10, 60] }
"#;

/// How often it is killed, if `TURNPIKE_KILLS` does not say so.
const KILLS: usize = 8;

fn exported(folder: &Path) -> Vec<String> {
    if !folder.join("turnpike-lab.db").exists() {
        return Vec::new();
    }
    let text = turnpike_in(folder, &["lab", "export", "--csv"], "").expect(0, &[]).stdout;
    text.lines().skip(1).map(|line| line.rsplit_once(',').expect("a last field").0.to_owned()).collect()
}

#[test]
fn killed_at_random_moments_it_ends_with_exactly_the_expected_rows() {
    let here = folder(&[("walks.toml", EXPERIMENT)]);
    let here = here.path();
    let (mut random, mut progressed, mut before) = (0x2545_f491_4f6c_dd1d_u64, 0, Vec::new());
    let asked = std::env::var("TURNPIKE_KILLS").ok().and_then(|text| text.parse().ok());
    let (mut kill, kills) = (0, asked.unwrap_or(KILLS));
    // On a busy machine it takes longer until a run is kept.
    while kill < kills || progressed == 0 {
        let patience = 450 + 450 * kill.saturating_sub(kills) as u64;
        // xorshift: any moment will do, but the same ones each time.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = command(&["lab", "run", "walks.toml", "--jobs", "2"])
            .current_dir(here)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the lab starts");
        std::thread::sleep(Duration::from_millis(random % patience));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let now = exported(here);
        let lost: Vec<_> = before.iter().filter(|row| !now.contains(row)).collect();
        assert!(lost.is_empty(), "kill {kill} lost {lost:?}");
        progressed += usize::from(now.len() > before.len());
        before = now;
        kill += 1;
    }

    turnpike_in(here, &["lab", "run", "walks.toml"], "").expect(0, &["new runs"]);
    let rows = exported(here);
    assert_eq!(rows.len(), 4 * 60);
    assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), 4 * 60, "a run was kept twice");

    let calm = folder(&[("walks.toml", EXPERIMENT)]);
    turnpike_in(calm.path(), &["lab", "run", "walks.toml"], "").expect(0, &["240 new runs"]);
    assert_eq!(exported(calm.path()), rows, "kills change no result");
}
