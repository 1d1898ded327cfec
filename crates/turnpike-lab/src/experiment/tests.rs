use super::*;

const FILE: &str = r#"
title = "Seventeen philosophers"
runs = 10
flags = "--find deadlock --max-states 5000"

[[model]]
name = "philosophers({n})"
use = "builtin:philosophers(n={n})"
vary = { n = [5, 17] }

[[model]]
name = "swp"
use = "swp.mcrl2"
flags = "--find 'action error'"
replace = [{ text = "W = 2;", with = "W = 3;" }]
public = { file = "academic/swp/swp.mcrl2", flags = "--set W=3" }
only = ["random"]

[[strategy]]
name = "highway {width}"
flags = "--strategy highway --width {width}"
vary = { width = [2, 3] }

[[strategy]]
name = "random"
flags = "--strategy random"
runs = 50

[[published]]
model = "philosophers(17)"
strategy = "highway 3"
rate = 0.5

[[draw]]
kind = "rate-by-parameter"
parameter = "width"
"#;

#[test]
fn cells_are_rows_times_columns() {
    let experiment = Experiment::parse(FILE).expect("the file is right");
    let cells = experiment.cells(false);
    let names: Vec<_> =
        cells.iter().map(|cell| format!("{} / {} / {}", cell.model, cell.strategy, cell.runs)).collect();
    assert_eq!(
        names,
        [
            "philosophers(5) / highway 2 / 10",
            "philosophers(5) / highway 3 / 10",
            "philosophers(5) / random / 50",
            "philosophers(17) / highway 2 / 10",
            "philosophers(17) / highway 3 / 10",
            "philosophers(17) / random / 50",
            "swp / random / 50",
        ]
    );
    assert_eq!(
        cells[4].flags,
        [
            "--find",
            "deadlock",
            "--max-states",
            "5000",
            "--strategy",
            "highway",
            "--width",
            "3",
            "--seed",
            "0"
        ]
    );
    assert_eq!(cells[4].setting.source, "builtin:philosophers(n=17)");
    assert_eq!(cells[4].parameters.len(), 2);
    assert_eq!(cells[6].flags[4..], ["--find", "action error", "--strategy", "random", "--seed", "0"]);
    assert!(cells[6].setting.stand_in && !cells[6].setting.public);
}

#[test]
fn public_models_replace_stand_ins() {
    let cells = Experiment::parse(FILE).expect("the file is right").cells(true);
    let swp = &cells[6].setting;
    assert_eq!((swp.source.as_str(), swp.public, swp.stand_in), ("academic/swp/swp.mcrl2", true, false));
    assert!(swp.replace.is_empty());
    assert_eq!(cells[6].flags[4..6], ["--set", "W=3"]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (from, to, message, place) in [
        ("runs = 10", "runs = 0", "at least one run", "runs"),
        ("runs = 10", "rums = 10", "unknown field `rums`", "rums"),
        ("only = [\"random\"]", "only = [\"rdfs\"]", "there is no strategy `rdfs`", "rdfs"),
        ("'action error'", "'action error", "a quote is not closed", "--find 'action error"),
        ("--strategy random", "--strategy random --seed 3", "the lab sets --seed itself", "--seed"),
        ("highway {width}\"", "highway\"", "must hold {width}", "highway"),
        ("\"highway 3\"", "\"highway 9\"", "name the strategy `highway 9`", "highway 9"),
        ("rate = 0.5", "rate = 50", "between 0 and 1", "rate"),
        ("rate = 0.5", "rate = 0.5\nsuccesses = 3", "go together", "successes"),
        ("rate = 0.5", "rate = 0.5\nsuccesses = 3\ntrials = 2", "as many successes as trials", "successes"),
        ("rate = 0.5", "rate = 0.5\nexplained = { depth = \"x\" }", "names `depth`", "depth"),
        ("parameter = \"width\"", "parameter = \"n2\"", "no cell has a numeric parameter `n2`", "n2"),
        ("kind = \"rate-by-parameter\"", "kind = \"pie\"", "unknown variant `pie`", "\"pie\""),
        ("vary = { width = [2, 3] }", "vary = { width = [] }", "has no values", "width"),
    ] {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE, "{from}");
        let error = Experiment::parse(&text).expect_err(to);
        assert!(error.message.contains(message), "{}", error.message);
        let span = error.span.unwrap_or_else(|| panic!("{message} has no place"));
        assert!(text[span.range.clone()].contains(place), "{message}: {:?}", &text[span.range]);
    }
}
