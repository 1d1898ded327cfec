//! The XML format.

use super::super::parse_xml;
use super::super::tree::{Dialect, Formula, Model};
use super::{pointed, read as read_xta};

const MODEL: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.5//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_5.dtd'>
<nta>
  <future>what is not known is skipped</future>
  <declaration>clock x; chan go; typedef int[0,3] id_t;
int v = 1 &lt; 2 &amp;&amp; true;</declaration>
  <template>
    <name x="5" y="5">P</name>
    <parameter>const id_t id</parameter>
    <declaration><![CDATA[int w = 1 < 2;]]></declaration>
    <location id="id0" x="0" y="0"><name>Idle</name><label kind="invariant">x &lt;= 5</label><urgent/></location>
    <location id="id1"><committed/><label kind="comments">nothing</label></location>
    <location id="id2"><name> </name><label kind="invariant"> // no
</label></location>
    <branchpoint id="id3"/>
    <init ref="id0"/>
    <transition><source ref="id0"/><target ref="id3"/>
      <label kind="assignment" x="1">v = i, w = 2</label>
      <label kind="synchronisation">go!</label>
      <label kind="guard">x &gt; 1 &amp;&amp; i &lt; 3</label>
      <label kind="select">i : id_t</label><nail x="1" y="2"/></transition>
    <transition controllable="true"><source ref="id3"/><target ref="id1"/><label kind="assignment">x = 0</label></transition>
    <transition><source ref="id3"/><target ref="id2"/><label kind="probability">2</label></transition>
  </template>
  <system>Q = P(2); system Q;</system>
  <queries>
    <query><formula>E&lt;&gt; Q.Idle
      &amp;&amp; x > 1 // late
    </formula><comment>found &amp; shown</comment></query>
    <query><formula/><comment>only a remark</comment></query>
  </queries>
</nta>
"#;

fn read(text: &str) -> Model {
    parse_xml(text).unwrap_or_else(|errors| panic!("{errors:#?}")).0
}

fn first_error(text: &str) -> (String, &str) {
    pointed(text, &parse_xml(text).expect_err(text)[0])
}

#[test]
fn a_model_with_everything() {
    let (model, warnings) = parse_xml(MODEL).unwrap();
    let expected = "clock x;
chan go;
typedef int[0, 3] id_t;
int v = 1 < 2 && true;
process P(const id_t id) {
  int w = 1 < 2;
  state Idle { x <= 5 }, _id1, _id2;
  urgent Idle;
  commit _id1;
  init Idle;
  trans
    Idle -> _id1 { select i : id_t; guard x > 1 && i < 3; sync go!; assign v = i, w = 2, x = 0; },
    Idle -> _id2 { select i : id_t; guard x > 1 && i < 3; sync go!; assign v = i, w = 2; };
}
Q = P(2);
system Q;
";
    let printed = model.to_string();
    assert_eq!(printed.split("query").next().unwrap(), expected);
    assert_eq!(super::erased(&read_xta(expected).system), super::erased(&model.system));
    assert_eq!(
        model.templates[0].locations.iter().map(|one| one.anonymous).collect::<Vec<_>>(),
        [false, true, true]
    );
    assert_eq!(warnings.len(), 1);
    assert_eq!(pointed(MODEL, &warnings[0]), ("probability weights are ignored".into(), "2"));
    let guard = model.templates[0].edges[0].guard.as_ref().unwrap();
    assert_eq!(&MODEL[guard.span.clone()], "x &gt; 1 &amp;&amp; i &lt; 3");
    assert_eq!(&MODEL[model.templates[0].declarations[0].span()], "int w = 1 < 2;");
    let [query] = &model.queries[..] else { panic!("one query") };
    assert_eq!((query.text.as_str(), query.comment.as_str()), ("E<> Q.Idle       && x > 1", "found & shown"));
    assert!(MODEL[query.span.clone()].starts_with("E&lt;&gt; Q.Idle"));
    assert!(matches!(super::super::parse_query(&query.text), Ok(Formula::Possibly(_))));
}

#[test]
fn old_files_have_instantiations_of_their_own_and_old_syntax() {
    let model = read(
        "<nta><declaration>const N 3; clock x;</declaration>
         <template><name>P</name><parameter>clock c; const k</parameter>
           <location id='a'/><init ref='a'/>
           <transition><source ref='a'/><target ref='a'/><label kind='guard'>c =&lt; 3, N == 3</label></transition></template>
         <instantiation>P1 := P(x, 3);</instantiation><system>system P1;</system></nta>",
    );
    assert_eq!(model.dialect, Dialect::Old);
    assert_eq!(model.system.instantiations.len(), 1);
    assert!(model.templates[0].parameters[0].reference && !model.templates[0].parameters[1].reference);
    assert_eq!(model.templates[0].edges[0].guard.as_ref().unwrap().to_string(), "c <= 3 && N == 3");
}

/// A model with one template.
fn with(template: &str) -> String {
    format!(
        "<nta><declaration>chan c;</declaration><template><name>P</name>{template}</template><system>system P;</system></nta>"
    )
}

#[test]
fn mistakes_are_pointed_at() {
    let locations = "<location id='a'><name>A</name></location><location id='b'/><init ref='a'/>";
    let edge = |labels: &str| {
        with(&format!("{locations}<transition><source ref='a'/><target ref='b'/>{labels}</transition>"))
    };
    for (text, message, place) in [
        (with(""), "`P` has no initial location", "P"),
        (with("<location id='a'/>"), "`P` has no initial location", "P"),
        (with("<location/>"), "this `location` has no `id`", "<location/>"),
        (
            with("<location id='a'/><location id='a'/><init ref='a'/>"),
            "`a` occurs twice",
            "<location id='a'/>",
        ),
        (with("<location id='a'/><init ref='b'/>"), "`P` has no location `b`", "b"),
        (
            with(
                "<location id='a'><name>X</name></location><location id='b'><name>X</name></location><init ref='a'/>",
            ),
            "two locations have the name `X`",
            "X",
        ),
        (
            with("<location id='a'><name>two words</name></location><init ref='a'/>"),
            "expected nothing after the name, found `words`",
            "words",
        ),
        (with("<location id='a'/><branchpoint id='b'/><init ref='b'/>"), "`b` is a branchpoint", "b"),
        (
            edge("<label kind='guard'>1 &lt; &amp;&amp; 2</label>"),
            "expected an expression, found `&&`",
            "&amp;&amp;",
        ),
        (edge("<label kind='guard'>1 &lt; </label>"), "expected an expression, but the text ends", ""),
        (
            edge("<label kind='guard'>1 2</label>"),
            "expected an operator or the end of the label, found `2`",
            "2",
        ),
        (edge("<label kind='guard'><![CDATA[ x << ] ]]></label>"), "expected an expression, found `]`", "]"),
        (edge("<label>x</label>"), "this label has no kind", "<label>"),
        (
            edge("<label kind='guard'>1</label><label kind='guard'>2</label>"),
            "there are two labels of the kind `guard`",
            "<label kind='guard'>",
        ),
        (
            with(&format!("{locations}<transition><source ref='a'/></transition>")),
            "this edge has no target",
            "<transition>",
        ),
        (
            "<nta><lsc><name>L</name></lsc><system>system P;</system></nta>".into(),
            "live sequence charts (`lsc`) are not supported",
            "<lsc>",
        ),
        (
            "<nta><imports>x</imports><system>system P;</system></nta>".into(),
            "imports are not supported",
            "<imports>",
        ),
        (
            "<nta><template/><system>system P;</system></nta>".into(),
            "this template has no name",
            "<template/>",
        ),
        ("<nta></nta>".into(), "there is no `system` line", ""),
        ("<html>a</html>".into(), "this is not a UPPAAL model: it is a `html`", "<html>"),
    ] {
        assert_eq!(first_error(&text), (message.into(), place), "{text}");
    }
    for text in ["", "<nta>", "no xml", "<nta></mta>", "<nta>&unknown;</nta>"] {
        let (message, _) = first_error(text);
        assert!(message.starts_with("this is not well-formed XML: "), "{message}");
    }
}

#[test]
fn hostile_files_end_quickly() {
    // Thirty entities, each ten times the previous one.
    let mut laughs = String::from("<!DOCTYPE nta [<!ENTITY a0 \"ha\">");
    for level in 1..30 {
        let inside = format!("&a{};", level - 1).repeat(10);
        laughs.push_str(&format!("<!ENTITY a{level} \"{inside}\">"));
    }
    laughs.push_str("]><nta><declaration>&a29;</declaration><system>system P;</system></nta>");
    assert!(parse_xml(&laughs).is_err());
    let loops =
        "<!DOCTYPE nta [<!ENTITY a \"&b;\"><!ENTITY b \"&a;\">]><nta><declaration>&a;</declaration></nta>";
    assert!(parse_xml(loops).is_err());
    assert!(parse_xml(&"<nta>".repeat(50_000)).is_err());
    let nested = format!("{}{}", "<nta>".repeat(50_000), "</nta>".repeat(50_000));
    assert!(parse_xml(&nested).is_err());
    // A small entity defined in the file is accepted.
    let own = "<!DOCTYPE nta [<!ENTITY n \"int n;\">]><nta><declaration>clock x; &n;</declaration>
        <template><name>P</name><location id='a'/><init ref='a'/></template><system>system P;</system></nta>";
    assert_eq!(read(own).declarations.len(), 2);
    // Paths through branchpoints multiply.
    let mut ways = String::from("<location id='a'/><branchpoint id='b'/><init ref='a'/>");
    for _ in 0..3000 {
        ways.push_str("<transition><source ref='a'/><target ref='b'/></transition><transition><source ref='b'/><target ref='a'/></transition>");
    }
    let errors = parse_xml(&with(&ways)).unwrap_err();
    assert!(errors[0].message.starts_with("there are too many paths"), "{errors:?}");
}
