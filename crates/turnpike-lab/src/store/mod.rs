//! Results: one embedded database, in which no finished run is lost and none is made twice.
//!
//! The database also keeps each experiment as it was run last, so that results can be read without its
//! file, its models and its programs.
//!
//! A run is known by its cell and its number; a cell by everything that its runs depend on: the experiment, the model's
//! content, the flags, and the version of turnpike. Results are gathered and committed together, at most every
//! [`COMMIT_INTERVAL`]: a process that is killed loses at most the runs since then, and makes them again when it is started anew.

mod schema;

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, params};
use turnpike_model::Diagnostic;

/// Commits are at least this far apart while runs go on.
pub const COMMIT_INTERVAL: Duration = Duration::from_millis(200);

/// What the runs of a cell depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellKey {
    /// The experiment's name.
    pub experiment: String,
    /// The row's name.
    pub model: String,
    /// The column's name.
    pub strategy: String,
    /// All flags, as one text.
    pub flags: String,
    /// Hash of the model's text after all changes.
    pub content: u64,
    /// Where the model came from.
    pub source: String,
    /// It stands in for the paper's own.
    pub stand_in: bool,
    /// Of turnpike.
    pub version: String,
}

/// A cell of this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(i64);

/// What one run gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Which of the cell's runs, from 0.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// Whether it succeeded.
    pub found: bool,
    /// Why it stopped.
    pub stop: String,
    /// Expansions.
    pub states: u64,
    /// Distinct states met.
    pub considered: Option<u64>,
    /// States generated, by Deep Random Search.
    pub generated: Option<u64>,
    /// Most candidates held at once for a level.
    pub held: Option<u64>,
    /// Transitions of expanded states.
    pub transitions: u64,
    /// Transitions to the deepest expanded state.
    pub depth: u32,
    /// Length of the witness.
    pub length: Option<u64>,
    /// Its length before it was shortened.
    pub original_length: Option<u64>,
    /// Expansions spent on shortening. An expansion with very many transitions counts as several.
    pub shorten_states: u64,
    /// Executions of a program, by strategies that follow whole ones.
    pub executions: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Everything else, as a JSON object: extremes, labels covered, fitness by generation.
    pub extra: Option<String>,
}

/// The database.
pub struct Store {
    connection: Connection,
    /// Finished runs that are not in the database yet.
    pending: Vec<(CellId, Record)>,
    /// When the first of them came.
    pending_since: Option<Instant>,
}

impl Store {
    /// Opens the database, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Store, Diagnostic> {
        let failed = |error: rusqlite::Error| {
            Diagnostic::error(format!("cannot use the database {}: {error}", path.display()))
        };
        let connection = Connection::open(path).map_err(failed)?;
        // Another lab may be writing: wait for it rather than fail.
        connection.busy_timeout(Duration::from_secs(30)).map_err(failed)?;
        schema::prepare(&connection, path)?;
        // With a write-ahead log this is safe: what is committed is there after a kill.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        Ok(Store { connection, pending: Vec::new(), pending_since: None })
    }

    /// Keeps the text of an experiment, instead of what was kept under this name before.
    pub fn keep_experiment(&mut self, name: &str, text: &str) -> Result<(), Diagnostic> {
        let write = "INSERT INTO experiment (name, text) VALUES (?1, ?2) \
                     ON CONFLICT (name) DO UPDATE SET text = excluded.text";
        self.connection.execute(write, params![name, text]).map_err(broken)?;
        Ok(())
    }

    /// The text of an experiment as it was run last; `None` if it was run by a version of turnpike that did not keep it.
    pub fn experiment(&self, name: &str) -> Result<Option<String>, Diagnostic> {
        let find = "SELECT text FROM experiment WHERE name = ?1";
        self.connection.query_row(find, [name], |row| row.get(0)).optional().map_err(broken)
    }

    /// The cell with this key, made if there is none.
    pub fn cell(&mut self, key: &CellKey) -> Result<CellId, Diagnostic> {
        let find = "SELECT id FROM cell WHERE experiment = ?1 AND model = ?2 AND strategy = ?3 AND flags = ?4 \
                    AND content = ?5 AND version = ?6";
        let key_values =
            params![key.experiment, key.model, key.strategy, key.flags, key.content as i64, key.version];
        let found =
            self.connection.query_row(find, key_values, |row| row.get(0)).optional().map_err(broken)?;
        if let Some(id) = found {
            return Ok(CellId(id));
        }
        self.connection
            .execute(
                "INSERT OR IGNORE INTO cell (experiment, model, strategy, flags, content, version, source, stand_in) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    key.experiment,
                    key.model,
                    key.strategy,
                    key.flags,
                    key.content as i64,
                    key.version,
                    key.source,
                    key.stand_in
                ],
            )
            .map_err(broken)?;
        // Another lab may have made it meanwhile.
        let id = self.connection.query_row(find, key_values, |row| row.get(0)).map_err(broken)?;
        Ok(CellId(id))
    }

    /// Runs of a cell that are done, ascending.
    pub fn numbers(&self, cell: CellId) -> Result<Vec<u64>, Diagnostic> {
        let find = "SELECT number FROM run WHERE cell = ?1 ORDER BY number";
        let mut statement = self.connection.prepare_cached(find).map_err(broken)?;
        let numbers = statement.query_map([cell.0], |row| row.get::<_, i64>(0)).map_err(broken)?;
        numbers.map(|number| number.map(|number| number as u64)).collect::<Result<_, _>>().map_err(broken)
    }

    /// Adds a finished run; a run that is there already is left as it is. Committed together with others, within [`COMMIT_INTERVAL`] of
    /// the first of them when another one comes, or by [`Store::commit`].
    pub fn add(&mut self, cell: CellId, record: &Record) -> Result<(), Diagnostic> {
        self.pending.push((cell, record.clone()));
        let since = *self.pending_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= COMMIT_INTERVAL { self.commit() } else { Ok(()) }
    }

    /// Makes everything added so far permanent. The database is locked for others only while this takes.
    pub fn commit(&mut self) -> Result<(), Diagnostic> {
        self.pending_since = None;
        if self.pending.is_empty() {
            return Ok(());
        }
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(broken)?;
        let written =
            self.pending.iter().try_for_each(|(cell, record)| write(&self.connection, *cell, record));
        let end = if written.is_ok() { "COMMIT" } else { "ROLLBACK" };
        written.and(self.connection.execute_batch(end)).map_err(broken)?;
        self.pending.clear();
        Ok(())
    }

    /// All cells of an experiment that have runs, in the order in which they were made.
    pub fn cells(&self, experiment: &str) -> Result<Vec<(CellId, CellKey)>, Diagnostic> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, experiment, model, strategy, flags, content, source, stand_in, version FROM cell \
                 WHERE experiment = ?1 AND EXISTS (SELECT 1 FROM run WHERE run.cell = cell.id) ORDER BY id",
            )
            .map_err(broken)?;
        let rows = statement
            .query_map([experiment], |row| {
                let key = CellKey {
                    experiment: row.get(1)?,
                    model: row.get(2)?,
                    strategy: row.get(3)?,
                    flags: row.get(4)?,
                    content: row.get::<_, i64>(5)? as u64,
                    source: row.get(6)?,
                    stand_in: row.get(7)?,
                    version: row.get(8)?,
                };
                Ok((CellId(row.get(0)?), key))
            })
            .map_err(broken)?;
        rows.collect::<Result<_, _>>().map_err(broken)
    }

    /// The names of all experiments that were run, and their number of runs.
    pub fn experiments(&self) -> Result<Vec<(String, u64)>, Diagnostic> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT name, (SELECT count(*) FROM cell JOIN run ON run.cell = cell.id WHERE cell.experiment = name) \
                 FROM (SELECT name FROM experiment UNION \
                 SELECT experiment FROM cell WHERE EXISTS (SELECT 1 FROM run WHERE run.cell = cell.id)) ORDER BY name",
            )
            .map_err(broken)?;
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))).map_err(broken)?;
        rows.collect::<Result<_, _>>().map_err(broken)
    }

    /// All runs of a cell, by number.
    pub fn runs(&self, cell: CellId) -> Result<Vec<Record>, Diagnostic> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT number, seed, found, stop, states, considered, generated, held, transitions, depth, length, original_length, \
                 shorten_states, executions, seconds, extra FROM run WHERE cell = ?1 ORDER BY number",
            )
            .map_err(broken)?;
        let count = |value: Option<i64>| value.map(|count| count as u64);
        let rows = statement
            .query_map([cell.0], |row| {
                Ok(Record {
                    number: row.get::<_, i64>(0)? as u64,
                    seed: row.get::<_, i64>(1)? as u64,
                    found: row.get(2)?,
                    stop: row.get(3)?,
                    states: row.get::<_, i64>(4)? as u64,
                    considered: count(row.get(5)?),
                    generated: count(row.get(6)?),
                    held: count(row.get(7)?),
                    transitions: row.get::<_, i64>(8)? as u64,
                    depth: row.get(9)?,
                    length: count(row.get(10)?),
                    original_length: count(row.get(11)?),
                    shorten_states: row.get::<_, i64>(12)? as u64,
                    executions: count(row.get(13)?),
                    seconds: row.get(14)?,
                    extra: row.get(15)?,
                })
            })
            .map_err(broken)?;
        rows.collect::<Result<_, _>>().map_err(broken)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Nobody is left to tell: what cannot be committed is made again by the next lab.
        let _ = self.commit();
    }
}

fn write(connection: &Connection, cell: CellId, record: &Record) -> Result<(), rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "INSERT OR IGNORE INTO run (cell, number, seed, found, stop, states, considered, generated, held, transitions, depth, \
         length, original_length, shorten_states, executions, seconds, extra) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    let count = |value: Option<u64>| value.map(|count| count as i64);
    statement.execute(params![
        cell.0,
        record.number as i64,
        record.seed as i64,
        record.found,
        record.stop,
        record.states as i64,
        count(record.considered),
        count(record.generated),
        count(record.held),
        record.transitions as i64,
        record.depth,
        count(record.length),
        count(record.original_length),
        record.shorten_states as i64,
        count(record.executions),
        record.seconds,
        record.extra
    ])?;
    Ok(())
}

fn broken(error: rusqlite::Error) -> Diagnostic {
    Diagnostic::error(format!("the database of results: {error}"))
}

#[cfg(test)]
mod tests;
