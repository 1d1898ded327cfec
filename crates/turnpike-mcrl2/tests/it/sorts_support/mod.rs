//! What must hold of every typed program.

use turnpike_mcrl2::typed::{Behaviour, Expression, Program, SortId};

/// Every call has arguments of exactly the sorts of its function, every conversion goes up.
pub(crate) fn well_sorted(program: &Program) {
    for id in program.expression_ids() {
        assert_ne!(program.sort_of(id), SortId::UNKNOWN);
        match program.expression(id) {
            Expression::Call { symbol, arguments } => {
                let (domain, codomain) = program.signature(*symbol);
                let found: Vec<_> = arguments.iter().map(|&one| program.sort_of(one)).collect();
                assert_eq!((domain, codomain), (&found[..], program.sort_of(id)));
            }
            Expression::Apply { function, arguments } => {
                let (domain, codomain) = program.sorts.signature(program.sort_of(*function));
                let found: Vec<_> = arguments.iter().map(|&one| program.sort_of(one)).collect();
                assert_eq!((domain, codomain), (&found[..], program.sort_of(id)));
            }
            Expression::Upcast(operand) => assert_ne!(program.sort_of(*operand), program.sort_of(id)),
            Expression::Variable(variable) => {
                assert_eq!(program.variable(*variable).sort, program.sort_of(id))
            }
            Expression::Symbol(symbol) => assert_eq!(program.symbol(*symbol).sort, program.sort_of(id)),
            _ => {}
        }
        program.expression(id).for_each_child(|child| assert!(child < id, "children come first"));
    }
    for process in &program.processes {
        assert!(process.body.is_some());
    }
    for id in program.behaviour_ids() {
        let sorts = |arguments: &[_]| arguments.iter().map(|&one| program.sort_of(one)).collect::<Vec<_>>();
        match program.behaviour(id) {
            Behaviour::Action { action, arguments } => {
                assert_eq!(&*program.action(*action).sorts, sorts(arguments));
            }
            Behaviour::Call { process, arguments } => {
                let parameters = program.process(*process).parameters.iter();
                let expected: Vec<SortId> = parameters.map(|&one| program.variable(one).sort).collect();
                assert_eq!(expected, sorts(arguments));
            }
            Behaviour::If { condition, .. } => assert_eq!(program.sort_of(*condition), SortId::BOOL),
            Behaviour::At { time, .. } => assert_eq!(program.sort_of(*time), SortId::REAL),
            Behaviour::Dist { weight, .. } => assert_eq!(program.sort_of(*weight), SortId::REAL),
            _ => {}
        }
    }
    for equation in &program.equations {
        assert_eq!(program.sort_of(equation.left), program.sort_of(equation.right));
    }
}
