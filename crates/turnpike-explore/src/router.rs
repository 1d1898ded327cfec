//! What the page can ask: addresses, and what they answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use axum::response::sse::{KeepAlive, Sse};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use serde::Deserialize;
use serde_json::{Value, json};
use turnpike_lts::trace::{self, Drawing};
use turnpike_model::{Delay, Model, Trace, hash};
use turnpike_session::{Pattern, Request, Session, Simulation, Visit, names_formula_files, strategy};

use crate::assets;
use crate::automata;
use crate::details::{Details, complete_trace, describe};
use crate::graph::{self, Asked, Graph};
use crate::guard::{self, Guard};
use crate::refusal::Refusal;
use crate::searches::Searches;
use crate::stepper::{PageNumber, Stepper};

/// Bytes of a request's body at most.
const LARGEST_BODY: usize = 64 << 10;
/// Steps of one random walk at most.
const LONGEST_WALK: u32 = 10_000;

/// What is served.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) session: Arc<Session>,
    /// The system with states as people should see them.
    pub(crate) model: Arc<dyn Model>,
    /// The system whose state space is drawn, where that is another one.
    pub(crate) drawn: Option<Arc<dyn Model>>,
    pub(crate) stepper: Stepper,
    /// Files of formulas that the page may name: those beside the model when it was opened.
    pub(crate) formula_files: Arc<[String]>,
    pub(crate) searches: Searches,
    /// Set when the page asks to end.
    pub(crate) ended: Arc<AtomicBool>,
}

type Answer<T> = Result<T, Refusal>;

/// All addresses.
pub(crate) fn router(served: Served, guard: Guard) -> Router {
    Router::new()
        .route("/", get(assets::page))
        .route("/page/{file}", get(assets::file))
        .route("/charts.css", get(assets::chart_style))
        .route("/api/model", get(model))
        .route("/api/visit/{visit}", get(visit))
        .route("/api/visit/{visit}/step", post(step))
        .route("/api/visit/{visit}/walk", post(walk))
        .route("/api/visit/{visit}/follow", post(follow))
        .route("/api/visit/{visit}/trace", get(whole_trace))
        .route("/api/visit/{visit}/place", get(place))
        .route("/api/visit/{visit}/chart/{kind}", get(chart))
        .route("/api/command", post(command))
        .route("/api/search", get(search))
        .route("/api/search/{search}/stop", post(stop_search))
        .route("/api/graph", post(draw_graph))
        .route("/api/end", post(end))
        .fallback(async || Refusal::unknown("there is nothing at this address"))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .with_state(served)
}

/// What does not change: names, strategies, where the page begins.
async fn model(State(served): State<Served>) -> Json<Value> {
    let info = served.model.info();
    let names = served.model.vocabulary().map_or_else(
        || info.actions.iter().map(String::as_str).collect::<Vec<_>>(),
        |vocabulary| vocabulary.names(),
    );
    let strategies = strategy::STRATEGIES.iter().map(|strategy| {
        let option = |option: &strategy::OptionInfo| {
            json!({
                "name": option.name,
                "switch": option.value == strategy::ValueKind::Switch,
                "default": option.default,
                "doc": option.doc,
            })
        };
        json!({
            "name": strategy.name,
            "summary": strategy.summary,
            "guarantee": strategy.guarantee,
            "programs_only": strategy.programs_only,
            "options": strategy.options.iter().map(option).collect::<Vec<_>>(),
        })
    });
    Json(json!({
        "name": served.session.name(),
        "title": info.name,
        "program": served.session.is_program(),
        "timed": served.model.timing().is_some(),
        "parameters": info.parameters,
        "actions": names,
        "measures": info.measures.iter().map(|measure| &measure.name).collect::<Vec<_>>(),
        "suggestions": info.suggestions,
        "locations": served.session.timed().map(|timed| timed.location_names()).unwrap_or_default(),
        "automata": automata::names(&*served.model),
        "formulas": (!served.session.is_program()).then(|| served.formula_files.to_vec()),
        "queries": served.session.timed().and_then(|timed| Some(timed.queries().ok()?.len())),
        "strategies": strategies.collect::<Vec<_>>(),
        "start": served.stepper.beginning().0,
    }))
}

#[derive(Deserialize)]
struct Listing {
    /// Labels to list.
    label: Option<String>,
}

/// Which page asks: each has its own tree of visited states.
#[derive(Deserialize)]
struct Asker {
    #[serde(default)]
    page: PageNumber,
}

async fn visit(
    State(served): State<Served>,
    Path(number): Path<u32>,
    Query(Asker { page }): Query<Asker>,
    Query(listing): Query<Listing>,
) -> Answer<Json<Details>> {
    served.details(page, number, listing.label, |_, visit| Ok(visit)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    choice: u32,
    /// How long to wait before it, for models with time.
    #[serde(default)]
    delay: Option<String>,
}

async fn step(
    State(served): State<Served>,
    Path(number): Path<u32>,
    Query(Asker { page }): Query<Asker>,
    Json(Step { choice, delay }): Json<Step>,
) -> Answer<Json<Details>> {
    let delay: Option<Delay> = delay.map(|text| text.parse()).transpose()?;
    let take = move |simulation: &mut Simulation<'_>, visit| {
        let next = simulation.step_after(visit, choice, delay)?;
        next.ok_or_else(|| Refusal::wrong(format!("state {number} has no transition {choice}")))
    };
    served.details(page, number, None, take).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Walk {
    steps: u32,
    seed: u64,
}

/// Takes random steps, fewer where a state has none.
async fn walk(
    State(served): State<Served>,
    Path(number): Path<u32>,
    Query(Asker { page }): Query<Asker>,
    Json(Walk { steps, seed }): Json<Walk>,
) -> Answer<Json<Details>> {
    if steps > LONGEST_WALK {
        return Err(Refusal::wrong(format!("a walk has at most {LONGEST_WALK} steps")));
    }
    let take = move |simulation: &mut Simulation<'_>, mut visit: Visit| {
        for drawn in 0..steps {
            let enabled = simulation.enabled_count(visit)? as u128;
            let draw = u128::from(hash::mix(seed, u64::from(drawn)));
            match simulation.step(visit, ((draw * enabled) >> 64) as u32)? {
                Some(next) => visit = next,
                None => break,
            }
        }
        Ok(visit)
    };
    served.details(page, number, None, take).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Follow {
    choices: Vec<u32>,
    /// Whether they are those of the state space that is drawn.
    #[serde(default)]
    drawn: bool,
}

async fn follow(
    State(served): State<Served>,
    Path(number): Path<u32>,
    Query(Asker { page }): Query<Asker>,
    Json(Follow { choices, drawn }): Json<Follow>,
) -> Answer<Json<Details>> {
    if let Some(model) = served.drawn.clone().filter(|_| drawn) {
        let trace = tokio::task::spawn_blocking(move || graph::trace_to(&*model, &choices));
        let trace = trace.await.map_err(|_| Refusal::broken())??;
        let visit = served.stepper.follow(page, trace).await?;
        return served.details(page, visit.0, None, |_, visit| Ok(visit)).await;
    }
    let take = move |simulation: &mut Simulation<'_>, visit| {
        let (visit, outcome) = simulation.follow(visit, &choices);
        outcome?;
        Ok(visit)
    };
    served.details(page, number, None, take).await
}

/// Which node of the picture of the state space a state belongs to.
async fn place(
    State(served): State<Served>,
    Path(number): Path<u32>,
    Query(Asker { page }): Query<Asker>,
) -> Answer<Json<Value>> {
    let hash = match served.drawn.clone() {
        None => {
            let hash = |simulation: &mut Simulation<'_>, visit| Ok(Some(simulation.content_hash(visit)));
            served.stepper.ask_about(page, number, hash).await?
        }
        Some(model) => {
            let trace = |simulation: &mut Simulation<'_>, visit| Ok(simulation.trace(visit));
            let trace = served.stepper.ask_about(page, number, trace).await?;
            let hash = tokio::task::spawn_blocking(move || graph::hash_at(&*model, &trace));
            hash.await.map_err(|_| Refusal::broken())??
        }
    };
    Ok(Json(json!({ "hash": hash.map(|hash| format!("{hash:016x}")) })))
}

/// The way to a state as a trace file.
async fn whole_trace(
    State(served): State<Served>,
    Path(number): Path<u32>,
    Query(Asker { page }): Query<Asker>,
) -> Answer<impl IntoResponse> {
    let mut trace = served.trace(page, number).await?;
    // So that the file alone is enough to replay it; what cannot be written down is only not remembered.
    trace.source = serde_json::to_string(served.session.source()).unwrap_or_default();
    let mut text = Vec::new();
    trace.write_json(&mut text)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text))
}

#[derive(Deserialize)]
struct Wanted {
    /// For timelines the values to show, and for automata which ones; as a list in JSON.
    names: Option<String>,
    /// How wide the place for it is.
    width: Option<u32>,
    /// With its own style, for a file.
    #[serde(default)]
    file: bool,
    /// For lassos: the state that the last step returns to.
    #[serde(rename = "loop")]
    loop_start: Option<usize>,
}

/// A picture of the way to a state.
async fn chart(
    State(served): State<Served>,
    Path((number, kind)): Path<(u32, String)>,
    Query(Asker { page }): Query<Asker>,
    Query(wanted): Query<Wanted>,
) -> Answer<impl IntoResponse> {
    let names: Vec<String> = match &wanted.names {
        Some(names) => serde_json::from_str(names).map_err(|_| Refusal::wrong("names are a list"))?,
        None => Vec::new(),
    };
    let picture = match kind.as_str() {
        "automata" => {
            let draw = move |simulation: &mut Simulation<'_>, visit| {
                automata::draw(simulation, visit, &names, wanted.width)
            };
            served.stepper.ask_about(page, number, draw).await?
        }
        _ => served.trace_chart(page, number, &kind, &names, &wanted).await?,
    };
    let picture = if wanted.file { picture.file() } else { picture.element() };
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], picture))
}

/// Options by name, as a form gives them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    options: Vec<(String, String)>,
}

/// The command line that does the same as a form, or what is wrong with the form: it is asked while
/// people type.
async fn command(State(served): State<Served>, Json(form): Json<Form>) -> Json<Value> {
    Json(match served.request(&form) {
        Ok(request) => json!({ "command": request.command_line() }),
        Err(refusal) => json!({ "problem": refusal.to_string() }),
    })
}

#[derive(Deserialize)]
struct Asking {
    /// A form, as JSON.
    form: String,
}

/// Searches. Events are sent as they happen; closing the stream stops the search.
async fn search(
    State(served): State<Served>,
    Query(Asker { page }): Query<Asker>,
    Query(asking): Query<Asking>,
) -> Answer<impl IntoResponse> {
    let form: Form = serde_json::from_str(&asking.form)
        .map_err(|error| Refusal::wrong(format!("no such form: {error}")))?;
    let request = served.request(&form)?;
    let events = served.searches.begin(Arc::clone(&served.session), request, served.stepper.clone(), page)?;
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// Stops a search, which then gives the report that it has.
async fn stop_search(State(served): State<Served>, Path(number): Path<u64>) -> Answer<Json<Value>> {
    served.searches.stop(number)?;
    Ok(Json(json!({ "stopped": number })))
}

async fn draw_graph(State(served): State<Served>, Json(asked): Json<Asked>) -> Answer<Json<Graph>> {
    let work = tokio::task::spawn_blocking(move || {
        graph::draw(served.drawn.as_ref().unwrap_or(&served.model), &asked)
    });
    work.await.map_err(|_| Refusal::broken())?.map(Json)
}

async fn end(State(served): State<Served>) -> Json<Value> {
    served.ended.store(true, Ordering::Relaxed);
    Json(json!({ "ended": true }))
}

/// Options that a page may give: none of them makes the server open a file. Options of the built-in
/// strategies are numbers and words, and may be given too.
const WITHOUT_FILES: [&str; 22] = [
    "find",
    "query",
    "formula",
    "non-zeno",
    "all",
    "lookahead",
    "accept",
    "tau",
    "allow-unknown",
    "strategy",
    "max-states",
    "max-depth",
    "max-executions",
    "max-time",
    "max-memory",
    "runs",
    "threads",
    "store",
    "bitstate-size",
    "seed",
    "no-shorten",
    "shorten-budget",
];

/// A page reads nothing but the model that it was started with, and the formulas beside it.
fn refuse_files(name: &str, value: &str, known: &[String]) -> Answer<()> {
    let of_strategy =
        || strategy::STRATEGIES.iter().flat_map(|one| one.options).any(|option| option.name == name);
    if !WITHOUT_FILES.contains(&name) && !of_strategy() {
        return Err(Refusal::wrong(format!("the option `{name}` cannot be given on the page")));
    }
    if name == "formula" && names_formula_files(value) && !known.iter().any(|file| file == value) {
        return Err(Refusal::wrong("the page reads no other files: write the formula itself"));
    }
    Ok(())
}

impl Served {
    /// Goes somewhere from a visited state, and describes where that is.
    async fn details(
        &self,
        page: PageNumber,
        number: u32,
        label: Option<String>,
        go: impl FnOnce(&mut Simulation<'_>, Visit) -> Result<Visit, Refusal> + Send + 'static,
    ) -> Answer<Json<Details>> {
        let (program, session) = (self.stepper.program().cloned(), Arc::clone(&self.session));
        let pattern = label.filter(|label| !label.is_empty()).map(|label| Pattern::new(&label));
        let describe = move |simulation: &mut Simulation<'_>, visit| {
            let visit = go(simulation, visit)?;
            let text = session.specification().map(|specification| specification.text.as_str());
            describe(simulation, visit, pattern.as_ref(), program.as_ref(), text)
        };
        self.stepper.ask_about(page, number, describe).await.map(Json)
    }

    async fn trace(&self, page: PageNumber, number: u32) -> Answer<Trace> {
        let program = self.stepper.program().cloned();
        let trace =
            move |simulation: &mut Simulation<'_>, visit| complete_trace(simulation, visit, program.as_ref());
        self.stepper.ask_about(page, number, trace).await
    }

    /// A picture that a trace is enough for.
    async fn trace_chart(
        &self,
        page: PageNumber,
        number: u32,
        kind: &str,
        names: &[String],
        wanted: &Wanted,
    ) -> Answer<Drawing> {
        let mut trace = self.trace(page, number).await?;
        trace.loop_start = wanted.loop_start.filter(|&start| start < trace.len());
        Ok(match kind {
            "sequence" => trace::sequence_chart(&trace, wanted.width),
            "gantt" => trace::gantt_chart(&trace, wanted.width)?,
            "timeline" if self.session.is_program() => {
                trace::timeline_chart(&trace::with_objects(&trace), names, wanted.width)?
            }
            "timeline" => trace::timeline_chart(&trace, names, wanted.width)?,
            "why-stuck" => trace::wait_chart(&trace)?,
            _ => return Err(Refusal::unknown(format!("there is no chart `{kind}`"))),
        })
    }

    /// The request that a form makes.
    fn request(&self, form: &Form) -> Answer<Request> {
        let mut request = Request::new(self.session.source().clone());
        for (name, value) in &form.options {
            // How the model is read was decided when it was.
            let of_search = Request::new(request.source.clone());
            request.set(name, value)?;
            if request.source != of_search.source {
                return Err(Refusal::wrong(format!(
                    "`{name}` says how the model is read: start turnpike again"
                )));
            }
            refuse_files(name, value, &self.formula_files)?;
        }
        request.search.check()?;
        Ok(request)
    }
}
