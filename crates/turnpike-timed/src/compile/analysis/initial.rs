//! Whether a network has an initial state at all. Of one that has none, everything could be proved.

use turnpike_model::Diagnostic;

use crate::evaluate::{Machine, Outcome, atom_frame_size, frame_size};
use crate::network::{Constraint, Network, Place, Process};

/// Tells which process cannot begin, and why: the invariant of its initial location does not hold
/// while all clocks are zero. Where a process may begin in several locations, one that holds is
/// enough.
pub fn check_initial(network: &Network) -> Result<(), Diagnostic> {
    for (index, process) in network.processes.iter().enumerate() {
        let mut violated: Option<(usize, Place)> = None;
        let mut begins = false;
        for location in &process.initial {
            let mut machine = Machine::new(network);
            machine.locations[index] = location.0;
            let invariant = &process.locations[location.0 as usize].invariant;
            match violation(network, &mut machine, invariant) {
                // What is wrong with the model where it is computed is told when the initial state
                // is made.
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
    .help("the system cannot begin, so nothing could be said about it")
}

/// Where a constraint is violated when all clocks are zero; an empty place when it is not known.
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
