//! Locations and edges of a process: one edge for each choice of a `select`.

use turnpike_model::Diagnostic;

use crate::network::{Constraint, Edge, Expression, Location, LocationId, Process, Sync};
use crate::syntax::uppaal::tree::{self, ExpressionKind, StatementKind};
use crate::typed::conditions::Role;
use crate::typed::types::{Class, Type};
use crate::typed::{Checker, Entity, Frame, Lvalue, Named, Operand, Outcome, Purpose};

/// Limit on the edges that one `select` expands to.
const MOST_CHOICES: u64 = 1 << 16;

/// Limit on all edges together.
const MOST_EDGES: u64 = 1 << 20;

impl Checker<'_> {
    /// Locations with their invariants.
    pub(crate) fn locations(&mut self, template: &tree::Template, process: &mut Process) {
        for location in &template.locations {
            self.rates.clear();
            let invariant = match &location.invariant {
                None => Constraint::default(),
                Some(invariant) => match self.constraint(invariant, Role::Invariant) {
                    Ok(Some(constraint)) => constraint,
                    // The invariant can never hold.
                    Ok(None) => Constraint { data: vec![Expression::Constant(0)], clocks: Vec::new() },
                    Err(error) => {
                        self.note(error);
                        Constraint::default()
                    }
                },
            };
            process.locations.push(Location {
                name: location.name.clone(),
                invariant,
                rates: std::mem::take(&mut self.rates),
                urgent: location.urgent,
                committed: location.committed,
                labels: Vec::new(),
                place: location.span.clone(),
            });
        }
        if process.locations.is_empty() {
            // `process P() { }` has one location and stays there.
            process.locations.push(Location {
                name: "_".to_owned(),
                place: template.span.clone(),
                ..Location::default()
            });
        }
        process.initial = vec![LocationId(template.initial.unwrap_or(0) as u32)];
    }

    /// Edges in order, each with its choices in order.
    pub(crate) fn edges(&mut self, template: &tree::Template, process: &mut Process) {
        for edge in &template.edges {
            let outcome = self.within(|this| this.choices(edge, process));
            if let Err(error) = outcome {
                self.note(error);
            }
            if self.enough_errors() {
                return;
            }
        }
    }

    fn choices(&mut self, edge: &tree::Edge, process: &mut Process) -> Outcome<()> {
        let mut domains: Vec<(Type, i32, i32)> = Vec::new();
        let mut count = 1u64;
        for select in &edge.select {
            let (ty, low, high) = self.domain(&select.ty)?;
            count = count.saturating_mul((i64::from(high) - i64::from(low) + 1) as u64);
            domains.push((ty, low, high));
            let lvalue = Lvalue::constant(domains[domains.len() - 1].0.clone(), vec![low]);
            // It has no value yet, so the ranges of later variables cannot depend on it.
            self.declare(&select.name, Entity::Stored { lvalue, computable: false })?;
        }
        if count > MOST_CHOICES {
            return Err(Diagnostic::error(format!("this edge has {count} choices"))
                .at(edge.select[0].name.span.clone(), format!("at most {MOST_CHOICES} are supported"))
                .help("give the selected variables smaller ranges, or choose in several steps"));
        }
        self.choices += count;
        if self.choices > MOST_EDGES {
            return Err(Diagnostic::error("the model has too many edges once every `select` is expanded")
                .at(edge.span.clone(), format!("at most {MOST_EDGES} are supported")));
        }
        let mut values: Vec<i32> = domains.iter().map(|&(_, low, _)| low).collect();
        for _ in 0..count {
            for ((select, (ty, ..)), &value) in edge.select.iter().zip(&domains).zip(&values) {
                let lvalue = Lvalue::constant(ty.clone(), vec![value]);
                let entity = Entity::Stored { lvalue, computable: true };
                // The labels of an edge may come in any order in a file; the others see the
                // selected variables.
                let named = Named { entity, since: 0 };
                self.state.scopes[self.scope].names.insert(select.name.name.clone(), named);
            }
            self.frame = Frame { locals: Vec::new(), available: true };
            let lowered = self.edge(edge);
            self.frame = Frame::default();
            process.edges.extend(lowered?);
            for (value, &(_, low, high)) in values.iter_mut().zip(&domains).rev() {
                if *value < high {
                    *value += 1;
                    break;
                }
                *value = low;
            }
        }
        Ok(())
    }

    /// One choice of an edge; `None` if it can never be taken.
    fn edge(&mut self, edge: &tree::Edge) -> Outcome<Option<Edge>> {
        let guard = match &edge.guard {
            None => Constraint::default(),
            Some(guard) => match self.constraint(guard, Role::Guard)? {
                Some(constraint) => constraint,
                None => {
                    self.mention(edge);
                    return Ok(None);
                }
            },
        };
        let sync = match &edge.sync {
            None => Sync::Internal,
            Some(sync) => self.sync(sync)?,
        };
        let mut update = Vec::new();
        self.expanded = 0;
        self.purpose = Purpose::Action;
        for expression in &edge.update {
            self.effect(expression, &mut update)?;
        }
        Ok(Some(Edge {
            source: LocationId(edge.source as u32),
            target: LocationId(edge.target as u32),
            sync,
            guard,
            update,
            locals: std::mem::take(&mut self.frame.locals),
            place: edge.span.clone(),
        }))
    }

    pub(crate) fn sync(&mut self, sync: &tree::Synchronisation) -> Outcome<Sync> {
        let place = &sync.channel.span;
        let operand =
            self.with_purpose(Purpose::Pure("a synchronisation"), |this| this.operand(&sync.channel))?;
        let lvalue = match operand {
            Operand::Lvalue(lvalue) if matches!(lvalue.ty, Type::Channel { .. }) => lvalue,
            Operand::Lvalue(lvalue) => {
                let error = Diagnostic::error("a channel is needed here")
                    .at(place.clone(), format!("this is {}", lvalue.ty.describe()));
                return Err(if lvalue.ty.class() == Class::Channel {
                    error.help("choose one of the channels with an index")
                } else {
                    error
                });
            }
            _ => {
                return Err(
                    Diagnostic::error("a channel is needed here").at(place.clone(), "this is not a channel")
                );
            }
        };
        if sync.direction == tree::Direction::Together {
            return self.together(&lvalue, place);
        }
        let cell = lvalue.channel();
        Ok(match sync.direction {
            tree::Direction::Send => Sync::Send(cell),
            tree::Direction::Receive | tree::Direction::Together => Sync::Receive(cell),
        })
    }
}

/// Whether a template may assign one of its parameters. The search goes by name, so the result may
/// be wrongly true; that only costs a variable.
pub(crate) fn is_assigned(template: &tree::Template, model: &tree::Model, name: &str) -> bool {
    let mut search = Search { name, template, model };
    template.edges.iter().any(|edge| edge.update.iter().any(|update| search.expression(update)))
        || template.declarations.iter().any(|declaration| match declaration {
            tree::Declaration::Function(function) => search.block(&function.body),
            _ => false,
        })
}

struct Search<'a> {
    name: &'a str,
    template: &'a tree::Template,
    model: &'a tree::Model,
}

impl Search<'_> {
    fn is_root(&self, expression: &tree::Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name(name) => name == self.name,
            ExpressionKind::Index(inner, _) | ExpressionKind::Field(inner, _) => self.is_root(inner),
            _ => false,
        }
    }

    fn all(&mut self, list: &[tree::Expression]) -> bool {
        list.iter().any(|expression| self.expression(expression))
    }

    /// Whether a function takes a reference at a position.
    fn takes_reference(&self, function: &str, position: usize) -> bool {
        self.template.declarations.iter().chain(&self.model.declarations).any(|declaration| {
            matches!(declaration, tree::Declaration::Function(found)
                if found.name.name == function && found.parameters.get(position).is_some_and(|p| p.reference))
        })
    }

    fn expression(&mut self, expression: &tree::Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Deadlock => false,
            ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
                self.expression(left) || self.expression(right)
            }
            ExpressionKind::Field(inner, _)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Quantified(_, _, _, inner)
            | ExpressionKind::Rate(inner) => self.expression(inner),
            ExpressionKind::Call(callee, arguments) => {
                if let ExpressionKind::Name(function) = &callee.kind {
                    let passed = arguments.iter().enumerate().any(|(position, argument)| {
                        self.is_root(argument) && self.takes_reference(function, position)
                    });
                    if passed {
                        return true;
                    }
                }
                self.all(arguments)
            }
            ExpressionKind::Conditional(test, yes, no) => {
                self.expression(test) || self.expression(yes) || self.expression(no)
            }
            ExpressionKind::Assign(_, target, value) => {
                self.is_root(target) || self.expression(target) || self.expression(value)
            }
            ExpressionKind::Step(_, target) => self.is_root(target) || self.expression(target),
        }
    }

    fn block(&mut self, block: &tree::Block) -> bool {
        block.declarations.iter().any(|declaration| match declaration {
            tree::Declaration::Variables(group) => group
                .variables
                .iter()
                .any(|variable| variable.initial.as_ref().is_some_and(|initial| self.initial(initial))),
            _ => false,
        }) || block.statements.iter().any(|statement| self.statement(statement))
    }

    fn initial(&mut self, initial: &tree::Initializer) -> bool {
        match initial {
            tree::Initializer::Value(value) => self.expression(value),
            tree::Initializer::List { items, .. } => items.iter().any(|(_, item)| self.initial(item)),
        }
    }

    fn statement(&mut self, statement: &tree::Statement) -> bool {
        match &statement.kind {
            StatementKind::Empty | StatementKind::Return(None) => false,
            StatementKind::Block(block) => self.block(block),
            StatementKind::Expression(expression)
            | StatementKind::Return(Some(expression))
            | StatementKind::Assert(expression) => self.expression(expression),
            StatementKind::If { condition, then, otherwise } => {
                self.all(condition)
                    || self.statement(then)
                    || otherwise.as_ref().is_some_and(|otherwise| self.statement(otherwise))
            }
            StatementKind::While { condition, body } | StatementKind::DoWhile { body, condition } => {
                self.all(condition) || self.statement(body)
            }
            StatementKind::For { initial, condition, step, body } => {
                self.all(initial) || self.all(condition) || self.all(step) || self.statement(body)
            }
            StatementKind::Iterate { body, .. } => self.statement(body),
        }
    }
}
