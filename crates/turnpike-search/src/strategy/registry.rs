//! Which strategies there are: the built-in ones, and those that the program registered.
//!
//! One process has one set of strategies. Names, options and help are derived from it in many places,
//! so a strategy is registered once, before the first request, and is never removed.

use std::sync::{PoisonError, RwLock};

use turnpike_model::Diagnostic;

use super::STRATEGIES;
use super::descriptor::Descriptor;

static OWN: RwLock<Vec<&'static Descriptor>> = RwLock::new(Vec::new());

/// All strategies: the default first, registered ones last, in order.
pub fn all() -> impl Iterator<Item = &'static Descriptor> {
    let own = OWN.read().unwrap_or_else(PoisonError::into_inner).clone();
    STRATEGIES.iter().copied().chain(own)
}

/// Whether the strategy of this name was registered by the program, rather than built in.
pub fn is_registered(name: &str) -> bool {
    all().skip(STRATEGIES.len()).any(|own| own.name == name)
}

/// Adds a strategy to the built-in ones. Names must be new. An option that another strategy has must
/// mean the same.
pub fn register(descriptor: &'static Descriptor) -> Result<(), Diagnostic> {
    let mut own = OWN.write().unwrap_or_else(PoisonError::into_inner);
    if own.iter().any(|known| std::ptr::eq(*known, descriptor)) {
        return Ok(());
    }
    let name = descriptor.name;
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    let mut names = descriptor.options.iter().map(|option| option.name).chain([name]);
    if let Some(wrong) = names.find(|word| !is_word(word)) {
        let message = format!("`{wrong}` is not a name of a strategy or an option");
        let help = "use lower-case letters, digits and hyphens";
        return Err(Diagnostic::error(message).help(help));
    }
    let known = STRATEGIES.iter().chain(own.iter());
    if known.clone().any(|known| known.name == name) {
        return Err(Diagnostic::error(format!("there is already a strategy `{name}`")));
    }
    for option in descriptor.options {
        let same = known.clone().flat_map(|known| known.options.iter().map(move |other| (known, other)));
        let mut same = same.filter(|(_, other)| other.name == option.name);
        if let Some((owner, _)) = same.find(|(_, other)| *other != option) {
            let message = format!(
                "the option `{}` of the strategy `{name}` means something else in the strategy `{}`",
                option.name, owner.name
            );
            return Err(Diagnostic::error(message).help("give it another name, or the same description"));
        }
    }
    own.push(descriptor);
    Ok(())
}
