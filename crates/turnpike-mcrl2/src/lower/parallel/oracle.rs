//! Compares the steps of random operator trees with the definition of the operators on concrete
//! data.
//!
//! Data is a number, or a variable that is 0 or 1. For each valuation, the vectors whose conditions
//! hold must be those of the definition.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::alphabet::{Bag, MOST_BAGS, bag};
use super::composition::Composition;
use super::operator_tree::{Node, Skeleton};
use super::summands::Layout;
use super::vectors::Vector;
use crate::lower::{ActionInstance, Automaton, Edge, Goto, Location, Step, Update};
use crate::syntax::{Span, Symbol};
use crate::typed::expression::{self, Substitution};
use crate::typed::{Expression, ExpressionId, Program, SortId, VariableId};

/// A concrete step: its edges, and its actions with their data.
type Concrete = (Vec<(u32, u32)>, Vec<(Symbol, u8)>);

/// The data of an action: a number, or the variable of its edge.
#[derive(Clone, Copy, Debug)]
enum Data {
    Number(u8),
    Variable,
}

#[derive(Clone, Debug)]
enum Shape {
    /// The edges of an automaton: actions with names and data. The number is that of edges that
    /// terminate.
    Leaf(Vec<Vec<(usize, Data)>>, usize),
    Parallel(Vec<Shape>),
    Comm(usize, Box<Shape>),
    Allow(Vec<Vec<usize>>, Box<Shape>),
    Block(Vec<usize>, Box<Shape>),
    Hide(Vec<usize>, Box<Shape>),
    Rename(Vec<(usize, usize)>, Box<Shape>),
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Left sides and results, as indices of names.
const RULES: [&[(&[usize], usize)]; 7] = [
    &[(&[0, 1], 2)],
    &[(&[0, 0], 2)],
    &[(&[0, 1], 2), (&[3, 3], 4)],
    &[(&[0, 1, 3], 4)],
    &[(&[0, 0, 1], 3)],
    &[(&[0, 1], 0)],
    &[(&[2, 3], 0), (&[0, 1], 2)],
];

fn leaf() -> impl Strategy<Value = Shape> {
    let data = prop_oneof![(0..2_u8).prop_map(Data::Number), Just(Data::Variable)];
    let actions = prop::collection::vec((0..NAMES.len(), data), 0..3);
    (prop::collection::vec(actions, 1..3), 0..3_usize).prop_map(|(edges, ends)| Shape::Leaf(edges, ends))
}

fn shape() -> impl Strategy<Value = Shape> {
    let name = 0..NAMES.len();
    leaf().prop_recursive(5, 24, 3, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let names = prop::collection::vec(name.clone(), 0..3);
        let bags = prop::collection::vec(prop::collection::vec(name.clone(), 1..4), 0..7);
        let renamings = prop::collection::btree_map(name.clone(), name.clone(), 0..3);
        let renamings = renamings.prop_map(|all| all.into_iter().collect::<Vec<_>>());
        prop_oneof![
            4 => prop::collection::vec(inner, 2..4).prop_map(Shape::Parallel),
            3 => (0..RULES.len(), boxed.clone()).prop_map(|(rules, body)| Shape::Comm(rules, body)),
            3 => (bags, boxed.clone()).prop_map(|(bags, body)| Shape::Allow(bags, body)),
            1 => (names.clone(), boxed.clone()).prop_map(|(names, body)| Shape::Block(names, body)),
            1 => (names, boxed.clone()).prop_map(|(names, body)| Shape::Hide(names, body)),
            1 => (renamings, boxed).prop_map(|(pairs, body)| Shape::Rename(pairs, body)),
        ]
    })
}

/// Several operators around parallel components, through which filters are passed down.
fn stack() -> impl Strategy<Value = Shape> {
    let name = 0..NAMES.len();
    let operator = prop_oneof![
        3 => (0..RULES.len()).prop_map(Operator::Comm),
        3 => prop::collection::vec(prop::collection::vec(name.clone(), 1..3), 0..5).prop_map(Operator::Allow),
        1 => prop::collection::vec(name.clone(), 1..3).prop_map(Operator::Block),
        2 => prop::collection::vec(name.clone(), 1..3).prop_map(Operator::Hide),
        1 => prop::collection::btree_map(name.clone(), name, 1..3)
            .prop_map(|all| Operator::Rename(all.into_iter().collect())),
    ];
    let operators = prop::collection::vec(operator, 1..6);
    let body = prop::collection::vec(leaf(), 2..4).prop_map(Shape::Parallel);
    (operators, body).prop_map(|(operators, body)| {
        operators.into_iter().fold(body, |body, operator| {
            let body = Box::new(body);
            match operator {
                Operator::Comm(rules) => Shape::Comm(rules, body),
                Operator::Allow(bags) => Shape::Allow(bags, body),
                Operator::Block(names) => Shape::Block(names, body),
                Operator::Hide(names) => Shape::Hide(names, body),
                Operator::Rename(pairs) => Shape::Rename(pairs, body),
            }
        })
    })
}

#[derive(Clone, Debug)]
enum Operator {
    Comm(usize),
    Allow(Vec<Vec<usize>>),
    Block(Vec<usize>),
    Hide(Vec<usize>),
    Rename(Vec<(usize, usize)>),
}

struct World {
    program: Program,
    skeleton: Skeleton,
    names: Vec<Symbol>,
    variables: Vec<VariableId>,
}

impl World {
    fn new(shape: &Shape) -> World {
        let mut program = Program::default();
        let names = NAMES.iter().map(|name| program.words.intern(name)).collect();
        let mut world = World { program, skeleton: Skeleton::default(), names, variables: Vec::new() };
        world.add(shape);
        world
    }

    fn composition(&mut self) -> Composition {
        Composition::new(&mut self.program, self.skeleton.clone(), Layout::default())
    }

    fn bag(&self, names: &[usize]) -> Bag {
        bag(&names.iter().map(|&name| self.names[name]).collect::<Vec<_>>())
    }

    fn data(&mut self, data: Data, variable: VariableId) -> ExpressionId {
        match data {
            Data::Number(number) => {
                let digits = Expression::Number(self.program.words.intern(&number.to_string()));
                self.program.add_expression(digits, SortId::NAT, Span::default())
            }
            Data::Variable => expression::variable(&mut self.program, variable),
        }
    }

    fn edge(&mut self, actions: Option<&[(usize, Data)]>) -> Edge {
        let mut variables = Vec::new();
        let what = match actions {
            None => Step::Terminate,
            Some(actions) => {
                let name = self.program.words.intern("x");
                let variable = self.program.add_variable(name, SortId::NAT, Span::default());
                if actions.iter().any(|(_, data)| matches!(data, Data::Variable)) {
                    self.variables.push(variable);
                    variables.push(variable);
                }
                let instance = |&(name, data): &(usize, Data)| ActionInstance {
                    name: self.names[name],
                    arguments: vec![self.data(data, variable)],
                };
                // A plain loop, because both names and program are borrowed.
                let mut instance = instance;
                Step::Actions(actions.iter().map(&mut instance).collect())
            }
        };
        let target = Update::Go { location: Goto::Local(0), assignments: Vec::new() };
        let (conditions, span) = (Vec::new(), Span::default());
        Edge { from: 0, variables, conditions, what, time: None, distribution: None, target, span }
    }

    fn add(&mut self, shape: &Shape) -> usize {
        let node = match shape {
            Shape::Leaf(edges, ends) => {
                let mut all: Vec<Edge> = edges.iter().map(|actions| self.edge(Some(actions))).collect();
                all.extend((0..*ends).map(|_| self.edge(None)));
                self.skeleton.components.push(Automaton {
                    name: "P".to_owned(),
                    variables: Vec::new(),
                    locations: vec![Location { text: String::new(), live: Vec::new() }],
                    edges: all,
                    initial_distribution: None,
                    initial: Update::Go { location: Goto::Local(0), assignments: Vec::new() },
                });
                Node::Leaf(self.skeleton.components.len() - 1)
            }
            Shape::Parallel(operands) => {
                Node::Parallel(operands.iter().map(|operand| self.add(operand)).collect())
            }
            Shape::Comm(rules, body) => {
                let body = self.add(body);
                let rules = RULES[*rules].iter().map(|(left, result)| (self.bag(left), self.names[*result]));
                Node::Comm(rules.collect(), body)
            }
            Shape::Allow(bags, body) => {
                let body = self.add(body);
                let mut bags: Vec<Bag> = bags.iter().map(|names| self.bag(names)).collect();
                bags.sort_unstable();
                bags.dedup();
                Node::Allow(bags, body)
            }
            Shape::Block(names, body) => {
                let body = self.add(body);
                Node::Block(self.bag(names), body)
            }
            Shape::Hide(names, body) => {
                let body = self.add(body);
                Node::Hide(self.bag(names), body)
            }
            Shape::Rename(pairs, body) => {
                let body = self.add(body);
                let pairs = pairs.iter().map(|&(old, new)| (self.names[old], self.names[new]));
                Node::Rename(pairs.collect(), body)
            }
        };
        self.skeleton.nodes.push(node);
        self.skeleton.nodes.len() - 1
    }

    fn number(&mut self, id: ExpressionId, values: &Substitution) -> u8 {
        let closed = expression::substitute(&mut self.program, id, values);
        match self.program.expression(closed) {
            Expression::Number(digits) => self.program.text(*digits).parse().expect("a digit"),
            other => panic!("not a number: {other:?}"),
        }
    }

    /// The steps by definition.
    fn defined(&mut self, node: usize, values: &Substitution) -> (Vec<Concrete>, Vec<Vec<(u32, u32)>>) {
        match self.skeleton.nodes[node].clone() {
            Node::Leaf(component) => {
                let (mut steps, mut ends) = (Vec::new(), Vec::new());
                for (index, edge) in self.skeleton.components[component].edges.clone().iter().enumerate() {
                    let edges = vec![(component as u32, index as u32)];
                    match &edge.what {
                        Step::Terminate => ends.push(edges),
                        Step::Actions(actions) => {
                            let actions = actions
                                .iter()
                                .map(|action| (action.name, self.number(action.arguments[0], values)))
                                .collect();
                            steps.push((edges, actions));
                        }
                    }
                }
                (steps, ends)
            }
            Node::Parallel(operands) => {
                let mut all = self.defined(operands[0], values);
                for &operand in &operands[1..] {
                    let (steps, ends) = self.defined(operand, values);
                    let joint: Vec<Concrete> = all
                        .0
                        .iter()
                        .flat_map(|one| {
                            steps.iter().map(move |other| {
                                ([&one.0[..], &other.0].concat(), [&one.1[..], &other.1].concat())
                            })
                        })
                        .collect();
                    all.0.extend(steps);
                    all.0.extend(joint);
                    let both =
                        all.1.iter().flat_map(|one| ends.iter().map(move |other| [&one[..], other].concat()));
                    all.1 = both.collect();
                }
                all
            }
            Node::Comm(rules, body) => {
                let (steps, ends) = self.defined(body, values);
                let communicated = steps.into_iter().map(|(edges, actions)| (edges, gamma(&rules, &actions)));
                (communicated.collect(), ends)
            }
            Node::Allow(bags, body) => {
                let (mut steps, ends) = self.defined(body, values);
                steps.retain(|(_, actions)| {
                    let names: Vec<Symbol> = actions.iter().map(|one| one.0).collect();
                    names.is_empty() || bags.contains(&bag(&names))
                });
                (steps, ends)
            }
            Node::Block(names, body) => {
                let (mut steps, ends) = self.defined(body, values);
                steps.retain(|(_, actions)| !actions.iter().any(|one| names.contains(&one.0)));
                (steps, ends)
            }
            Node::Hide(names, body) => {
                let (mut steps, ends) = self.defined(body, values);
                steps.iter_mut().for_each(|(_, actions)| actions.retain(|one| !names.contains(&one.0)));
                (steps, ends)
            }
            Node::Rename(pairs, body) => {
                let (mut steps, ends) = self.defined(body, values);
                for action in steps.iter_mut().flat_map(|(_, actions)| actions) {
                    action.0 = pairs.iter().find(|pair| pair.0 == action.0).map_or(action.0, |pair| pair.1);
                }
                (steps, ends)
            }
        }
    }
}

/// Applies communications: each rule for each datum, as often as possible.
fn gamma(rules: &[(Bag, Symbol)], actions: &[(Symbol, u8)]) -> Vec<(Symbol, u8)> {
    let mut counts: BTreeMap<(Symbol, u8), usize> = BTreeMap::new();
    actions.iter().for_each(|&action| *counts.entry(action).or_default() += 1);
    let mut made = Vec::new();
    for (left, result) in rules {
        for data in 0..2 {
            let times = left
                .iter()
                .map(|&name| {
                    let needed = left.iter().filter(|&&other| other == name).count();
                    counts.get(&(name, data)).copied().unwrap_or(0) / needed
                })
                .min()
                .unwrap_or(0);
            for &name in left {
                *counts.entry((name, data)).or_default() -= times;
            }
            made.extend(std::iter::repeat_n((*result, data), times));
        }
    }
    made.extend(counts.into_iter().flat_map(|(action, count)| std::iter::repeat_n(action, count)));
    made
}

fn sorted(mut steps: Vec<Concrete>) -> Vec<Concrete> {
    for (edges, actions) in &mut steps {
        edges.sort_unstable();
        actions.sort_unstable();
    }
    steps.sort();
    steps
}

/// Asserts that the steps of a shape are those of the definition, for all values of its variables.
fn compare(shape: &Shape) -> Result<(), TestCaseError> {
    let mut world = World::new(shape);
    prop_assume!(world.variables.len() <= 8 && world.skeleton.components.len() <= 6);
    let mut composition = world.composition();
    let vectors = composition.steps(&mut world.program, None, 1_000_000).expect("few steps");
    let root = world.skeleton.nodes.len() - 1;
    for valuation in 0..1_u32 << world.variables.len() {
        let mut values = Substitution::default();
        for (index, variable) in world.variables.clone().into_iter().enumerate() {
            let number = Data::Number((valuation >> index & 1) as u8);
            values.insert(variable, world.data(number, variable));
        }
        let mut found = Vec::new();
        for vector in vectors.groups.values().flatten() {
            let holds = vector.conditions.iter().all(|&condition| {
                let closed = expression::substitute(&mut world.program, condition, &values);
                let simple = expression::simplify(&mut world.program, closed);
                match world.program.expression(simple) {
                    Expression::Bool(value) => *value,
                    other => panic!("not decided: {other:?}"),
                }
            });
            if holds {
                let actions = vector
                    .actions
                    .iter()
                    .map(|action| (action.name, world.number(action.arguments[0], &values)))
                    .collect();
                found.push((vector.edges.clone(), actions));
            }
        }
        let (expected, ends) = world.defined(root, &values);
        prop_assert_eq!(sorted(found), sorted(expected));
        let mut found: Vec<_> = vectors.ends.iter().map(|end| end.edges.clone()).collect();
        let mut ends = ends;
        found.sort();
        ends.sort();
        prop_assert_eq!(found, ends);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn steps_are_as_defined(shape in shape()) {
        compare(&shape)?;
    }

    #[test]
    fn steps_below_stacks_of_operators_are_as_defined(shape in stack(), most in 1..20_usize) {
        compare(&shape)?;
        // The same if there are too many relevant multisets to enumerate.
        MOST_BAGS.set(most);
        let outcome = compare(&shape);
        MOST_BAGS.set(50_000);
        outcome?;
    }

    /// The steps of some edges are the steps of the whole that consist only of these edges,
    /// independently of earlier calls.
    #[test]
    fn steps_of_given_edges_are_part_of_the_whole(
        shape in shape(),
        chosen in prop::collection::vec(prop::collection::vec(any::<u8>(), 8), 4),
    ) {
        let mut world = World::new(&shape);
        let components = world.skeleton.components.len();
        prop_assume!(components <= 8);
        let mut composition = world.composition();
        let whole = composition.steps(&mut world.program, None, 1_000_000).expect("few steps");
        let whole = composition.in_order(whole);
        for masks in chosen {
            let sets: Vec<Vec<u32>> = world.skeleton.components.iter().zip(&masks).map(|(component, mask)| {
                (0..component.edges.len() as u32).filter(|edge| mask >> edge & 1 == 1).collect()
            }).collect();
            let numbers: Vec<u32> =
                sets.iter().enumerate().map(|(component, edges)| composition.set(component, edges)).collect();
            let found = composition.steps(&mut world.program, Some(&numbers), 1_000_000).expect("few steps");
            let found = composition.in_order(found);
            let inside = |(vector, _): &&(Vector, Option<Symbol>)| {
                vector.edges.iter().all(|&(component, edge)| sets[component as usize].contains(&edge))
            };
            let expected: Vec<_> = whole.iter().filter(inside).collect();
            let text = |(vector, end): &(Vector, Option<Symbol>)| {
                let text = |&id: &ExpressionId| expression::text(&world.program, id);
                let actions: Vec<_> = vector.actions.iter().map(|one| (one.name, text(&one.arguments[0]))).collect();
                let conditions: Vec<_> = vector.conditions.iter().map(text).collect();
                (vector.edges.clone(), actions, conditions, *end)
            };
            let found: Vec<_> = found.iter().map(text).collect();
            let expected: Vec<_> = expected.into_iter().map(text).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
