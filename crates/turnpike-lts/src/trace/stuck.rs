//! Explains why a trace ends in a deadlock, as lines of text.
//!
//! ```text
//! why nothing can happen:
//!   Train(1) at Cross, where time stops at x <= 5
//!     leave!: needs leave?, which Gate can do elsewhere
//!   Gate at Free
//!     appr?: needs appr!, which no component offers
//! ```

use turnpike_model::{Counterpart, Obstacle, Offer, StuckComponent, TimeStop};

/// The number of offers of a component that are listed before the rest is only counted.
const OFFERS: usize = 12;

/// The number of components that are listed before the rest is only counted.
const COMPONENTS: usize = 200;

/// The number of components that are named before the rest is only counted.
const NAMES: usize = 4;

/// The situation that an explanation of a state is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuckness {
    /// Nothing can happen.
    Now,
    /// Something can happen now, but nothing once too much time has passed.
    Later,
    /// Something can happen: the explanation is about what cannot.
    Partly,
}

impl Stuckness {
    /// The situation in a state, given whether it is a deadlock and its number of transitions.
    pub fn of(deadlock: bool, enabled: usize) -> Self {
        match (deadlock, enabled) {
            (true, 0) => Stuckness::Now,
            (true, _) => Stuckness::Later,
            (false, _) => Stuckness::Partly,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Stuckness::Now => "why nothing can happen:",
            Stuckness::Later => "why nothing can happen any more once time has passed:",
            Stuckness::Partly => "what is not possible now, and why:",
        }
    }
}

/// Explains why a trace ends in a deadlock, as lines of text: why each component cannot continue.
/// Empty if that is not known.
pub fn stuck_lines(components: &[StuckComponent]) -> Vec<String> {
    hindered_lines(components, Stuckness::Now)
}

/// As [`stuck_lines`], for any state.
pub fn hindered_lines(components: &[StuckComponent], stuckness: Stuckness) -> Vec<String> {
    if components.is_empty() {
        return Vec::new();
    }
    let mut out = vec![stuckness.heading().to_owned()];
    for component in components.iter().take(COMPONENTS) {
        out.push(format!("  {}", headline(component)));
        let offers = component.offers.iter().take(OFFERS);
        out.extend(offers.map(|offer| format!("    {}", sentence_at(offer, stuckness))));
        if component.offers.len() > OFFERS {
            out.push(format!("    ... and {} more", component.offers.len() - OFFERS));
        }
    }
    if components.len() > COMPONENTS {
        out.push(format!("  ... and {} more components", components.len() - COMPONENTS));
    }
    out
}

pub(crate) fn headline(stuck: &StuckComponent) -> String {
    let StuckComponent { component, position, offers, stops_time } = stuck;
    let mut text = if position.is_empty() { component.clone() } else { format!("{component} at {position}") };
    match stops_time {
        Some(TimeStop::Invariant { condition }) => {
            text.push_str(&format!(", where time stops at {condition}"));
        }
        Some(TimeStop::Urgent) => text.push_str(", which is urgent: no time passes"),
        Some(TimeStop::Committed) => text.push_str(", which is committed: no time passes"),
        _ => {}
    }
    if offers.is_empty() {
        text.push_str(match stops_time {
            Some(_) => "; it offers nothing",
            // Of a system as a whole.
            None if position.is_empty() => " has no outgoing transition",
            None => ", offers nothing",
        });
    }
    text
}

pub(crate) fn sentence(offer: &Offer) -> String {
    sentence_at(offer, Stuckness::Now)
}

fn sentence_at(offer: &Offer, stuckness: Stuckness) -> String {
    let reasons: Vec<String> = offer.obstacles.iter().map(|obstacle| reason(obstacle, stuckness)).collect();
    format!("{}: {}", offer.action, reasons.join("; "))
}

fn reason(obstacle: &Obstacle, stuckness: Stuckness) -> String {
    // The clock values shown are the current ones.
    let then = if stuckness == Stuckness::Later { " then" } else { "" };
    match obstacle {
        Obstacle::Condition { condition, actual: Some(actual) } => {
            format!("{condition} does not hold{then}, but {actual}")
        }
        Obstacle::Condition { condition, actual: None } => format!("{condition} does not hold{then}"),
        Obstacle::Target { component, condition } => {
            format!("would violate the invariant {condition} of {component}")
        }
        Obstacle::Partner { action, elsewhere, instead } => {
            if !instead.is_empty() {
                let offers: Vec<String> = instead.iter().map(counterpart).collect();
                return format!("needs {action}, but {}", offers.join(", "));
            }
            match elsewhere.as_slice() {
                [] => format!("needs {action}, which no other component offers"),
                names if names.len() > NAMES => {
                    let (shown, more) = (names[..NAMES].join(", "), names.len() - NAMES);
                    format!("needs {action}, which {shown} and {more} more can do only elsewhere")
                }
                names => format!("needs {action}, which {} can do only elsewhere", names.join(", ")),
            }
        }
        Obstacle::Disallowed { by } => format!("not allowed by {by}"),
        Obstacle::Held { needs, by, since } => {
            // The needs already name the component that is waited for.
            let holder = by.as_ref().filter(|by| !needs.ends_with(by.as_str()));
            match (holder, since) {
                (Some(holder), Some(since)) => format!("held by {holder} since {since}"),
                (Some(holder), None) => format!("held by {holder}"),
                (None, _) => format!("waits {needs}"),
            }
        }
        Obstacle::Precedence { component } => format!("{component} has to act first"),
        other => format!("{other:?}"),
    }
}

fn counterpart(other: &Counterpart) -> String {
    let Counterpart { component, action, reason } = other;
    match reason {
        Some(reason) => format!("{component} offers {action} ({reason})"),
        None => format!("{component} offers {action}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(action: &str, obstacles: Vec<Obstacle>) -> Offer {
        Offer { action: action.to_owned(), obstacles }
    }

    fn partner(action: &str, elsewhere: &[&str], instead: Vec<Counterpart>) -> Obstacle {
        let elsewhere = elsewhere.iter().map(|&name| name.to_owned()).collect();
        Obstacle::Partner { action: action.to_owned(), elsewhere, instead }
    }

    #[test]
    fn explains_the_obstacle_of_each_component() {
        let text = |text: &str| text.to_owned();
        let mismatch = Counterpart { component: text("Buffer"), action: text("receive(2)"), reason: None };
        let late = Counterpart {
            component: text("Gate"),
            action: text("go?"),
            reason: Some(text("y >= 7 and x <= 5 exclude each other")),
        };
        let components = [
            StuckComponent {
                component: text("Train"),
                position: text("Cross"),
                offers: vec![
                    offer("leave!", vec![partner("leave?", &["Gate", "Lamp"], Vec::new())]),
                    offer("send(1)", vec![partner("receive(1)", &[], vec![mismatch])]),
                    offer("go!", vec![partner("go?", &[], vec![late])]),
                    offer("x >= 9", vec![Obstacle::Condition { condition: text("x >= 9"), actual: None }]),
                ],
                stops_time: Some(TimeStop::Invariant { condition: text("x <= 5") }),
            },
            StuckComponent {
                component: text("P"),
                offers: vec![
                    offer("a", vec![Obstacle::Disallowed { by: text("allow") }]),
                    offer(
                        "b",
                        vec![
                            Obstacle::Condition { condition: text("n == 0"), actual: Some(text("n == 3")) },
                            Obstacle::Precedence { component: text("Train") },
                        ],
                    ),
                    offer("c", vec![partner("d", &[], Vec::new())]),
                    offer(
                        "lock m",
                        vec![Obstacle::Held {
                            needs: text("to lock m"),
                            by: Some(text("main.1")),
                            since: Some(text("a.c:3")),
                        }],
                    ),
                    offer(
                        "join main.1",
                        vec![Obstacle::Held {
                            needs: text("for the end of main.1"),
                            by: Some(text("main.1")),
                            since: None,
                        }],
                    ),
                    offer("e", vec![Obstacle::Target { component: text("P"), condition: text("x <= 1") }]),
                ],
                ..StuckComponent::default()
            },
            StuckComponent { component: text("Q"), position: text("End"), ..StuckComponent::default() },
            StuckComponent {
                component: text("R"),
                position: text("End"),
                offers: Vec::new(),
                stops_time: Some(TimeStop::Urgent),
            },
        ];
        let expected = [
            "why nothing can happen:",
            "  Train at Cross, where time stops at x <= 5",
            "    leave!: needs leave?, which Gate, Lamp can do only elsewhere",
            "    send(1): needs receive(1), but Buffer offers receive(2)",
            "    go!: needs go?, but Gate offers go? (y >= 7 and x <= 5 exclude each other)",
            "    x >= 9: x >= 9 does not hold",
            "  P",
            "    a: not allowed by allow",
            "    b: n == 0 does not hold, but n == 3; Train has to act first",
            "    c: needs d, which no other component offers",
            "    lock m: held by main.1 since a.c:3",
            "    join main.1: waits for the end of main.1",
            "    e: would violate the invariant x <= 1 of P",
            "  Q at End, offers nothing",
            "  R at End, which is urgent: no time passes; it offers nothing",
        ];
        assert_eq!(stuck_lines(&components), expected);
        assert!(stuck_lines(&[]).is_empty());
    }

    #[test]
    fn only_deadlocks_are_called_so() {
        let condition =
            Obstacle::Condition { condition: "x <= 10".to_owned(), actual: Some("x > 10".to_owned()) };
        let offers = vec![offer("tau", vec![condition])];
        let components = [StuckComponent { component: "P".to_owned(), offers, ..StuckComponent::default() }];
        let lines = |deadlock, enabled| hindered_lines(&components, Stuckness::of(deadlock, enabled));
        let now = ["why nothing can happen:", "  P", "    tau: x <= 10 does not hold, but x > 10"];
        assert_eq!(lines(true, 0), now);
        assert_eq!(lines(false, 2)[0], "what is not possible now, and why:");
        assert_eq!(lines(false, 2)[1..], now[1..]);
        assert_eq!(lines(true, 1)[0], "why nothing can happen any more once time has passed:");
        assert_eq!(lines(true, 1)[2], "    tau: x <= 10 does not hold then, but x > 10");
    }

    #[test]
    fn long_lists_are_counted() {
        let offers = (0..20).map(|index| offer(&format!("a({index})"), Vec::new())).collect();
        let component = StuckComponent { offers, ..StuckComponent::default() };
        let lines = stuck_lines(&[component]);
        assert_eq!((lines.len(), lines[14].as_str()), (15, "    ... and 8 more"));
    }
}
