//! How long the analysis after a keystroke takes: `cargo bench -p turnpike-lsp -- FILE…`, or on the bundled models.
//!
//! Letters are typed into the file at places all over it, one at a time; each time the whole text is analysed.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::time::Instant;

use turnpike_lsp::Language;

const KEYSTROKES: usize = 100;

fn measure(path: &PathBuf) {
    let name = path.display().to_string();
    let (Some(language), Ok(text)) = (Language::of_file(&name), std::fs::read_to_string(path)) else {
        println!("{name}: not a readable model");
        return;
    };
    let mut times: Vec<f64> = (0..KEYSTROKES)
        .map(|number| {
            let mut at = text.len() * number / KEYSTROKES;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let edited = format!("{}x{}", &text[..at], &text[at..]);
            let start = Instant::now();
            std::hint::black_box(language.analyse(&edited, None));
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{:<60}{:>8} bytes{:>9.1} ms median{:>9.1} ms at most",
        name,
        text.len(),
        times[KEYSTROKES / 2],
        times[KEYSTROKES - 1]
    );
}

fn main() {
    let given: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|one| one != "--bench").map(PathBuf::from).collect();
    let bundled = ["lift.mcrl2", "linklayer.mcrl2", "othello.mcrl2", "timed/train_gate.xta"];
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let files = if given.is_empty() { bundled.iter().map(|file| folder.join(file)).collect() } else { given };
    files.iter().for_each(measure);
}
