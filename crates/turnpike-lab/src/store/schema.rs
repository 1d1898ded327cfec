//! The tables, and which version of them a file has.

use std::path::Path;

use rusqlite::Connection;
use turnpike_model::Diagnostic;

/// The version that this program reads and writes.
const VERSION: i64 = 2;

/// Marks the file as one of ours: `tplb`.
const APPLICATION: i64 = 0x7470_6c62;

/// Experiments as they were run last. Schema 1 did not have them.
const EXPERIMENTS: &str = "
CREATE TABLE experiment (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

const TABLES: &str = "
CREATE TABLE cell (
    id INTEGER PRIMARY KEY,
    experiment TEXT NOT NULL,
    model TEXT NOT NULL,
    strategy TEXT NOT NULL,
    flags TEXT NOT NULL,
    content INTEGER NOT NULL,
    version TEXT NOT NULL,
    source TEXT NOT NULL,
    stand_in INTEGER NOT NULL,
    UNIQUE (experiment, model, strategy, flags, content, version)
) STRICT;
CREATE TABLE run (
    cell INTEGER NOT NULL REFERENCES cell (id),
    number INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    found INTEGER NOT NULL,
    stop TEXT NOT NULL,
    states INTEGER NOT NULL,
    considered INTEGER,
    generated INTEGER,
    held INTEGER,
    transitions INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    length INTEGER,
    original_length INTEGER,
    shorten_states INTEGER NOT NULL,
    executions INTEGER,
    seconds REAL NOT NULL,
    extra TEXT,
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;
";

/// Creates the tables in a new file, and adds those that an older one lacks. Refuses files that are not
/// ours, or newer than we know.
pub(super) fn prepare(connection: &Connection, path: &Path) -> Result<(), Diagnostic> {
    let failed = |error: rusqlite::Error| {
        Diagnostic::error(format!("cannot use {} as a database of results: {error}", path.display()))
            .help("name another database file")
    };
    let number = |pragma: &str| {
        connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map_err(failed)
    };
    if (number("application_id")?, number("user_version")?) == (APPLICATION, VERSION) {
        return Ok(());
    }
    // Two labs may start on a new file at once: only one of them makes the tables.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let outcome = match (number("application_id")?, number("user_version")?) {
        (APPLICATION, VERSION) => Ok(()),
        (APPLICATION, 1) => migrate(connection).map_err(failed),
        (APPLICATION, newer) => Err(Diagnostic::error(format!(
            "{} was written by another version of turnpike (schema {newer}; this one knows {VERSION})",
            path.display()
        ))),
        _ => create(connection).map_err(failed).and_then(|created| {
            created.then_some(()).ok_or_else(|| {
                Diagnostic::error(format!("{} is a database, but not one of results", path.display()))
                    .help("name another database file")
            })
        }),
    };
    connection.execute_batch(if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" }).map_err(failed)?;
    outcome?;
    // Readers go on while a run is written, and a kill at any moment leaves a sound file. The file remembers it.
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)
}

/// Makes the tables, unless there are others.
fn create(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 {
        return Ok(false);
    }
    connection.execute_batch(TABLES)?;
    connection.execute_batch(EXPERIMENTS)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(true)
}

/// Brings a file of schema 1 up to date. Its experiments stay unknown until they are run again.
fn migrate(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(EXPERIMENTS)?;
    connection.pragma_update(None, "user_version", VERSION)
}
