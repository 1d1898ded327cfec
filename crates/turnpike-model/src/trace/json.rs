//! The JSON format.

use std::fmt;
use std::io::{self, Write};

use serde::de::{self, Deserializer, IgnoredAny, Visitor};
use serde::{Deserialize, Serialize};

use super::{StateValues, Step, Trace, VERSION};
use crate::diagnostic::Diagnostic;
use crate::facets::StuckComponent;

const FORMAT: &str = "turnpike-trace";

/// The head first, then one step per line, so that the file is readable and traces can be compared
/// by lines.
pub(super) fn write(trace: &Trace, mut out: impl Write) -> io::Result<()> {
    let hex = |value: u64, prefix: &str| format!("{prefix}{value:016x}");
    writeln!(out, "{{")?;
    field(&mut out, "format", FORMAT)?;
    field(&mut out, "version", &VERSION)?;
    field(&mut out, "turnpike", env!("CARGO_PKG_VERSION"))?;
    field(&mut out, "model", &trace.model)?;
    field(&mut out, "fingerprint", &hex(trace.fingerprint, ""))?;
    field(&mut out, "objective", &trace.objective)?;
    field(&mut out, "strategy", &trace.strategy)?;
    field(&mut out, "seed", &trace.seed.map(|seed| format!("{seed:#x}")))?;
    field(&mut out, "loop", &trace.loop_start)?;
    if !trace.components.is_empty() {
        field(&mut out, "components", &trace.components)?;
    }
    field(&mut out, "initial", &trace.initial)?;
    if trace.last_delay.is_some() {
        field(&mut out, "last_delay", &trace.last_delay)?;
    }
    if !trace.stuck.is_empty() {
        field(&mut out, "stuck", &trace.stuck)?;
    }
    if !trace.source.is_empty() {
        field(&mut out, "source", &trace.source)?;
    }
    if !trace.notes.is_empty() {
        field(&mut out, "notes", &trace.notes)?;
    }
    write!(out, "  \"steps\": [")?;
    for (index, step) in trace.steps.iter().enumerate() {
        out.write_all(if index == 0 { b"\n    " } else { b",\n    " })?;
        serde_json::to_writer(&mut out, step)?;
    }
    writeln!(out, "{}]\n}}", if trace.steps.is_empty() { "" } else { "\n  " })?;
    out.flush()
}

fn field(out: &mut impl Write, name: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    write!(out, "  \"{name}\": ")?;
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out, ",")
}

pub(super) fn read(text: &str) -> Result<Trace, Diagnostic> {
    // The version determines whether the rest can be interpreted, so it is checked first.
    let head: Head = serde_json::from_str(text).map_err(malformed)?;
    if head.format.and_then(word).as_deref() != Some(FORMAT) {
        return Err(Diagnostic::error("this JSON is not a trace").help(format!(
            "a trace has the entry \"format\": \"{FORMAT}\", as every trace that a search writes"
        )));
    }
    match head.version {
        Some(Loose::Number(VERSION)) => {}
        Some(Loose::Number(newer)) if newer > VERSION => {
            let writer = head
                .turnpike
                .and_then(word)
                .map_or(String::new(), |version| format!(" (turnpike {version})"));
            return Err(Diagnostic::error(format!(
                "the trace has format version {newer}{writer}; this program reads up to version {VERSION}"
            ))
            .help("use a newer turnpike"));
        }
        _ => {
            return Err(Diagnostic::error("the trace has no format version")
                .help(format!("a trace has the entry \"version\": {VERSION}")));
        }
    }
    let body: Body = serde_json::from_str(text).map_err(malformed)?;
    let trace = Trace {
        model: body.model,
        fingerprint: body.fingerprint.0.unwrap_or(0),
        objective: body.objective,
        strategy: body.strategy,
        seed: body.seed.0,
        loop_start: body.loop_start,
        components: body.components,
        initial: body.initial,
        steps: body.steps,
        last_delay: body.last_delay,
        stuck: body.stuck,
        source: body.source,
        notes: body.notes,
    };
    trace.check()?;
    Ok(trace)
}

fn word(value: Loose) -> Option<String> {
    match value {
        Loose::Text(text) => Some(text),
        Loose::Number(_) | Loose::Other(_) => None,
    }
}

/// The entries that are the same in every version.
#[derive(Deserialize)]
struct Head {
    format: Option<Loose>,
    version: Option<Loose>,
    turnpike: Option<Loose>,
}

/// A value of unknown kind. The reader explains wrong kinds.
#[derive(Deserialize)]
#[serde(untagged)]
enum Loose {
    Number(u64),
    Text(String),
    Other(#[allow(dead_code, reason = "taken so that every kind of value is accepted")] IgnoredAny),
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    source: String,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    model: String,
    #[serde(default)]
    fingerprint: Hex,
    #[serde(default)]
    objective: String,
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    seed: Seed,
    #[serde(default, rename = "loop")]
    loop_start: Option<usize>,
    #[serde(default)]
    components: Vec<String>,
    #[serde(default)]
    initial: Option<StateValues>,
    #[serde(default)]
    last_delay: Option<String>,
    #[serde(default)]
    stuck: Vec<StuckComponent>,
    steps: Vec<Step>,
}

/// Sixteen hexadecimal digits, or absent.
#[derive(Default)]
struct Hex(Option<u64>);

/// `0x` and hexadecimal digits, decimal digits, a number, or absent.
#[derive(Default)]
struct Seed(Option<u64>);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Wide { always_hex: true }).map(Hex)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Wide { always_hex: false }).map(Seed)
    }
}

/// A 64-bit number in any of the spellings that survive JSON.
struct Wide {
    always_hex: bool,
}

impl Visitor<'_> for Wide {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 64-bit number such as \"0x1f\" or 31")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let (digits, radix) = match digits {
            Some(digits) => (digits, 16),
            None => (text, if self.always_hex { 16 } else { 10 }),
        };
        // The standard parser accepts a sign, which no writer of this format produces.
        if digits.starts_with(['+', '-']) {
            return Err(E::invalid_value(de::Unexpected::Str(text), &self));
        }
        u64::from_str_radix(digits, radix)
            .map(Some)
            .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

fn malformed(error: serde_json::Error) -> Diagnostic {
    let text = error.to_string();
    // The line is a field of the diagnostic, so the text need not repeat it.
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let diagnostic = if error.is_eof() {
        Diagnostic::error(format!("the trace ends too early: {text}")).help("the file was cut short")
    } else {
        Diagnostic::error(format!("the trace cannot be read: {text}"))
    };
    match error.line() {
        0 => diagnostic,
        line => diagnostic.on_line(line as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facets::{
        Counterpart, Handover, Moment, Obstacle, Offer, Participant, Role, Schedule, TimeStop,
    };
    use proptest::prelude::*;

    fn written(trace: &Trace) -> String {
        let mut out = Vec::new();
        trace.write_json(&mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn refused(text: &str) -> Diagnostic {
        Trace::parse(text.as_bytes()).expect_err(text)
    }

    #[test]
    fn the_format_is_pinned() {
        let values =
            |pairs: &[(&str, &str)]| pairs.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let trace = Trace {
            model: "abp.mcrl2".to_owned(),
            fingerprint: 0x1234,
            objective: "action error".to_owned(),
            strategy: "highway".to_owned(),
            seed: Some(u64::MAX),
            loop_start: Some(1),
            initial: Some(values(&[("s", "1"), ("b", "true")])),
            steps: vec![
                Step {
                    choice: Some(3),
                    state: Some(values(&[("s", "2"), ("b", "false")])),
                    ..Step::new("a(\"x\")")
                },
                Step::new("tau"),
            ],
            ..Trace::default()
        };
        let expected = format!(
            r#"{{
  "format": "turnpike-trace",
  "version": 1,
  "turnpike": "{}",
  "model": "abp.mcrl2",
  "fingerprint": "0000000000001234",
  "objective": "action error",
  "strategy": "highway",
  "seed": "0xffffffffffffffff",
  "loop": 1,
  "initial": {{"s":"1","b":"true"}},
  "steps": [
    {{"label":"a(\"x\")","choice":3,"state":{{"s":"2","b":"false"}}}},
    {{"label":"tau"}}
  ]
}}
"#,
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(written(&trace), expected);
        assert_eq!(Trace::parse(expected.as_bytes()), Ok(trace));
        let mut timed = Trace { steps: vec![Step::new("a"), Step::new("b")], ..Trace::default() };
        timed.set_times(Schedule {
            moments: vec![Moment {
                delay: "1/2".to_owned(),
                time: "5/2".to_owned(),
                clocks: [("x", "0"), ("y", "5/2")].into_iter().collect(),
            }],
            last_delay: Some("3".to_owned()),
        });
        let text = written(&timed);
        assert!(text.ends_with(concat!(
            "  \"last_delay\": \"3\",\n  \"steps\": [\n",
            "    {\"label\":\"a\",\"delay\":\"1/2\",\"time\":\"5/2\",\"clocks\":{\"x\":\"0\",\"y\":\"5/2\"}},\n",
            "    {\"label\":\"b\"}\n  ]\n}\n"
        )));
        assert_eq!(Trace::parse(text.as_bytes()), Ok(timed));
        assert!(written(&Trace::default()).ends_with("\"steps\": []\n}\n"));
    }

    #[test]
    fn seeds_have_many_spellings() {
        for (seed, value) in [
            ("null", None),
            ("7", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("\"12\"", Some(12)),
            ("\"0x12\"", Some(18)),
            ("\"0XfF\"", Some(255)),
        ] {
            let text = format!(r#"{{"format":"turnpike-trace","version":1,"seed":{seed},"steps":[]}}"#);
            assert_eq!(Trace::parse(text.as_bytes()).expect("reads").seed, value);
        }
        for seed in [
            "-1", "1.5", "\"\"", "\"0x\"", "\"-1\"", "\"+1\"", "\"0x+1\"", "\"x\"", "{}", "[]", "true",
            "1e400",
        ] {
            let text = format!(r#"{{"format":"turnpike-trace","version":1,"seed":{seed},"steps":[]}}"#);
            assert!(Trace::parse(text.as_bytes()).is_err(), "{seed}");
        }
    }

    #[test]
    fn newer_versions_are_refused_by_name() {
        let newer =
            refused(r#"{"format":"turnpike-trace","version":2,"turnpike":"9.1","steps":{"changed":true}}"#);
        assert!(
            newer.message.contains("version 2 (turnpike 9.1); this program reads up to version 1"),
            "{newer}"
        );
        for version in ["", r#""version":null,"#, r#""version":"1","#, r#""version":0,"#, r#""version":-3,"#]
        {
            let text = format!(r#"{{"format":"turnpike-trace",{version}"steps":[]}}"#);
            assert!(refused(&text).message.contains("no format version"), "{version}");
        }
    }

    #[test]
    fn other_json_is_not_a_trace() {
        for text in
            ["{}", r#"{"format":"other","version":1}"#, r#"{"format":1}"#, r#"{"version":1,"steps":[]}"#]
        {
            assert!(refused(text).message.contains("not a trace"), "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let head = "{\"format\":\"turnpike-trace\",\n\"version\":1,\n\"steps\":[\n";
        for (rest, line, message) in [
            ("{\"label\":5}]}", 4, "invalid type"),
            ("{\"choice\":5}]}", 4, "missing field `label`"),
            ("{\"label\":\"a\"}\n{", 5, "expected `,` or `]`"),
            ("{\"label\":\"a\"},\n", 5, "ends too early"),
            ("{\"label\":\"a\",\"choice\":-1}]}", 4, "invalid value"),
            ("{\"label\":\"a\",\"choice\":4294967296}]}", 4, "invalid value"),
            ("]} x", 4, "trailing characters"),
        ] {
            let error = refused(&format!("{head}{rest}"));
            assert_eq!(error.line, Some(line), "{rest}: {error}");
            assert!(error.message.contains(message), "{rest}: {error}");
            assert!(!error.message.contains("column"), "{error}");
        }
        let missing = refused(r#"{"format":"turnpike-trace","version":1}"#);
        assert!(missing.message.contains("missing field `steps`"), "{missing}");
        assert!(refused(&"{\"a\":".repeat(100_000)).message.contains("ends too early"));
        assert!(refused(&"{\"format\":".repeat(100_000)).message.contains("recursion"));
    }

    #[test]
    fn loops_must_lead_back() {
        let text = |index| {
            format!(r#"{{"format":"turnpike-trace","version":1,"loop":{index},"steps":[{{"label":"a"}}]}}"#)
        };
        assert_eq!(Trace::parse(text(0).as_bytes()).expect("reads").loop_start, Some(0));
        assert!(refused(&text(1)).message.contains("leads back to state 1, but the trace has 1 step"));
        assert!(Trace { loop_start: Some(0), ..Trace::default() }.write_json(Vec::new()).is_err());
    }

    #[test]
    fn unknown_entries_are_skipped() {
        let text = r#"{"extra":{"deep":[1,2]},"format":"turnpike-trace","version":1,"steps":[{"label":"a","more":1}]}"#;
        assert_eq!(Trace::parse(text.as_bytes()).expect("reads").len(), 1);
    }

    fn values() -> impl Strategy<Value = Option<StateValues>> {
        prop::option::of(prop::collection::vec((any::<String>(), any::<String>()), 0..4))
            .prop_map(|pairs| pairs.map(|pairs| pairs.into_iter().collect()))
    }

    prop_compose! {
        fn obstacles()(
            kind in 0..6,
            texts in (any::<String>(), any::<String>(), any::<Option<String>>()),
            others in prop::collection::vec(any::<String>(), 0..2),
        ) -> Obstacle {
            let (one, other, perhaps) = texts;
            match kind {
                0 => Obstacle::Condition { condition: one, actual: perhaps },
                1 => Obstacle::Target { component: one, condition: other },
                2 => {
                    let counterpart = Counterpart { component: one.clone(), action: other, reason: perhaps };
                    Obstacle::Partner { action: one, elsewhere: others, instead: vec![counterpart] }
                }
                3 => Obstacle::Disallowed { by: one },
                4 => Obstacle::Held { needs: one, by: perhaps, since: Some(other) },
                _ => Obstacle::Precedence { component: one },
            }
        }
    }

    prop_compose! {
        fn stuck_components()(
            texts in (any::<String>(), any::<String>(), any::<String>()),
            obstacles in prop::collection::vec(obstacles(), 0..3),
            stop in 0..4,
        ) -> StuckComponent {
            let (component, position, action) = texts;
            let stops_time = match stop {
                0 => Some(TimeStop::Invariant { condition: action.clone() }),
                1 => Some(TimeStop::Urgent),
                2 => Some(TimeStop::Committed),
                _ => None,
            };
            StuckComponent { component, position, offers: vec![Offer { action, obstacles }], stops_time }
        }
    }

    fn participants() -> impl Strategy<Value = Option<Vec<Participant>>> {
        let part =
            (any::<(String, String, Option<(String, usize)>)>(), 0..3_usize).prop_map(|(texts, role)| {
                let (component, action, given) = texts;
                let role = [Role::Sends, Role::Receives, Role::TakesPart][role];
                let handover = |(component, step)| Handover { component, step, action: action.clone() };
                let after: Vec<Handover> = given.map(handover).into_iter().collect();
                let value = after.first().map(|given| given.component.clone());
                Participant { component, action, role, value, after }
            });
        prop::option::of(prop::collection::vec(part, 0..3))
    }

    prop_compose! {
        fn traces()(
            texts in (any::<String>(), any::<String>(), any::<String>()),
            numbers in (any::<u64>(), any::<Option<u64>>(), any::<Option<usize>>()),
            initial in values(),
            steps in prop::collection::vec((any::<String>(), any::<Option<u32>>(), values()), 0..12),
            times in (any::<Option<String>>(), any::<Option<String>>(), values(), any::<Option<String>>()),
            stuck in prop::collection::vec(stuck_components(), 0..3),
            (components, parts) in (prop::collection::vec(any::<String>(), 0..3), participants()),
        ) -> Trace {
            let loop_start = numbers.2.filter(|_| !steps.is_empty()).map(|index| index % steps.len());
            Trace {
                model: texts.0,
                fingerprint: numbers.0,
                objective: texts.1,
                strategy: texts.2,
                seed: numbers.1,
                loop_start,
                components,
                initial,
                steps: steps
                    .into_iter()
                    .map(|(label, choice, state)| Step {
                        label,
                        choice,
                        parts: parts.clone(),
                        state,
                        delay: times.0.clone(),
                        time: times.1.clone(),
                        clocks: times.2.clone(),
                    })
                    .collect(),
                last_delay: times.3,
                stuck,
                ..Trace::default()
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(trace in traces()) {
            prop_assert_eq!(Trace::parse(written(&trace).as_bytes()).expect("reads"), trace);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Trace::parse(&bytes);
        }
    }
}
