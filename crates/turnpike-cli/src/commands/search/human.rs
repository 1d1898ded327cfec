//! The readable report of a search: the verdict with its scope first, the command that repeats it last.

use indexmap::IndexMap;
use turnpike_lts::trace::stuck_lines;
use turnpike_model::ViolationKind;
use turnpike_session::values::write_seed;
use turnpike_session::{
    ExecutionCounts, Explanation, Goal, Objective, RunReport, StopReason, Verdict, WitnessReport,
};
use turnpike_session::{Findings, Scope, Search, Source, Spread, Summary};

use super::json;
use crate::options::spell_all;
use crate::output::repeat::Invocation;
use crate::output::{self, bytes, grouped};
use crate::steps::{self, StepView};

/// What is printed about a search.
pub(crate) struct Context<'a> {
    findings: &'a Findings,
    seed: u64,
    /// Whether a number of runs was given, even if it is one.
    many: bool,
    /// Whether witnesses were asked for.
    witness: bool,
    files: &'a [String],
    /// The command line; a query among others has none of its own.
    invocation: Option<&'a Invocation>,
    /// The file that was asked for although there is no witness to write.
    pub(crate) unwritten: Option<String>,
    /// Whether everything is shown: all steps, all counts, stacks with the frames of libraries.
    pub(crate) verbose: bool,
    /// How zones were abstracted.
    pub(crate) zones: Option<String>,
}

impl<'a> Context<'a> {
    /// A search on its own.
    pub(crate) fn new(findings: &'a Findings, invocation: &'a Invocation, files: &'a [String]) -> Self {
        let context = Context::of_query(findings, &invocation.request.search, files);
        Context { invocation: Some(invocation), ..context }
    }

    /// The search that answers a query.
    pub(crate) fn of_query(findings: &'a Findings, search: &Search, files: &'a [String]) -> Self {
        Context {
            findings,
            seed: search.running.seed,
            many: search.running.runs.is_some(),
            witness: search.witness.keep,
            files,
            invocation: None,
            unwritten: None,
            verbose: false,
            zones: None,
        }
    }
}

/// Lines of a witness that are shown; longer ones lose their middle.
const WITNESS_LINES: usize = 60;
/// Actions that are counted on a terminal.
const ACTIONS: usize = 8;

/// Covered labels that are listed.
const COVERED: usize = 40;

/// The line that says it all.
pub(crate) fn verdict(context: &Context<'_>) -> String {
    if context.many { verdict_of_many(context) } else { verdict_of_one(context) }
}

fn verdict_of_one(context: &Context<'_>) -> String {
    let Some(run) = context.findings.runs.first() else {
        return "inconclusive: interrupted before anything was searched".to_owned();
    };
    // States may be expanded more than once: a covered space is described by its size, others by the work.
    let complete = run.stop == StopReason::Exhausted && context.findings.exact;
    let size = if complete { run.considered.unwrap_or(run.states) } else { run.states };
    let in_states = format!("in {}", counted(size, "state"));
    let scope = scope(run, context);
    match run.verdict {
        Verdict::Found => format!("found: {}", found(run, context)),
        Verdict::None => format!("none: {} {in_states} ({scope})", nothing(context)),
        Verdict::Measured => format!("measured: {} {in_states} ({scope})", measured(&context.findings.runs)),
        Verdict::Inconclusive => format!("inconclusive: {} {in_states} ({scope})", nothing(context)),
    }
}

fn verdict_of_many(context: &Context<'_>) -> String {
    let summary = Summary::of(&context.findings.runs);
    let runs = counted(summary.runs as u64, "run");
    match context.findings.verdict {
        Verdict::Found => {
            let share = summary.success_rate() * 100.0;
            let shortest = summary
                .best
                .map(|(_, _, witness)| format!(", shortest {}", steps_of(witness)))
                .unwrap_or_default();
            let found = grouped(summary.found as u64);
            format!("found: {} in {found} of {runs} ({share:.0}%){shortest}", sought(context))
        }
        Verdict::None if context.findings.scope.is_some() => {
            format!("none: {} (synchronisation only, all of it in one of {runs})", nothing(context))
        }
        Verdict::None => format!("none: {} (complete in one of {runs})", nothing(context)),
        Verdict::Measured => format!("measured: {} in {runs}", measured(&context.findings.runs)),
        Verdict::Inconclusive => format!("inconclusive: {} in {runs}", nothing(context)),
    }
}

/// How much a verdict without a trace proves.
fn scope(run: &RunReport, context: &Context<'_>) -> String {
    match doubt(run, context) {
        Some(doubt) => format!("nothing more to try, but {doubt}"),
        None if is_within_bound(run, context) && context.findings.scope.is_some() => {
            "synchronisation only, all of it within the bound".to_owned()
        }
        None if is_within_bound(run, context) => "complete within the bound".to_owned(),
        None if run.stop == StopReason::Exhausted && context.findings.scope.is_some() => {
            "synchronisation only".to_owned()
        }
        None if run.stop == StopReason::Exhausted => "complete".to_owned(),
        None => match (&context.findings.left_out, run.stop) {
            (Some(left_out), StopReason::Finished) => {
                format!("stopped: {}: {left_out}", run.stop.describe())
            }
            (_, stop) => format!("stopped: {}", stop.describe()),
        },
    }
}

/// Whether everything within a bound on schedules was covered.
fn is_within_bound(run: &RunReport, context: &Context<'_>) -> bool {
    run.stop == StopReason::Exhausted && context.findings.exact && context.findings.bound.is_some()
}

/// Why nothing is proved, although nothing was left to try.
fn doubt(run: &RunReport, context: &Context<'_>) -> Option<String> {
    let findings = context.findings;
    match (run.stop, run.verdict) {
        (StopReason::Exhausted, _) if !findings.exact => {
            Some("the lossy store may have taken new states for old ones".to_owned())
        }
        (StopReason::Exhausted, Verdict::Inconclusive) if !is_within_bound(run, context) => {
            let cut = || "a check was too large and was cut short".to_owned();
            Some(findings.left_out.clone().unwrap_or_else(cut))
        }
        _ => None,
    }
}

/// `deadlock in 10 steps`, for every objective met; and what was not met under `--all`.
fn found(run: &RunReport, context: &Context<'_>) -> String {
    let single;
    let witnesses: &[WitnessReport] = match (&run.witness, run.witnesses.is_empty()) {
        (_, false) => &run.witnesses,
        (Some(witness), true) => {
            single = [witness.clone()];
            &single
        }
        (None, true) => return sought(context),
    };
    let told = |witness: &WitnessReport| match context.findings.incident(witness) {
        // An execution with a race or a leak that was looked for may fail besides.
        Some(incident)
            if is_error(&witness.objective)
                && (!is_remark(&witness.objective) || incident.kind.keyword() == witness.objective) =>
        {
            format!("{} ({})", incident.headline(), steps_of(witness))
        }
        _ => format!("{} {}", witness.objective, steps_of(witness)),
    };
    let mut text = witnesses.iter().map(told).collect::<Vec<_>>().join("; ");
    if !run.witnesses.is_empty() {
        let met = |objective: &str| run.witnesses.iter().any(|witness| witness.objective == objective);
        for objective in goals(context).filter(|objective| !met(objective)) {
            text.push_str(&format!("; no {objective}"));
        }
    }
    text
}

/// Whether what meets an objective is an error, which has a name of its own.
fn is_error(objective: &str) -> bool {
    let goal = objective.parse::<Objective>();
    !goal.is_ok_and(|objective| {
        matches!(objective.goal(), Goal::Action(_) | Goal::Label(_) | Goal::State(_) | Goal::Nondeterminism)
    })
}

/// Whether an execution that shows the objective need not fail.
fn is_remark(objective: &str) -> bool {
    let goal = objective.parse::<Objective>();
    goal.is_ok_and(|goal| matches!(goal.goal(), Goal::Violation(ViolationKind::Race | ViolationKind::Leak)))
}

/// `in 10 steps`, with its loop if it has one.
fn steps_of(witness: &WitnessReport) -> String {
    let text = format!("in {}", counted(witness.length as u64, "step"));
    match witness.loop_start {
        Some(start) => format!("{text}, the last {} repeated forever", witness.length.saturating_sub(start)),
        None => text,
    }
}

/// The objectives that could have been met.
fn sought(context: &Context<'_>) -> String {
    let texts: Vec<&str> = goals(context).collect();
    texts.join(" or ")
}

fn nothing(context: &Context<'_>) -> String {
    let mut nothing = goals(context).map(absent).collect::<Vec<_>>().join(", ");
    match super::program::suppressed(context.findings).count() {
        0 => {}
        1 => nothing.push_str(" but 1 suppressed"),
        several => nothing.push_str(&format!(" but {several} suppressed")),
    }
    match &context.findings.bound {
        Some(bound) => format!("{nothing} within {bound}"),
        None => nothing,
    }
}

/// Says that an objective was not met.
fn absent(objective: &str) -> String {
    match objective {
        "any-error" => "no error found".to_owned(),
        _ => format!("no {objective}"),
    }
}

fn goals<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a str> {
    context.findings.objectives.iter().filter(|objective| !objective.is_measure()).map(Objective::text)
}

/// What was measured: extremes, and how many labels were covered.
fn measured(runs: &[RunReport]) -> String {
    let extremes = json::merged_extremes(runs).into_iter().map(|(text, value)| match value {
        Some(_) => format!("{text} = {}", json::number(value)),
        None => format!("{text}: no value seen"),
    });
    let covered = json::merged_cover(runs)
        .into_iter()
        .map(|(pattern, labels)| format!("{} of cover {pattern}", counted(labels.len() as u64, "label")));
    extremes.chain(covered).collect::<Vec<_>>().join("; ")
}

/// Everything below the verdict, line by line.
pub(crate) fn details(context: &Context<'_>) -> Vec<String> {
    let mut out = runs(context);
    if context.findings.verdict != Verdict::Measured
        && context.findings.runs.iter().any(|run| !run.extreme.is_empty())
    {
        out.push(format!("measured: {}", measured(&context.findings.runs)));
    }
    let (runs, most) = (&context.findings.runs, if context.verbose { usize::MAX } else { COVERED });
    cover(&json::merged_cover(runs), runs.len(), most, &mut out);
    let most = if context.verbose { usize::MAX } else { ACTIONS };
    some_actions(&json::merged_actions(runs), &json::never_taken(runs), most, &mut out);
    if context.verbose {
        out.extend(context.zones.clone());
    }
    out.extend(context.findings.scope.map(about_scope));
    // The line about why a run stopped may say it already.
    let is_said = |run: &RunReport| doubt(run, context) == context.findings.left_out;
    if let Some(left_out) = context.findings.left_out.as_ref().filter(|_| !runs.iter().any(is_said)) {
        out.push(format!("left out: {left_out}"));
    }
    out.extend(context.findings.advice.iter().map(|advice| format!("advice: {}", spell_all(advice))));
    out.extend(about_suppressed(context));
    for file in context.files {
        out.push(format!("wrote: {file}"));
    }
    if let Some(file) = &context.unwritten {
        out.push(format!("not written: {file} (there is no witness)"));
    }
    out.extend(context.invocation.map(|invocation| format!("repeat: {}", invocation.exactly())));
    out
}

/// What `--suppress` passed over, and what it names in vain.
fn about_suppressed(context: &Context<'_>) -> Vec<String> {
    let met = json::merged_signatures(&context.findings.runs);
    let times = |signature: &str| match met.iter().find(|one| one.suppressed && one.signature == signature) {
        Some(one) => format!("in {}", counted(one.met, "execution")),
        None => "met".to_owned(),
    };
    let suppressed = context.findings.suppressed.iter();
    let line = |(signature, met): &(String, bool)| match met {
        true => format!("suppressed: {signature} ({})", times(signature)),
        false => format!("suppressed: {signature} (not met)"),
    };
    suppressed.map(line).collect()
}

/// How zones of timed automata were abstracted. Witnesses show exact ones.
pub(crate) fn about_zones(source: &Source) -> Option<String> {
    let Source::Model { reading, .. } = source else { return None };
    let how = match reading.timed_automata.extrapolation {
        Some(how) => format!("extrapolated as requested ({})", turnpike_session::Choice::word(how)),
        None => "extrapolated as coarsely as is exact for the question".to_owned(),
    };
    let covered = if reading.leaves_out_covered() { "left out" } else { "kept" };
    Some(format!("zones: {how}, covered ones {covered}; the witness shows exact ones"))
}

/// What was searched, and how to search more.
pub(crate) fn about_scope(scope: Scope) -> String {
    match scope {
        Scope::Synchronisation { by_request: false } => {
            "scope: synchronisation only; to see memory accesses, compile and link with -fsanitize=thread"
        }
        Scope::Synchronisation { by_request: true } => {
            "scope: synchronisation only; to see memory accesses, leave out --visible sync"
        }
        _ => "scope: a part of what the program does",
    }
    .to_owned()
}

/// The runs with their counts and witnesses.
pub(crate) fn runs(context: &Context<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if context.many {
        many_runs(context, &mut out);
    } else if let Some(run) = context.findings.runs.first() {
        one_run(run, context, &mut out);
    }
    out.extend(context.findings.zeno.map(|zeno| format!("time: {}", spell_all(zeno.about()))));
    out
}

fn one_run(run: &RunReport, context: &Context<'_>, out: &mut Vec<String>) {
    out.push(format!(
        "searched: {} with {}, seed {}",
        context.findings.model,
        context.findings.strategy,
        write_seed(context.seed)
    ));
    out.push(format!("stopped: {}", stop(run, context)));
    out.push(format!(
        "counted: {}, {}, in {:.2} s and {}",
        states(run),
        counted(run.transitions, "transition"),
        run.seconds,
        bytes(run.peak_bytes)
    ));
    out.extend(run.executions.as_ref().map(executed));
    if let Some(odds) = &run.odds {
        out.push(format!("lossy store: {odds}"));
    }
    if let (Some(first), Some(last)) = (run.generations.first(), run.generations.last()) {
        out.push(format!(
            "fitness: initially best {:.5} and average {:.5}, {:.5} and {:.5} after {}",
            first.best,
            first.average,
            last.best,
            last.average,
            counted(run.generations.len() as u64, "generation")
        ));
    }
    let witnesses = if run.witnesses.is_empty() { run.witness.as_slice() } else { &run.witnesses };
    for witness in witnesses {
        show_witness(witness, run.shorten_states, context, out);
    }
    if run.verdict == Verdict::Found && !context.witness {
        out.push("no witness was kept (--no-witness)".to_owned());
    }
}

/// Why it stopped. What makes a search inconclusive that left nothing to try belongs to it.
fn stop(run: &RunReport, context: &Context<'_>) -> String {
    match doubt(run, context) {
        Some(doubt) => format!("nothing was left to try; this proves nothing because {doubt}"),
        None if is_within_bound(run, context) => {
            let bound = context.findings.bound.as_deref().unwrap_or_default();
            format!("every schedule within {bound} was tried, none beyond")
        }
        None if run.stop == StopReason::Exhausted && context.findings.scope.is_some() => {
            "every order of the visible operations was tried".to_owned()
        }
        None => run.stop.describe().to_owned(),
    }
}

/// `12 states expanded of 30 met, depth 5`.
fn states(run: &RunReport) -> String {
    let mut text = match run.considered {
        // Members of a portfolio expand the same states, and so do searches that begin again.
        Some(considered) if considered < run.states => {
            format!("{} of {}", counted(run.states, "expansion"), counted(considered, "state"))
        }
        Some(considered) => {
            format!("{} expanded, {} considered", counted(run.states, "state"), grouped(considered))
        }
        None => format!("{} expanded", counted(run.states, "state")),
    };
    if let Some(generated) = run.generated {
        text.push_str(&format!(", {} generated", grouped(generated)));
    }
    if let Some(stored) = run.stored {
        text.push_str(&format!(", {} stored", grouped(stored)));
    }
    text.push_str(&format!(", depth {}", grouped(u64::from(run.depth))));
    text
}

/// `executed: 120 times, 3 of them cut at the limit on steps; 41% of the steps led to new states`.
fn executed(counts: &ExecutionCounts) -> String {
    let mut text = format!("executed: {}", counted(counts.executions, "time"));
    if counts.blocked > 0 {
        text.push_str(&format!(", {} pruned as redundant", grouped(counts.blocked)));
    }
    if counts.cut > 0 {
        text.push_str(&format!(", {} cut at the limit on steps", grouped(counts.cut)));
    }
    if let Some(distinct) = counts.distinct {
        text.push_str(&format!("; {:.0}% of the steps led to new states", distinct * 100.0));
    }
    text
}

/// `the failure needs step 2, lock(..), before step 5, unlock(..)`.
fn explained(explanation: &Explanation) -> String {
    let Explanation { first, first_label, second, second_label, tried } = explanation;
    let second = match second {
        Some(number) => format!("step {}, {second_label}", number + 1),
        None => format!("{second_label}, which waits"),
    };
    let times = counted(*tried, "execution");
    format!(
        "the failure needs step {}, {first_label}, before {second}; it vanished in {times} with the two reversed",
        first + 1
    )
}

fn many_runs(context: &Context<'_>, out: &mut Vec<String>) {
    let summary = Summary::of(&context.findings.runs);
    let peak = context.findings.runs.iter().map(|run| run.peak_bytes).max().unwrap_or(0);
    out.push(format!(
        "searched: {} with {}, seed {}",
        context.findings.model,
        context.findings.strategy,
        write_seed(context.seed)
    ));
    let why = |reason: StopReason| {
        let run = context.findings.runs.iter().find(|run| run.stop == reason);
        run.map_or_else(|| reason.describe().to_owned(), |run| stop(run, context))
    };
    let stops = summary
        .stops
        .iter()
        .map(|&(reason, count)| format!("{} because {}", grouped(count as u64), why(reason)));
    let mut stopped = stops.collect::<Vec<_>>().join("; ");
    if (summary.runs as u64) < context.findings.runs_asked {
        stopped.push_str(&format!(
            "; interrupted after {} of {}",
            grouped(summary.runs as u64),
            counted(context.findings.runs_asked, "run")
        ));
    }
    out.push(format!("stopped: {}", stopped.trim_start_matches("; ")));
    out.push(format!("counted: in {:.2} s and {}", context.findings.seconds, bytes(peak)));
    out.push(String::new());
    out.push(format!("  {:8}{:>14}{:>14}{:>16}{:>14}", "", "smallest", "median", "mean", "largest"));
    for (name, spread) in [("states", summary.states), ("length", summary.length)] {
        if let Some(Spread { min, median, mean, max }) = spread {
            let (min, max) = (grouped(min), grouped(max));
            out.push(format!("  {name:8}{min:>14}{:>14}{:>16}{max:>14}", half(median), tenths(mean)));
        }
    }
    out.push(String::new());
    if let Some((number, run, witness)) = summary.best {
        let alone = context.invocation.map(|invocation| format!("; alone: {}", invocation.one_run(run.seed)));
        out.push(format!("shortest: run {number} (the first is 0){}", alone.unwrap_or_default()));
        let program = context.findings.program.is_some();
        if context.invocation.is_some_and(|one| !program && is_shortened_less(&one.request.search)) {
            out.push("a search without --runs takes more time to shorten its witness".to_owned());
        }
        show_witness(witness, run.shorten_states, context, out);
    }
    if let Some(odds) = context.findings.runs.iter().find_map(|run| run.odds.as_ref()) {
        out.push(format!("lossy store, first run: {odds}"));
    }
}

/// Whether the witness of one run among many may be longer than that of the same search on its own.
/// Schedules of programs are shortened alike.
fn is_shortened_less(search: &Search) -> bool {
    search.witness.shorten && search.witness.shorten_budget.is_none()
}

/// A median: whole, or with a half.
fn half(median: f64) -> String {
    if median.fract() == 0.0 { grouped(median as u64) } else { format!("{}.5", grouped(median as u64)) }
}

/// A mean: thousands separated, one digit after the point.
fn tenths(mean: f64) -> String {
    let rounded = (mean * 10.0).round() as u64;
    format!("{}.{}", grouped(rounded / 10), rounded % 10)
}

fn show_witness(witness: &WitnessReport, shorten_states: u64, context: &Context<'_>, out: &mut Vec<String>) {
    let mut title = format!("witness: {} {}", witness.objective, steps_of(witness));
    if witness.original_length > witness.length {
        title.push_str(&format!(
            ", shortened from {} ({} expanded for it)",
            grouped(witness.original_length as u64),
            counted(shorten_states, "state")
        ));
    }
    title.push_str(match witness.shortest {
        Some(true) if witness.length > 0 => "; it is shortest",
        Some(false) => "; not known to be shortest",
        _ => "",
    });
    out.push(title);
    out.push(String::new());
    let notes = notes(context.findings, witness, context.verbose);
    if !notes.is_empty() {
        out.extend(notes);
        out.push(String::new());
        let replay = |file: &str| context.invocation.map(|invocation| invocation.replay(file));
        out.extend(match context.files.first() {
            Some(file) => replay(file).map(|command| format!("replay: {command}")),
            None => {
                replay("bug.json").map(|command| format!("replay: with --trace bug.json above, {command}"))
            }
        });
        return;
    }
    let lines =
        steps::lines(&witness.trace, &StepView { unfolded: context.verbose, ..StepView::for_output() });
    if context.verbose || lines.len() <= WITNESS_LINES {
        out.extend(lines);
    } else {
        let (head, tail) = (WITNESS_LINES / 2, lines.len() - WITNESS_LINES / 2);
        let hint = match context.files.first() {
            Some(file) => format!("`turnpike show {file}` prints all"),
            None => "save all with --trace FILE, print with `turnpike show FILE`".to_owned(),
        };
        out.extend_from_slice(&lines[..head]);
        out.push(format!("  ... {} more lines; {hint} ...", grouped((tail - head) as u64)));
        out.extend_from_slice(&lines[tail..]);
    }
    out.push(String::new());
    let reasons = stuck_lines(&witness.stuck);
    if !reasons.is_empty() {
        out.extend(reasons);
        out.push(String::new());
    }
}

/// What is said about the schedule of a program: what failed, who waits, a column for every thread, and
/// which order decides. Nothing for other models.
pub(crate) fn notes(findings: &Findings, witness: &WitnessReport, verbose: bool) -> Vec<String> {
    let Some(incident) = findings.incident(witness) else { return Vec::new() };
    let mut out = incident.report(output::width(), verbose);
    if let Some(schedule) = &witness.schedule {
        out.push(String::new());
        let met = json::merged_signatures(&findings.runs);
        for signature in &schedule.signatures {
            let times = met.iter().find(|one| one.signature == *signature && one.met > 1);
            let times = times.map(|one| format!(" (in {})", counted(one.met, "execution")));
            out.push(format!("signature: {signature}{}", times.unwrap_or_default()));
        }
        if schedule.original_context_switches > schedule.context_switches {
            out.push(format!(
                "context switches: {}, of {} before shortening ({} for it)",
                schedule.context_switches,
                schedule.original_context_switches,
                counted(schedule.executions, "execution")
            ));
        }
        out.extend(schedule.explanation.as_ref().map(explained));
    }
    let elsewhere = findings.program.iter().flat_map(|program| &program.elsewhere);
    out.extend(elsewhere.map(|elsewhere| elsewhere.sentence()));
    out
}

/// The labels that `cover` saw.
fn cover(covered: &IndexMap<String, IndexMap<String, u64>>, runs: usize, most: usize, out: &mut Vec<String>) {
    for (pattern, labels) in covered {
        out.push(format!("covered by {pattern}: {}", counted(labels.len() as u64, "label")));
        for (label, seen) in labels.iter().take(most) {
            let of = if runs > 1 { format!("  in {}", counted(*seen, "run")) } else { String::new() };
            out.push(format!("  {label}{of}"));
        }
        if labels.len() > most {
            out.push(format!("  ... and {} more (-v lists all)", labels.len() - most));
        }
    }
}

/// The busiest actions, and those never taken.
pub(crate) fn actions(counts: &IndexMap<String, u64>, never: &[String], out: &mut Vec<String>) {
    some_actions(counts, never, ACTIONS, out);
}

fn some_actions(counts: &IndexMap<String, u64>, never: &[String], most: usize, out: &mut Vec<String>) {
    let mut busiest: Vec<(&String, &u64)> = counts.iter().collect();
    busiest.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
    if !busiest.is_empty() {
        let told = busiest.iter().map(|(name, count)| format!("{name} {}", grouped(**count)));
        out.push(format!("actions: {}", some(told, busiest.len(), most)));
    }
    if !never.is_empty() {
        out.push(format!("never taken: {}", some(never.iter().cloned(), never.len(), most)));
    }
}

/// The first few, and how many more there are.
fn some(texts: impl Iterator<Item = String>, total: usize, most: usize) -> String {
    let mut text = texts.take(most).collect::<Vec<_>>().join(", ");
    if total > most {
        text.push_str(&format!(", and {} more", grouped((total - most) as u64)));
    }
    text
}

/// `1 state`, `1,000 states`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { plural })
}
