//! Checks formulas, pushes negations inwards and unfolds regular formulas, all in one pass.

use turnpike_model::diagnostic::Diagnostic;
use turnpike_model::formula::{ANY_ACTION, FixedPoint, Formula, Node, NodeId};

use super::checker::{Assumed, Checker};
use super::distribute::distribute;
use super::names::{Meaning, NameIndex};
use crate::syntax::formula::{Action, Connective, FormulaFile, Regular, RegularKind, State, StateKind};
use crate::syntax::{Binder, DataId, Name, Span, Symbol, Tree, Variable};
use crate::typed::expression;
use crate::typed::formula::{ActionFormula, BoundVariables, TypedFormula, rank};
use crate::typed::{Expression, ExpressionId, Program, SortId, VariableId};

impl Program {
    /// Type-checks a formula as part of this program. If `open`, undeclared actions are added to
    /// the program.
    ///
    /// # Errors
    /// Positions in the diagnostics refer to the text of the formula.
    pub fn check_formula(&mut self, file: &FormulaFile, open: bool) -> Result<TypedFormula, Vec<Diagnostic>> {
        let (checker, draft, root) = build(std::mem::take(self), file, open);
        *self = checker.program;
        match root {
            Some(root) if checker.errors == 0 => {
                let mut typed = draft.finish(self, root);
                typed.assumed = checker.assumed.map(|assumed| assumed.names).unwrap_or_default();
                Ok(typed)
            }
            _ => Err(checker.diagnostics),
        }
    }

    /// Type-checks a formula and resolves its names as far as possible, for editors. Variables of
    /// the formula follow those of the program. All positions refer to the text of the formula.
    pub fn index_formula(self, file: &FormulaFile) -> NameIndex {
        let (checker, draft, _) = build(self, file, false);
        let mut uses = draft.named_actions;
        checker.index_data(&mut uses);
        let Checker { program, diagnostics, .. } = checker;
        NameIndex { program, uses, diagnostics }
    }
}

/// Checks a formula as part of a program. There is no root after an error.
fn build(program: Program, file: &FormulaFile, open: bool) -> (Checker<'_>, Draft, Option<NodeId>) {
    let mut checker = Checker::new(&file.tree, program);
    let declared = checker.program.actions.len();
    checker.assumed = open.then(|| Assumed { declared, names: Vec::new() });
    for (index, action) in checker.program.actions.iter().enumerate() {
        let id = crate::typed::ActionId::new(index);
        checker.actions.entry(action.name).or_default().push(id);
    }
    checker.program.globals.clone().into_iter().for_each(|variable| checker.bind(variable));
    let mut builder = Builder { checker, draft: Draft::default(), fixed: Vec::new(), tree: &file.tree };
    let root = builder.state(&file.formula, true, 0);
    (builder.checker, builder.draft, root)
}

/// The formula under construction.
#[derive(Default)]
struct Draft {
    nodes: Vec<Node>,
    points: Vec<FixedPoint>,
    levels: Vec<usize>,
    variables: Vec<VariableId>,
    conditions: Vec<ExpressionId>,
    actions: Vec<ActionFormula>,
    arguments: Vec<Box<[ExpressionId]>>,
    quantifiers: Vec<BoundVariables>,
    action_names: Vec<(String, std::ops::Range<usize>)>,
    /// The meanings of action names, by position.
    named_actions: Vec<(Span, Meaning)>,
}

/// A fixed point in scope.
struct Fixed {
    name: Symbol,
    point: u32,
    /// Whether it is bound under an even number of negations.
    positive: bool,
    parameters: Box<[VariableId]>,
}

struct Builder<'a> {
    checker: Checker<'a>,
    draft: Draft,
    fixed: Vec<Fixed>,
    tree: &'a Tree,
}

impl Draft {
    fn node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn junction(&mut self, all: bool, mut parts: Vec<NodeId>) -> NodeId {
        let is = |part: NodeId, value: bool| self.nodes[part as usize] == Node::Constant(value);
        if let Some(&decided) = parts.iter().find(|&&part| is(part, !all)) {
            return decided;
        }
        if parts.iter().any(|&part| !is(part, all)) {
            parts.retain(|&part| !is(part, all));
        }
        if let [only] = parts[..] {
            return only;
        }
        self.node(Node::Junction { all, parts: parts.into() })
    }

    fn slots(&mut self, variables: &[VariableId]) -> Box<[u32]> {
        let first = self.variables.len() as u32;
        self.variables.extend_from_slice(variables);
        (first..self.variables.len() as u32).collect()
    }

    fn call(&mut self, point: u32, arguments: Box<[ExpressionId]>) -> NodeId {
        self.arguments.push(arguments);
        let arguments = self.arguments.len() as u32 - 1;
        self.node(Node::Call { point, arguments })
    }

    /// Adds a fixed point without its body.
    fn point(&mut self, name: String, least: bool, parameters: Box<[u32]>, level: usize) -> u32 {
        self.points.push(FixedPoint { name, least, parameters, body: 0, rank: 0 });
        self.levels.push(level);
        self.points.len() as u32 - 1
    }

    fn finish(self, program: &mut Program, root: NodeId) -> TypedFormula {
        let Draft { nodes, points, mut levels, variables, conditions, actions, arguments, .. } = self;
        let slots_of = |all: &[VariableId]| -> Box<[u32]> {
            let place = |one: &VariableId| variables.iter().position(|other| other == one);
            all.iter().filter_map(place).map(|slot| slot as u32).collect()
        };
        let quantifiers = self.quantifiers.iter().map(|one| slots_of(&one.variables)).collect();
        let slots = variables.len();
        let mut graph = Formula { nodes, points, quantifiers, root, slots, live: Vec::new() };
        rank(&mut graph, &levels);
        let quantifiers = self.quantifiers;
        let action_names = self.action_names;
        let assumed = Vec::new();
        let mut typed = TypedFormula {
            graph,
            variables,
            conditions,
            actions,
            arguments,
            quantifiers,
            action_names,
            assumed,
        };
        typed.graph.live = super::liveness::live_slots(program, &typed);
        distribute(program, &mut typed, &mut levels);
        rank(&mut typed.graph, &levels);
        typed.graph.live = super::liveness::live_slots(program, &typed);
        typed
    }
}

impl Builder<'_> {
    /// Builds a formula or its negation; `None` after an error.
    fn state(&mut self, state: &State, positive: bool, level: usize) -> Option<NodeId> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &state.kind {
            StateKind::Data(condition) => self.condition(*condition, positive),
            StateKind::Not(body) => self.state(body, !positive, level),
            StateKind::Binary(connective, left, right) => {
                let left = self.state(left, positive != (*connective == Connective::Implies), level);
                let right = self.state(right, positive, level);
                let all = (*connective == Connective::And) == positive;
                Some(self.draft.junction(all, vec![left?, right?]))
            }
            StateKind::Quantifier { .. } => self.quantifier(state, positive, level),
            StateKind::Modality { all, regular, body } => {
                let inner = level + 1 + stars(regular);
                let body = self.state(body, positive, inner);
                let all = *all == positive;
                let unfolded = self.regular(all, regular, body.unwrap_or(0), level);
                // `[R]true` and `<R>false` do not depend on R.
                match self.draft.nodes[body? as usize] {
                    Node::Constant(value) if value == all => unfolded.and(body),
                    _ => unfolded,
                }
            }
            StateKind::FixedPoint { least, name, parameters, body } => {
                self.fixed_point((*least, *name), parameters, body, positive, level)
            }
            StateKind::Call { name, arguments } => self.call(*name, arguments, positive, state.span),
        })
    }

    fn condition(&mut self, condition: DataId, expected: bool) -> Option<NodeId> {
        let condition = self.checker.check(condition, SortId::BOOL, "this condition")?;
        if let Expression::Bool(value) = *self.checker.program.expression(condition) {
            return Some(self.draft.node(Node::Constant(value == expected)));
        }
        self.draft.conditions.push(condition);
        let condition = self.draft.conditions.len() as u32 - 1;
        Some(self.draft.node(Node::Condition { condition, expected }))
    }

    /// Nested quantifiers of the same kind are merged. Those without modalities become conditions.
    fn quantifier(&mut self, state: &State, positive: bool, level: usize) -> Option<NodeId> {
        if is_data(state) {
            let condition = self.data(state)?;
            self.draft.conditions.push(condition);
            let condition = self.draft.conditions.len() as u32 - 1;
            return Some(self.draft.node(Node::Condition { condition, expected: positive }));
        }
        let mark = self.checker.mark();
        let StateKind::Quantifier { all, .. } = &state.kind else { return None };
        let (mut variables, mut inner) = (Vec::new(), state);
        while let StateKind::Quantifier { all: other, variables: more, body } = &inner.kind
            && all == other
            && !is_data(inner)
        {
            let declared = self.declare(more);
            variables.extend_from_slice(&declared);
            inner = body;
        }
        self.draft.slots(&variables);
        let body = self.state(inner, positive, level);
        self.checker.unbind(mark);
        if let Node::Constant(_) = self.draft.nodes[body? as usize] {
            return body;
        }
        let quantifier = self.draft.quantifiers.len() as u32;
        let node = self.draft.node(Node::Quantifier { all: *all == positive, quantifier, body: body? });
        let place = state.span.range();
        self.draft.quantifiers.push(BoundVariables { variables: variables.into(), node, place });
        Some(node)
    }

    fn declare(&mut self, variables: &[Variable]) -> Box<[VariableId]> {
        let declared = self.checker.declare_variables(variables);
        declared.iter().for_each(|&variable| self.checker.bind(variable));
        declared
    }

    /// Converts a formula without modalities and fixed points to one expression.
    fn data(&mut self, state: &State) -> Option<ExpressionId> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &state.kind {
            StateKind::Data(condition) => self.checker.check(*condition, SortId::BOOL, "this condition"),
            StateKind::Not(body) => {
                let body = self.data(body)?;
                Some(expression::not(&mut self.checker.program, body))
            }
            StateKind::Binary(connective, left, right) => {
                let (left, right) = (self.data(left), self.data(right));
                let (mut left, right) = (left?, right?);
                let program = &mut self.checker.program;
                if *connective == Connective::Implies {
                    left = expression::not(program, left);
                }
                Some(match connective {
                    Connective::And => expression::all(program, &[left, right]),
                    _ => expression::any(program, &[left, right]),
                })
            }
            StateKind::Quantifier { all, variables, body } => {
                let mark = self.checker.mark();
                let variables = self.declare(variables);
                let body = self.data(body);
                self.checker.unbind(mark);
                Some(self.bind_in_data(*all, variables, body?, state.span))
            }
            _ => None,
        })
    }

    fn bind_in_data(
        &mut self,
        all: bool,
        variables: Box<[VariableId]>,
        body: ExpressionId,
        span: Span,
    ) -> ExpressionId {
        let binder = if all { Binder::Forall } else { Binder::Exists };
        let whole = Expression::Binder { binder, variables, body };
        self.checker.program.add_expression(whole, SortId::BOOL, span)
    }

    fn fixed_point(
        &mut self,
        (least, name): (bool, Name),
        parameters: &[(Variable, DataId)],
        body: &State,
        positive: bool,
        level: usize,
    ) -> Option<NodeId> {
        let declared: Vec<Variable> = parameters.iter().map(|one| one.0).collect();
        let variables = self.checker.declare_variables(&declared);
        // Initial values do not see the names that are bound here.
        let initial: Vec<Option<ExpressionId>> = parameters
            .iter()
            .zip(&variables)
            .map(|(&(_, value), &variable)| {
                let sort = self.checker.program.variable(variable).sort;
                self.checker.check(value, sort, "the first value of this parameter")
            })
            .collect();
        let mark = self.checker.mark();
        variables.iter().for_each(|&variable| self.checker.bind(variable));
        let slots = self.draft.slots(&variables);
        let text = self.tree.text(name.symbol).to_owned();
        let point = self.draft.point(text, least == positive, slots, level);
        self.fixed.push(Fixed { name: name.symbol, point, positive, parameters: variables });
        let body = self.state(body, positive, level + 1);
        self.fixed.pop();
        self.checker.unbind(mark);
        self.draft.points[point as usize].body = body?;
        let initial = initial.into_iter().collect::<Option<_>>()?;
        Some(self.draft.call(point, initial))
    }

    fn call(&mut self, name: Name, arguments: &[DataId], positive: bool, span: Span) -> Option<NodeId> {
        let text = self.tree.text(name.symbol).to_owned();
        let fixed = self.fixed.iter().rev().find(|one| one.name == name.symbol)?;
        let (point, same, parameters) = (fixed.point, fixed.positive == positive, fixed.parameters.clone());
        if !same {
            let message = format!("{text} occurs under an odd number of negations");
            let help = "a fixed point exists only if its variable is not negated; `=>` negates its left side";
            self.checker.error_with_help(span, message, help);
            return None;
        }
        if parameters.len() != arguments.len() {
            let expected = super::messages::count(parameters.len(), "argument");
            self.checker.error(span, format!("{text} takes {expected}, not {}", arguments.len()));
            return None;
        }
        let mut typed = Vec::new();
        for (&argument, &parameter) in arguments.iter().zip(&parameters) {
            let sort = self.checker.program.variable(parameter).sort;
            let what = match arguments.len() {
                1 => format!("the argument of {text}"),
                _ => format!("argument {} of {text}", typed.len() + 1),
            };
            typed.push(self.checker.check(argument, sort, &what));
        }
        let typed = typed.into_iter().collect::<Option<_>>()?;
        Some(self.draft.call(point, typed))
    }

    /// Builds `[R]F` or `<R>F` for a body that has been built.
    fn regular(&mut self, all: bool, regular: &Regular, body: NodeId, level: usize) -> Option<NodeId> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &regular.kind {
            RegularKind::Action(action) => {
                let typed = self.action(action)?;
                if let ActionFormula::Data(condition) = typed
                    && let Expression::Bool(value) = *self.checker.program.expression(condition)
                {
                    return Some(match value {
                        true => self.draft.node(Node::Modality { all, action: ANY_ACTION, body }),
                        false => self.draft.node(Node::Constant(all)),
                    });
                }
                self.draft.actions.push(typed);
                let action = self.draft.actions.len() as u32 - 1;
                Some(self.draft.node(Node::Modality { all, action, body }))
            }
            RegularKind::Sequence(first, second) => {
                let rest = self.regular(all, second, body, level);
                let whole = self.regular(all, first, rest.unwrap_or(0), level);
                rest.and(whole)
            }
            RegularKind::Choice(left, right) => {
                let left = self.regular(all, left, body, level);
                let right = self.regular(all, right, body, level);
                Some(self.draft.junction(all, vec![left?, right?]))
            }
            RegularKind::Star(repeated) => {
                // [R*]F = nu X. F && [R]X
                let point = self.draft.point(String::new(), !all, Box::default(), level);
                let again = self.draft.call(point, Box::default());
                let step = self.regular(all, repeated, again, level + 1)?;
                self.draft.points[point as usize].body = self.draft.junction(all, vec![body, step]);
                Some(self.draft.call(point, Box::default()))
            }
            RegularKind::Plus(repeated) => {
                // [R+]F = nu X. [R](F && X)
                let point = self.draft.point(String::new(), !all, Box::default(), level);
                let again = self.draft.call(point, Box::default());
                let after = self.draft.junction(all, vec![body, again]);
                let step = self.regular(all, repeated, after, level + 1)?;
                self.draft.points[point as usize].body = step;
                Some(self.draft.call(point, Box::default()))
            }
        })
    }

    fn action(&mut self, action: &Action) -> Option<ActionFormula> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match action {
            Action::Data(condition) => {
                let condition = self.checker.check(*condition, SortId::BOOL, "this condition")?;
                Some(ActionFormula::Data(condition))
            }
            Action::Multi(actions) => self.multi_action(actions),
            Action::Not(body) => Some(ActionFormula::Not(Box::new(self.action(body)?))),
            Action::Binary(connective, left, right) => {
                let (left, right) = (self.action(left), self.action(right));
                let (mut left, right) = (left?, right?);
                if *connective == Connective::Implies {
                    left = ActionFormula::Not(Box::new(left));
                }
                let all = *connective == Connective::And;
                Some(ActionFormula::Junction { all, parts: Box::new([left, right]) })
            }
            Action::Quantifier { all, variables, body } => {
                let mark = self.checker.mark();
                let variables = self.declare(variables);
                let body = self.action(body);
                self.checker.unbind(mark);
                Some(ActionFormula::Quantifier { all: *all, variables, body: Box::new(body?) })
            }
        })
    }

    fn multi_action(&mut self, actions: &[(Name, Box<[DataId]>)]) -> Option<ActionFormula> {
        if let [(name, arguments)] = actions
            && arguments.is_empty()
            && self.checker.variable(self.checker.word(name.symbol)).is_some()
            && !self.checker.actions.contains_key(&self.checker.word(name.symbol))
        {
            let variable = self.checker.variable(self.checker.word(name.symbol))?;
            return self.boolean_variable(variable, name.span);
        }
        let mut typed = Vec::new();
        for (name, arguments) in actions {
            let checked = self.checker.check_formula_action(*name, arguments);
            let found = checked.as_ref().map(|one| (name.span, Meaning::Action(one.0)));
            let found = found.or_else(|| self.checker.leaf(name, arguments.len()));
            self.draft.named_actions.extend(found);
            let text = self.tree.text(name.symbol).to_owned();
            self.draft.action_names.push((text, name.span.range()));
            typed.push(checked);
        }
        Some(ActionFormula::Multi(typed.into_iter().collect::<Option<_>>()?))
    }

    /// Handles a variable among actions: all actions if it is true.
    fn boolean_variable(&mut self, variable: VariableId, span: Span) -> Option<ActionFormula> {
        self.draft.named_actions.push((span, Meaning::Variable(variable)));
        let sort = self.checker.program.variable(variable).sort;
        if sort != SortId::BOOL {
            let message = format!(
                "this must be an action or a condition, but has sort {}",
                self.checker.sort_text(sort)
            );
            self.checker.error(span, message);
            return None;
        }
        Some(ActionFormula::Data(expression::variable(&mut self.checker.program, variable)))
    }
}

/// Whether a formula only contains data.
fn is_data(state: &State) -> bool {
    match &state.kind {
        StateKind::Data(_) => true,
        StateKind::Not(body) | StateKind::Quantifier { body, .. } => is_data(body),
        StateKind::Binary(_, left, right) => is_data(left) && is_data(right),
        StateKind::Modality { .. } | StateKind::FixedPoint { .. } | StateKind::Call { .. } => false,
    }
}

/// The number of repetitions in a regular formula, each of which needs a fixed point.
fn stars(regular: &Regular) -> usize {
    match &regular.kind {
        RegularKind::Action(_) => 0,
        RegularKind::Sequence(left, right) | RegularKind::Choice(left, right) => stars(left) + stars(right),
        RegularKind::Star(body) | RegularKind::Plus(body) => 1 + stars(body),
    }
}
