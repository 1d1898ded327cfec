//! The published schemas of everything that is printed as JSON.

use clap::ValueEnum;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use turnpike_session::Event;

use crate::commands::generate::GenerateOutput;
use crate::commands::search::json::SearchOutput;
use crate::failure::ErrorOutput;

/// A schema that `turnpike info --schema` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// `turnpike search --format json`.
    Search,
    /// `turnpike generate --format json`.
    Generate,
    /// A line of `--progress json`.
    Events,
}

/// A result, or an error.
#[derive(JsonSchema)]
#[serde(untagged)]
// Only its shape is used.
#[expect(dead_code)]
enum Output<T> {
    /// The command did its work.
    Result(T),
    /// The command could not do its work.
    Error(ErrorOutput),
}

/// The schema as JSON.
pub(crate) fn schema(kind: SchemaKind) -> Value {
    // What is written, not what would be read: fields that are always there are required, null or not.
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let (title, schema) = match kind {
        SchemaKind::Search => {
            ("turnpike search --format json", generator.into_root_schema_for::<Output<SearchOutput>>())
        }
        SchemaKind::Generate => {
            ("turnpike generate --format json", generator.into_root_schema_for::<Output<GenerateOutput>>())
        }
        SchemaKind::Events => ("a line of --progress json", generator.into_root_schema_for::<Event>()),
    };
    let mut value = schema.to_value();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("title".to_owned(), title.into());
    }
    value
}
