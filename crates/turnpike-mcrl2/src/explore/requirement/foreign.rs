//! Labels of systems that are not mCRL2 specifications. Their texts are parsed as multi-actions
//! with data of a specification that declares their actions.

use turnpike_model::Label;
use turnpike_model::formula::DataError;

use super::Requirement;
use super::declare::{constant, decimal};
use crate::compile::evaluator::{Machine, Scope};
use crate::compile::process::{Signature, SignatureAction};
use crate::syntax::parse_data_expression;
use crate::typed::{ExpressionId, Program, SortId};

/// The signature and values of a label, as if it were one of the specification.
pub(super) fn label_words(
    requirement: &Requirement,
    machine: &mut Machine,
    label: &Label,
) -> Result<Vec<u32>, DataError> {
    let network = &requirement.model.network;
    // The declarations were derived from texts, so parse the label in the same way.
    let label = &Label::parse(&label.text);
    let unreadable = || {
        let message = format!("the label `{}` has an argument that cannot be read", label.text);
        DataError::new(message)
    };
    let (mut actions, mut words) = (Vec::new(), vec![0]);
    let mut shared = requirement.shared();
    for action in &label.actions {
        let count = action.arguments.len();
        let program = &mut *shared.program;
        let declared: Vec<Box<[SortId]>> = program
            .actions
            .iter()
            .filter(|one| one.sorts.len() == count && program.text(one.name) == action.name)
            .map(|one| one.sorts.clone())
            .collect();
        let mut fitting = declared.iter().filter_map(|sorts| {
            let typed = action.arguments.iter().zip(sorts).map(|(text, &sort)| argument(program, text, sort));
            Some((sorts.clone(), typed.collect::<Option<Vec<_>>>()?))
        });
        let (sorts, roots) = match (fitting.next(), fitting.next()) {
            (Some(only), None) => only,
            // A formula cannot mention an action that is not declared.
            (None, _) if declared.is_empty() => {
                words.resize(words.len() + count, 0);
                (vec![SortId::BOOL; count].into(), Vec::new())
            }
            _ => return Err(unreadable()),
        };
        for root in roots {
            let mut scope = Scope::default();
            let code = network.rules.compile(program, root, &mut scope);
            let base = machine.enter(scope.size());
            let value = machine.evaluate(&code, base);
            machine.leave(base);
            let value = value.map_err(|_| unreadable())?;
            words.push(machine.heap.keep(value).word());
        }
        actions.push(SignatureAction { name: action.name.clone(), sorts });
    }
    words[0] = network.signatures.number(Signature { actions, timed: false, weighted: false }).0;
    Ok(words)
}

/// Parses an argument of a label as an expression of a sort: the text itself, or the constant that
/// stands for it.
fn argument(program: &mut Program, text: &str, sort: SortId) -> Option<ExpressionId> {
    let number = decimal(text);
    [number.as_deref().unwrap_or(text), &constant(text)].into_iter().find_map(|text| {
        let (parsed, _) = parse_data_expression(text, &program.words);
        let parsed = parsed?;
        program.check_expression(&parsed.tree, parsed.root, &[], Some(sort)).ok()
    })
}
