//! Parallel composition: builds summands from components and the operators above them.
//!
//! The operator tree is unfolded into components (`operator_tree`), each with a name
//! (`instance_names`) and variables of its own (`fresh_variables`). From the root down, every node
//! gets the multisets of action names that can matter (`alphabet`). From the leaves up, every node
//! gets its steps (`composition`, `vectors`, `communicate`). Each step of the root becomes a
//! summand (`summands`), without the sum variables that communication determines (`one_point`).

mod alphabet;
mod closed_terms;
mod communicate;
mod composition;
mod fresh_variables;
mod instance_names;
mod one_point;
mod operator_tree;
#[cfg(test)]
mod oracle;
mod structure;
mod summands;
#[cfg(test)]
mod tests;
mod vectors;

use turnpike_model::diagnostic::Diagnostic;

pub use self::composition::{Composition, Guarded, Joint};
pub use self::structure::{Loss, Need, Structure, Ways};
use self::summands::product;
use self::vectors::TooMany;
use super::{LinearProcess, Options};
use crate::typed::Program;
use crate::typed::expression::Substitution;

pub(super) fn linearise(mut program: Program, options: &Options) -> Result<LinearProcess, Vec<Diagnostic>> {
    let mut skeleton = operator_tree::unfold(&mut program, &options.unhide)?;
    let layout = fresh_variables::parameters(&mut program, &mut skeleton.components);
    let mut composition = Composition::new(&mut program, skeleton, layout);
    let summands = match composition.steps(&mut program, None, options.limit) {
        Ok(steps) => {
            let vectors = composition.in_order(steps).into_iter();
            Some(
                vectors.filter_map(|(vector, end)| composition.summand(&mut program, &vector, end)).collect(),
            )
        }
        Err(TooMany) if options.later => None,
        Err(TooMany) => {
            let mut error = composition.too_many(&program, options.limit);
            error.message.push_str(", too many to write them out");
            error.help =
                error.help.map(|help| format!("{help}. To be explored they need not be written out"));
            return Err(vec![error]);
        }
    };
    let (components, layout) = (&composition.skeleton().components, composition.layout());
    let initial_distribution =
        product(&mut program, components.iter().filter_map(|one| one.initial_distribution.as_ref()));
    let initial = components
        .iter()
        .enumerate()
        .map(|(index, one)| layout.update(&mut program, index, &one.initial, &Substitution::default()))
        .collect();
    let parameters = layout.parameters.clone();
    let structure = composition.structure();
    let later = summands.is_none().then_some(composition);
    let summands = summands.unwrap_or_default();
    Ok(LinearProcess { program, parameters, summands, later, initial_distribution, initial, structure })
}
