//! The structure of the XML format. The contained texts are parsed by [`Parser`].

use std::ops::Range;

use roxmltree::{Document, Node as Element, ParsingOptions};
use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use super::parser::{
    Context, Parser, Parts, Reading, Scope, exponential_rate, no_initial, probability, uncontrollable,
    unsupported,
};
use super::passage::Passage;
use super::query::one_line;
use super::template::{Draft, Labels};
use super::tree::{Identifier, Location, Model, Query, Template};

/// Parses the XML. No external resources are loaded, and the XML reader limits the expansion of
/// entities.
pub(super) fn document(text: &str) -> Result<Document<'_>, Diagnostic> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let position = error.pos();
        let place = offset(text, position.row, position.col);
        // The XML reader appends the position, which we report in our own way.
        let message = error.to_string();
        let message = message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message).to_owned();
        Diagnostic::error(format!("this is not well-formed XML: {message}"))
            .at(place..place, "the reader stopped here")
    })
}

/// The byte at a line and a column, both starting at 1.
fn offset(text: &str, row: u32, column: u32) -> usize {
    let mut start = 0;
    for _ in 1..row {
        start += text[start..].find('\n').map_or(text.len() - start, |length| length + 1);
    }
    let line = &text[start..];
    start + line.char_indices().nth(column.saturating_sub(1) as usize).map_or(line.len(), |(at, _)| at)
}

/// Parses a model.
pub(super) fn model(document: &Document, context: &mut Context) -> Option<Model> {
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "nta" | "project") {
        context.error(
            Diagnostic::error(format!("this is not a UPPAAL model: it is a `{}`", root.tag_name().name()))
                .at(head(root), "should be `nta`"),
        );
        return None;
    }
    let mut declarations = Vec::new();
    let mut templates: Vec<Template> = Vec::new();
    let mut queries = Vec::new();
    // Old files have the instantiations in a separate element.
    let mut texts = Vec::new();
    for element in elements(root) {
        match element.tag_name().name() {
            "declaration" => {
                let passage = passage(element);
                declarations.extend(Parser::new(&passage, context).all_declarations(Scope::Global));
            }
            "template" => {
                context.enter();
                templates.extend(template(element, context));
                context.leave();
            }
            "instantiation" | "system" => texts.push(passage(element)),
            "queries" => {
                queries.extend(elements(element).filter(|query| is(*query, "query")).filter_map(query))
            }
            "lsc" => {
                context.error(unsupported("live sequence charts (`lsc`)", head(element), ""));
            }
            "imports"
                if element.children().any(|child| {
                    child.is_element() || child.text().is_some_and(|text| !text.trim().is_empty())
                }) =>
            {
                context.error(unsupported("imports", head(element), ""));
            }
            _ => {}
        }
    }
    let mut parts = Parts::default();
    for passage in &texts {
        Parser::new(passage, context).parts(&mut parts);
    }
    let last = texts.pop().unwrap_or_else(|| Passage::within(head(root)));
    let line = parts.system.take();
    let system = parts.system(Parser::new(&last, context).system_line(line).ok()?);
    Some(Model { dialect: context.dialect, declarations, templates, system, queries })
}

fn template(element: Element, context: &mut Context) -> Option<Template> {
    let Some(name) =
        child(element, "name").and_then(|name| identifier(name, "the name of the template", context))
    else {
        if child(element, "name").is_none() {
            context.error(Diagnostic::error("this template has no name").at(head(element), "needs a `name`"));
        }
        return None;
    };
    let mut draft = Draft::new(name);
    if let Some(parameter) = child(element, "parameter") {
        let passage = passage(parameter);
        let mut parser = Parser::new(&passage, context);
        if let Ok(parameters) = parser.parameters(super::lexer::Kind::End)
            && parser.finish("`,` or the end of the parameters").is_ok()
        {
            draft.parameters = parameters;
        }
    }
    for declaration in elements(element).filter(|child| is(*child, "declaration")) {
        let passage = passage(declaration);
        draft.declarations.extend(Parser::new(&passage, context).all_declarations(Scope::Template));
    }
    let mut named: FxHashMap<String, Range<usize>> = FxHashMap::default();
    for element in elements(element) {
        match element.tag_name().name() {
            "location" => location(element, &mut draft, &mut named, context),
            "branchpoint" => {
                if let Some((id, span)) = attribute(element, "id", context) {
                    draft.add_branchpoint(&id, span, context);
                }
            }
            _ => {}
        }
    }
    for init in elements(element).filter(|child| is(*child, "init")) {
        if let Some((id, span)) = attribute(init, "ref", context)
            && let Ok(location) = draft.location(&id, span.clone(), context)
            && draft.initial.replace(location).is_some()
        {
            context
                .error(Diagnostic::error("a template has one initial location").at(span, "the second one"));
        }
    }
    if draft.initial.is_none() && context.errors() == 0 {
        context.error(
            no_initial(&draft).help("every template needs an `init` element that refers to a location"),
        );
    }
    for transition in elements(element).filter(|child| is(*child, "transition")) {
        context.enter();
        edge(transition, &mut draft, context);
        context.leave();
    }
    Some(draft.finish(head(element), context))
}

fn location(
    element: Element,
    draft: &mut Draft,
    named: &mut FxHashMap<String, Range<usize>>,
    context: &mut Context,
) {
    let Some((id, _)) = attribute(element, "id", context) else { return };
    let written = child(element, "name").filter(|name| !passage(*name).text.trim().is_empty());
    let name = written.and_then(|name| identifier(name, "the name of the location", context));
    let span = name.as_ref().map_or_else(|| head(element), |name| name.span.clone());
    if let Some(name) = &name
        && named.insert(name.name.clone(), span.clone()).is_some()
    {
        context.error(
            Diagnostic::error(format!("two locations have the name `{}`", name.name))
                .at(span.clone(), "the second one"),
        );
    }
    let anonymous = name.is_none();
    let mut location = Location {
        name: name.map_or_else(|| format!("_{id}"), |name| name.name),
        anonymous,
        invariant: None,
        urgent: child(element, "urgent").is_some(),
        committed: child(element, "committed").is_some(),
        span,
    };
    for (kind, passage) in labels(element, context) {
        match kind {
            "invariant" => location.invariant = label(&passage, context, |parser| parser.condition()),
            "exponentialrate" => exponential_rate(context, whole(&passage)),
            _ => ignored(kind, &["testcodeEnter", "testcodeExit", "comments"], &passage, context),
        }
    }
    draft.add_location(&id, location, context);
}

fn edge(element: Element, draft: &mut Draft, context: &mut Context) {
    let mut end = |name: &str| {
        let Some(end) = child(element, name) else {
            context.error(
                Diagnostic::error(format!("this edge has no {name}")).at(head(element), "leads nowhere"),
            );
            return None;
        };
        let (id, span) = attribute(end, "ref", context)?;
        draft.node(&id, span, context).ok()
    };
    let (source, target) = (end("source"), end("target"));
    if let Some(controllable) = element.attribute_node("controllable")
        && controllable.value() == "false"
    {
        uncontrollable(context, controllable.range());
    }
    let mut texts = labels(element, context);
    // Its variables are visible in the other labels, wherever it comes.
    texts.sort_by_key(|(kind, _)| *kind != "select");
    let mut labels = Labels { size: element.range().len(), ..Labels::default() };
    for (kind, passage) in texts {
        match kind {
            "select" => {
                labels.select = label(&passage, context, |parser| parser.selects()).unwrap_or_default()
            }
            "guard" => labels.guard = label(&passage, context, |parser| parser.condition()),
            "synchronisation" => labels.sync = label(&passage, context, |parser| parser.synchronisation()),
            "assignment" => {
                labels.update = label(&passage, context, |parser| parser.expressions()).unwrap_or_default()
            }
            "probability" => probability(context, whole(&passage)),
            _ => {
                ignored(kind, &["comments", "testcode", "message", "update", "condition"], &passage, context)
            }
        }
    }
    if let (Some(source), Some(target)) = (source, target) {
        draft.add_edge(source, target, labels, head(element));
    }
}

/// Parses a whole label.
fn label<T>(
    passage: &Passage,
    context: &mut Context,
    read: impl FnOnce(&mut Parser) -> Reading<T>,
) -> Option<T> {
    let mut parser = Parser::new(passage, context);
    let value = read(&mut parser).ok()?;
    parser.finish("an operator or the end of the label").ok()?;
    Some(value)
}

/// The labels with a meaning, by kind.
fn labels<'a>(element: Element<'a, 'a>, context: &mut Context) -> Vec<(&'a str, Passage)> {
    let mut all: Vec<(&str, Passage)> = Vec::new();
    for label in elements(element).filter(|child| is(*child, "label")) {
        let Some(kind) = label.attribute("kind") else {
            context.error(
                Diagnostic::error("this label has no kind").at(head(label), "needs the attribute `kind`"),
            );
            continue;
        };
        let passage = passage(label);
        if !Parser::new(&passage, context).at_end() {
            if all.iter().any(|(other, _)| *other == kind) {
                let message = format!("there are two labels of the kind `{kind}`");
                context.error(Diagnostic::error(message).at(head(label), "the second one"));
            } else {
                all.push((kind, passage));
            }
        }
    }
    all
}

fn ignored(kind: &str, known: &[&str], passage: &Passage, context: &mut Context) {
    if !known.contains(&kind) {
        context.warn(
            Diagnostic::warning(format!("labels of the kind `{kind}` are ignored"))
                .at(whole(passage), "ignored"),
        );
    }
}

fn query(element: Element) -> Option<Query> {
    let formula = passage(child(element, "formula")?);
    let line = one_line(&formula.text).unwrap_or_else(|_| formula.text.replace(['\r', '\n'], " "));
    let text = line.trim();
    if text.is_empty() {
        return None;
    }
    let start = line.len() - line.trim_start().len();
    let comment = child(element, "comment").map(|comment| passage(comment).text.trim().to_owned());
    // Less certain outcomes are ignored.
    let expect = child(element, "expect").and_then(|expect| match expect.attribute("outcome")? {
        "success" => Some(true),
        "failure" => Some(false),
        _ => None,
    });
    Some(Query {
        text: text.to_owned(),
        comment: comment.unwrap_or_default(),
        expect,
        span: formula.place(start..start + text.len()),
    })
}

fn identifier(element: Element, what: &str, context: &mut Context) -> Option<Identifier> {
    let passage = passage(element);
    let mut parser = Parser::new(&passage, context);
    let name = parser.name(what).ok()?;
    parser.finish("nothing after the name").ok()?;
    Some(name)
}

fn attribute(element: Element, name: &str, context: &mut Context) -> Option<(String, Range<usize>)> {
    let Some(attribute) = element.attribute_node(name) else {
        let tag = element.tag_name().name();
        context.error(
            Diagnostic::error(format!("this `{tag}` has no `{name}`"))
                .at(head(element), format!("needs the attribute `{name}`")),
        );
        return None;
    };
    Some((attribute.value().to_owned(), attribute.range_value()))
}

fn elements<'a, 'input>(element: Element<'a, 'input>) -> impl Iterator<Item = Element<'a, 'input>> {
    element.children().filter(|child| child.is_element())
}

fn is(element: Element, name: &str) -> bool {
    element.tag_name().name() == name
}

fn child<'a, 'input>(element: Element<'a, 'input>, name: &str) -> Option<Element<'a, 'input>> {
    elements(element).find(|child| is(*child, name))
}

/// The text of an element, without nested elements and comments.
fn passage(element: Element) -> Passage {
    let source = element.document().input_text();
    let mut passage = Passage::within(head(element));
    for child in element.children().filter(|child| child.is_text()) {
        let range = child.range();
        passage.push_xml(&source[range.clone()], range.start, child.text().unwrap_or_default());
    }
    passage
}

/// The whole text without surrounding blanks.
fn whole(passage: &Passage) -> Range<usize> {
    let text = passage.text.as_str();
    let start = text.len() - text.trim_start().len();
    passage.place(start..text.trim_end().len().max(start))
}

/// The start tag of an element.
fn head(element: Element) -> Range<usize> {
    let range = element.range();
    let text = &element.document().input_text()[range.clone()];
    range.start..text.find('>').map_or(range.end, |end| range.start + end + 1)
}
