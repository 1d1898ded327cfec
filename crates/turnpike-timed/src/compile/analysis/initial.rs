//! Checks that a network has an initial state: without one, every property holds vacuously.

use turnpike_model::Diagnostic;

use crate::evaluate::{Machine, Outcome, atom_frame_size, frame_size};
use crate::network::{Constraint, Network, Place, Process};

/// Reports a process whose initial locations all have invariants that fail when all clocks are
/// zero.
pub fn check_initial(network: &Network) -> Result<(), Diagnostic> {
    for (index, process) in network.processes.iter().enumerate() {
        let mut violated: Option<(usize, Place)> = None;
        let mut begins = false;
        for location in &process.initial {
            let mut machine = Machine::new(network);
            machine.locations[index] = location.0;
            let invariant = &process.locations[location.0 as usize].invariant;
            match violation(network, &mut machine, invariant) {
                // Evaluation errors are reported when the initial state is computed.
                Ok(None) | Err(_) => begins = true,
                Ok(Some(place)) => {
                    violated.get_or_insert((location.0 as usize, place));
                }
            }
        }
        if !begins {
            return Err(no_beginning(process, violated));
        }
    }
    Ok(())
}

fn no_beginning(process: &Process, violated: Option<(usize, Place)>) -> Diagnostic {
    let Some((location, place)) = violated else {
        let error = Diagnostic::error(format!("process `{}` has no initial location", process.name));
        return match process.locations.first() {
            Some(location) => error.at(location.place.clone(), "the system has no initial state"),
            None => error,
        };
    };
    let location = &process.locations[location];
    let place = if place.is_empty() { location.place.clone() } else { place };
    Diagnostic::error(format!(
        "the invariant of `{}.{}` does not hold in the initial state",
        process.name, location.name
    ))
    .at(place, "violated when all clocks are 0 and all variables have their initial values")
    .help("the system has no run, so every property would hold vacuously")
}

/// Where a constraint fails when all clocks are zero; an empty place if that is unknown.
fn violation(network: &Network, machine: &mut Machine<'_>, invariant: &Constraint) -> Outcome<Option<Place>> {
    for condition in &invariant.data {
        machine.enter_condition(frame_size(network, condition));
        if !machine.holds(condition)? {
            return Ok(Some(0..0));
        }
    }
    for atom in &invariant.clocks {
        machine.enter_condition(atom_frame_size(network, atom));
        if let Some(when) = &atom.when
            && !machine.holds(when)?
        {
            continue;
        }
        let bound = machine.value(&atom.bound)?;
        if bound < 0 || (bound == 0 && atom.strict) {
            return Ok(Some(atom.place.clone()));
        }
    }
    Ok(None)
}
