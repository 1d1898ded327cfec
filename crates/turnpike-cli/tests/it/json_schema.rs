//! Checks JSON against the published schemas, with the keywords that they use.

use serde_json::Value;

/// Keywords that describe and demand nothing.
const DESCRIPTIONS: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "format"];

/// What is wrong with a value: each mistake with the path to its place.
pub(crate) fn mistakes(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Validator { root: schema }.check(schema, value, "", &mut found);
    found
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.check(schema, value, "", &mut found);
        found.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return found.push(format!("{path}: nothing is allowed here")),
            schema => schema.as_object().expect("a schema is an object or a truth value"),
        };
        for (keyword, demand) in keywords {
            self.keyword(keyword, demand, schema, value, path, found);
        }
    }

    fn keyword(
        &self,
        keyword: &str,
        demand: &Value,
        schema: &Value,
        value: &Value,
        path: &str,
        found: &mut Vec<String>,
    ) {
        let holds = match keyword {
            "$ref" => {
                let name = demand.as_str().and_then(|name| name.strip_prefix('#')).expect("a local name");
                let target = self.root.pointer(name).unwrap_or_else(|| panic!("`{name}` is not defined"));
                return self.check(target, value, path, found);
            }
            "type" => match demand {
                Value::Array(kinds) => kinds.iter().any(|kind| has_type(kind, value)),
                kind => has_type(kind, value),
            },
            "const" => demand == value,
            "anyOf" => list(demand).iter().any(|one| self.is_valid(one, value)),
            "oneOf" => list(demand).iter().filter(|one| self.is_valid(one, value)).count() == 1,
            "minimum" => value.as_f64().is_none_or(|number| number >= demand.as_f64().expect("a number")),
            "minItems" => value.as_array().is_none_or(|items| items.len() >= size(demand)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() <= size(demand)),
            "required" => value
                .as_object()
                .is_none_or(|fields| list(demand).iter().all(|name| fields.contains_key(text(name)))),
            "prefixItems" => {
                for (at, (one, item)) in list(demand).iter().zip(items(value)).enumerate() {
                    self.check(one, item, &format!("{path}/{at}"), found);
                }
                return;
            }
            "items" => {
                let first = schema.get("prefixItems").map_or(0, |prefix| list(prefix).len());
                for (at, item) in items(value).iter().enumerate().skip(first) {
                    self.check(demand, item, &format!("{path}/{at}"), found);
                }
                return;
            }
            "properties" => {
                for (name, one) in demand.as_object().expect("an object") {
                    if let Some(field) = value.get(name) {
                        self.check(one, field, &format!("{path}/{name}"), found);
                    }
                }
                return;
            }
            "additionalProperties" => {
                let known =
                    |name: &String| schema.get("properties").is_some_and(|all| all.get(name).is_some());
                for (name, field) in value.as_object().into_iter().flatten().filter(|(name, _)| !known(name))
                {
                    self.check(demand, field, &format!("{path}/{name}"), found);
                }
                return;
            }
            other => {
                assert!(DESCRIPTIONS.contains(&other), "the keyword `{other}` is not checked yet");
                return;
            }
        };
        if !holds {
            found.push(format!("{path}: {keyword} demands {demand}"));
        }
    }
}

fn has_type(kind: &Value, value: &Value) -> bool {
    match text(kind) {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is not a type"),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn size(value: &Value) -> usize {
    value.as_u64().expect("a size") as usize
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a name")
}

/// A check that accepts everything would not be noticed elsewhere.
#[test]
fn each_keyword_refuses_something() {
    let schema = serde_json::json!({
        "$defs": { "Name": { "type": "string" }, "Pair": { "prefixItems": [{ "type": "integer" }], "items": false } },
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": { "$ref": "#/$defs/Name" },
            "pair": { "$ref": "#/$defs/Pair" },
            "kind": { "oneOf": [{ "const": "a" }, { "type": "string" }, { "type": "integer" }] },
            "list": { "type": ["array", "null"], "items": { "type": "boolean" }, "minItems": 1, "maxItems": 2 },
            "some": { "anyOf": [{ "type": "null" }, { "type": "number", "minimum": 0 }] },
        },
        "additionalProperties": false,
    });
    let good = serde_json::json!({ "name": "x", "pair": [1], "kind": 3, "list": [true], "some": 0.5 });
    assert!(mistakes(&schema, &good).is_empty());
    for (field, value, place) in [
        ("name", serde_json::json!(1), "/name: type"),
        ("pair", serde_json::json!(["1"]), "/pair/0: type"),
        ("pair", serde_json::json!([1, 2]), "/pair/1: nothing"),
        ("list", serde_json::json!([]), "/list: minItems"),
        ("list", serde_json::json!([true, true, true]), "/list: maxItems"),
        ("list", serde_json::json!([1]), "/list/0: type"),
        ("list", serde_json::json!({}), "/list: type"),
        ("some", serde_json::json!(-1), "/some: anyOf"),
        ("kind", serde_json::json!(true), "/kind: oneOf"),
        ("kind", serde_json::json!("a"), "/kind: oneOf"),
        ("more", serde_json::json!(1), "/more: nothing"),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        let found = mistakes(&schema, &bad);
        assert!(found.len() == 1 && found[0].starts_with(place), "{place}: {found:?}");
    }
    assert_eq!(mistakes(&schema, &serde_json::json!({})), [": required demands [\"name\"]"]);
}
