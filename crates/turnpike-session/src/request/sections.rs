//! The options of a search, one row each.

use turnpike_model::Diagnostic;
use turnpike_search::Limits;

use super::{AcceptAt, Expect, Goals, Running, Store, WitnessSettings};
use crate::choice::{Choice, unusual};
use crate::options::{OptionRow, Section, Takes, add_names, is_on, option, parse, switch, text_of};
use crate::values;

impl Section for Goals {
    const TITLE: &'static str = "What to find";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        option(
            "find",
            Takes::Texts,
            "OBJECTIVE",
            "What to look for, such as deadlock or 'action error' (repeatable) \
             [default: the model's own queries, any-error for programs, or deadlock]",
            |goals| goals.find.iter().map(ToString::to_string).collect(),
            add_objective,
        ),
        OptionRow {
            conflicts: &["find"],
            ..option(
                "query",
                Takes::Texts,
                "QUERY",
                "Answer a query about timed automata, such as 'A[] not deadlock' (repeatable)",
                |goals| goals.queries.clone(),
                |goals, text| {
                    goals.queries.push(text.to_owned());
                    Ok(())
                },
            )
        },
        OptionRow {
            conflicts: &["find"],
            ..option(
                "queries",
                Takes::Text,
                "FILE",
                "Answer the queries in a file, one per line",
                |goals| text_of(goals.query_file.as_ref()),
                |goals, text| {
                    goals.query_file = Some(text.to_owned());
                    Ok(())
                },
            )
        },
        OptionRow {
            conflicts: &["find", "query", "queries"],
            ..option(
                "formula",
                Takes::Texts,
                "FORMULA",
                "Decide a formula of the modal mu-calculus: a file that ends in .mcf, a folder of such \
                 files, or the formula itself (repeatable)",
                |goals| goals.formulas.clone(),
                |goals, text| {
                    goals.formulas.push(text.to_owned());
                    Ok(())
                },
            )
        },
        switch(
            "non-zeno",
            "Exclude Zeno runs: consider only cycles and runs of timed automata along which time diverges",
            |goals| is_on(goals.non_zeno),
            |goals, _| {
                goals.non_zeno = true;
                Ok(())
            },
        ),
        switch(
            "all",
            "Continue until every objective is met, not just one",
            |goals| is_on(goals.all),
            |goals, _| {
                goals.all = true;
                Ok(())
            },
        ),
        switch(
            "lookahead",
            "Also test successors for deadlock, not only expanded states",
            |goals| is_on(goals.lookahead),
            |goals, _| {
                goals.lookahead = true;
                Ok(())
            },
        ),
        option(
            "accept",
            Takes::Word(AcceptAt::WORDS),
            "WHEN",
            "When to test states: as soon as a transition leads to them, or when they are expanded \
             [default: generation]",
            |goals| unusual(goals.accept),
            |goals, text| AcceptAt::from_word(text).map(|when| goals.accept = when),
        ),
        option(
            "tau",
            Takes::Names,
            "NAMES",
            "Actions that count as internal besides tau",
            |goals| goals.internal.clone(),
            |goals, text| add_names(&mut goals.internal, text),
        ),
        option(
            "expect",
            Takes::Word(Expect::WORDS),
            "RESULT",
            "The result that counts as success (exit code 0) \
             [default: none for objectives; for queries, what the model expects, or satisfied]",
            |goals| goals.expect.map(|expect| expect.word().to_owned()).into_iter().collect(),
            |goals, text| Expect::from_word(text).map(|expect| goals.expect = Some(expect)),
        ),
        switch(
            "strict",
            "Programs: a search of synchronisation alone, without memory accesses, is not a success",
            |goals| is_on(goals.strict),
            |goals, _| {
                goals.strict = true;
                Ok(())
            },
        ),
        switch(
            "allow-unknown",
            "Only warn about objectives that name what the model cannot do",
            |goals| is_on(goals.allow_unknown),
            |goals, _| {
                goals.allow_unknown = true;
                Ok(())
            },
        ),
    ];
}

/// Adds an objective unless it is a duplicate.
fn add_objective(goals: &mut Goals, text: &str) -> Result<(), Diagnostic> {
    if text.trim().is_empty() {
        return Err(Diagnostic::error("the option `find` needs an objective").help("for example: deadlock"));
    }
    let objective = text.parse()?;
    if !goals.find.contains(&objective) {
        goals.find.push(objective);
    }
    Ok(())
}

impl Section for Limits {
    const TITLE: &'static str = "Limits";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        option(
            "max-states",
            Takes::Count,
            "N",
            "Expand at most this many states",
            |limits| text_of(limits.states.as_ref()),
            |limits, text| parse(text, values::count).map(|number| limits.states = Some(number)),
        ),
        option(
            "max-depth",
            Takes::Small { least: 0 },
            "N",
            "Do not expand states at this depth or deeper",
            |limits| text_of(limits.depth.as_ref()),
            |limits, text| parse(text, values::count).map(|number| limits.depth = Some(number)),
        ),
        option(
            "max-executions",
            Takes::Positive,
            "N",
            "Programs: execute at most this many times, not counting shortening",
            |limits| text_of(limits.executions.as_ref()),
            |limits, text| parse(text, values::positive).map(|number| limits.executions = Some(number)),
        ),
        option(
            "max-time",
            Takes::Time,
            "TIME",
            "Stop after this time, such as 30s or 10m",
            |limits| limits.time.map(values::write_duration).into_iter().collect(),
            |limits, text| parse(text, values::duration).map(|time| limits.time = Some(time)),
        ),
        option(
            "max-memory",
            Takes::Size,
            "SIZE",
            "Stop at this much memory, such as 4G [default: three quarters of the machine's]",
            |limits| text_of(limits.memory.as_ref()),
            |limits, text| parse(text, values::size).map(|bytes| limits.memory = Some(bytes)),
        ),
    ];
}

impl Section for Running {
    const TITLE: &'static str = "Running";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        option(
            "runs",
            Takes::Positive,
            "N",
            "Search this many times, each time with a different seed",
            |running| text_of(running.runs.as_ref()),
            |running, text| parse(text, values::positive).map(|runs| running.runs = Some(runs)),
        ),
        option(
            "threads",
            Takes::Positive,
            "N",
            "Number of threads; results do not depend on it [default: all cores where they help]",
            |running| text_of(running.threads.as_ref()),
            |running, text| parse(text, values::positive).map(|threads| running.threads = Some(threads)),
        ),
        option(
            "store",
            Takes::Word(Store::WORDS),
            "STORE",
            "How to store visited states [default: auto]",
            |running| unusual(running.store),
            |running, text| Store::from_word(text).map(|store| running.store = store),
        ),
        option(
            "bitstate-size",
            Takes::Size,
            "SIZE",
            "Size of the bit table of the store bitstate [default: 64M]",
            |running| text_of(running.bitstate_size.as_ref()),
            |running, text| parse(text, values::size).map(|bytes| running.bitstate_size = Some(bytes)),
        ),
        option(
            "seed",
            Takes::Seed,
            "SEED",
            "The random seed, decimal or 0x hexadecimal; the same seed gives the same result [default: 0]",
            // Always written, so that the command for repeating a search shows it.
            |running| vec![values::write_seed(running.seed)],
            |running, text| parse(text, values::seed).map(|seed| running.seed = seed),
        ),
    ];
}

impl Section for WitnessSettings {
    const TITLE: &'static str = "Results";
    const OPTIONS: &'static [OptionRow<Self>] = &[
        switch(
            "no-shorten",
            "Do not shorten witnesses",
            |witness| is_on(!witness.shorten),
            |witness, _| {
                witness.shorten = false;
                Ok(())
            },
        ),
        OptionRow {
            conflicts: &["no-shorten"],
            ..option(
                "shorten-budget",
                Takes::Count,
                "N",
                "The number of states (of a program: executions) that shortening a witness may take [default: \
                 about half a second of work, or half of what the search took, and more while that pays]",
                |witness| text_of(witness.shorten_budget.as_ref()),
                |witness, text| {
                    parse(text, values::count).map(|number| witness.shorten_budget = Some(number))
                },
            )
        },
        switch(
            "no-witness",
            "Report only whether there is a witness; random walks then need constant memory",
            |witness| is_on(!witness.keep),
            |witness, _| {
                witness.keep = false;
                Ok(())
            },
        ),
    ];
}
