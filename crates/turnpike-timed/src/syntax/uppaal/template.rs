//! Templates under construction: resolves names of locations and removes branchpoints.

use std::ops::Range;

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use super::parser::{Context, Failed, Reading};
use super::tree::{
    Binary, Declaration, Edge, Expression, ExpressionKind, Identifier, Location, Parameter, Select,
    Synchronisation, Template,
};

/// Limit on the source bytes that are duplicated because paths through branchpoints repeat the
/// labels of edges.
const REPEATED: usize = 1 << 24;

/// The end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Location(usize),
    Branchpoint(usize),
}

/// The labels of an edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    pub(super) select: Vec<Select>,
    pub(super) guard: Option<Expression>,
    pub(super) sync: Option<Synchronisation>,
    pub(super) update: Vec<Expression>,
    /// Number of source bytes of the labels.
    pub(super) size: usize,
}

/// A template under construction.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: Identifier,
    pub(super) parameters: Vec<Parameter>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) locations: Vec<Location>,
    pub(super) initial: Option<usize>,
    /// Some locations failed to parse: unknown ones may be among them.
    pub(super) incomplete: bool,
    branchpoints: Vec<Range<usize>>,
    /// By name in XTA, by id in XML.
    nodes: FxHashMap<String, Node>,
    edges: Vec<(Node, Node, Labels, Range<usize>)>,
}

impl Draft {
    pub(super) fn new(name: Identifier) -> Self {
        Draft {
            name,
            parameters: Vec::new(),
            declarations: Vec::new(),
            locations: Vec::new(),
            initial: None,
            incomplete: false,
            branchpoints: Vec::new(),
            nodes: FxHashMap::default(),
            edges: Vec::new(),
        }
    }

    /// Adds a location under the key by which edges refer to it.
    pub(super) fn add_location(&mut self, key: &str, location: Location, context: &mut Context) {
        let node = Node::Location(self.locations.len());
        self.add_node(key, node, location.span.clone(), context);
        self.locations.push(location);
    }

    /// Adds a branchpoint.
    pub(super) fn add_branchpoint(&mut self, key: &str, span: Range<usize>, context: &mut Context) {
        let node = Node::Branchpoint(self.branchpoints.len());
        self.add_node(key, node, span.clone(), context);
        self.branchpoints.push(span);
    }

    fn add_node(&mut self, key: &str, node: Node, span: Range<usize>, context: &mut Context) {
        if self.nodes.insert(key.to_owned(), node).is_some() {
            context.error(Diagnostic::error(format!("`{key}` occurs twice")).at(span, "the second time"));
        }
    }

    /// Finds the end of an edge by its key.
    pub(super) fn node(&self, key: &str, span: Range<usize>, context: &mut Context) -> Reading<Node> {
        if let Some(&node) = self.nodes.get(key) {
            return Ok(node);
        }
        if self.incomplete || context.is_full() {
            return Err(Failed);
        }
        let mut names: Vec<&str> = self.nodes.keys().map(String::as_str).collect();
        // The time for comparing names grows with their length.
        names.retain(|name| name.len() + key.len() < 200);
        names.sort_unstable();
        let diagnostic = Diagnostic::error(format!("`{}` has no location `{key}`", self.name.name))
            .at(span, "unknown")
            .suggest(key, names);
        Err(context.error(diagnostic))
    }

    /// Finds a location.
    pub(super) fn location(&self, key: &str, span: Range<usize>, context: &mut Context) -> Reading<usize> {
        match self.node(key, span.clone(), context)? {
            Node::Location(location) => Ok(location),
            Node::Branchpoint(_) => Err(context.error(
                Diagnostic::error(format!("`{key}` is a branchpoint")).at(span, "must be a location"),
            )),
        }
    }

    pub(super) fn add_edge(&mut self, source: Node, target: Node, labels: Labels, span: Range<usize>) {
        self.edges.push((source, target, labels, span));
    }

    /// Completes the template, with one edge for every path through a branchpoint.
    pub(super) fn finish(self, span: Range<usize>, context: &mut Context) -> Template {
        let mut leaving: Vec<Vec<(usize, Labels)>> = vec![Vec::new(); self.branchpoints.len()];
        for (source, target, labels, place) in &self.edges {
            let Node::Branchpoint(branchpoint) = *source else { continue };
            if !labels.select.is_empty() || labels.guard.is_some() || labels.sync.is_some() {
                context.warn(
                    Diagnostic::warning(
                        "guards, synchronisations and selections after a branchpoint apply to the whole path through it",
                    )
                    .at(place.clone(), "leaves a branchpoint")
                    .help("both guards are tested before any update, and the path is one transition"),
                );
            }
            match *target {
                Node::Location(target) => leaving[branchpoint].push((target, labels.clone())),
                Node::Branchpoint(_) => {
                    context.error(
                        Diagnostic::error("an edge cannot connect two branchpoints")
                            .at(place.clone(), "leads from a branchpoint to a branchpoint"),
                    );
                }
            }
        }
        let mut edges = Vec::new();
        let mut repeated = 0_usize;
        for (source, target, labels, span) in self.edges {
            let Node::Location(source) = source else { continue };
            match target {
                Node::Location(target) => edges.push(edge(source, target, labels, span)),
                Node::Branchpoint(branchpoint) => {
                    let ways = &leaving[branchpoint];
                    if ways.is_empty() {
                        context.error(
                            Diagnostic::error("no edge leaves this branchpoint")
                                .at(self.branchpoints[branchpoint].clone(), "leads nowhere"),
                        );
                    }
                    for (target, more) in ways {
                        repeated = repeated.saturating_add(1 + labels.size + more.size);
                        if repeated > REPEATED {
                            break;
                        }
                        match joined(labels.clone(), more) {
                            Ok(labels) => edges.push(edge(source, *target, labels, span.clone())),
                            Err(second) => {
                                context.error(
                                    Diagnostic::error(
                                        "a path through a branchpoint can synchronise only once",
                                    )
                                    .at(second, "the edge that leads into the branchpoint does already"),
                                );
                                break;
                            }
                        }
                    }
                }
            }
        }
        if repeated > REPEATED {
            context.error(
                Diagnostic::error("there are too many paths through the branchpoints of this template")
                    .at(self.name.span.clone(), "too large"),
            );
        }
        Template {
            name: self.name,
            parameters: self.parameters,
            declarations: self.declarations,
            locations: self.locations,
            initial: self.initial,
            edges,
            span,
        }
    }
}

/// The labels of a path through a branchpoint, or the place of its second synchronisation.
fn joined(mut labels: Labels, more: &Labels) -> Result<Labels, Range<usize>> {
    labels.select.extend(more.select.iter().cloned());
    labels.guard = match (labels.guard, &more.guard) {
        (Some(first), Some(second)) => {
            let span = first.span.clone();
            let kind = ExpressionKind::Binary(Binary::And, Box::new(first), Box::new(second.clone()));
            Some(Expression { kind, span })
        }
        (first, second) => first.or_else(|| second.clone()),
    };
    labels.sync = match (labels.sync, &more.sync) {
        (Some(_), Some(second)) => return Err(second.span.clone()),
        (first, second) => first.or_else(|| second.clone()),
    };
    labels.update.extend(more.update.iter().cloned());
    Ok(labels)
}

fn edge(source: usize, target: usize, labels: Labels, span: Range<usize>) -> Edge {
    let Labels { select, guard, sync, update, size: _ } = labels;
    Edge { source, target, select, guard, sync, update, span }
}
