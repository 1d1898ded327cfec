//! Games in which only one player has choices: that player wins if there is a good cycle.

use turnpike_model::components::components;

use crate::game::Player;
use crate::solution::NONE;
use crate::solve::arena::Arena;
use crate::solve::recursive::Outcome;

/// Solves a strongly connected game, or a union of several, where only `player` has choices.
pub(crate) fn solve(arena: &Arena, player: Player, outcome: &mut Outcome) {
    outcome.winner.fill(player.opponent());
    let mut reached = Vec::new();
    let highest = (0..arena.vertices() as u32).map(|at| arena.priority(at)).max().unwrap_or(0);
    for priority in (0..=highest).rev().filter(|&priority| Player::of_priority(priority) == player) {
        let component_of = components_up_to(arena, priority);
        let inside = |from: u32, to: u32| {
            component_of[to as usize] != NONE && component_of[from as usize] == component_of[to as usize]
        };
        for at in 0..arena.vertices() as u32 {
            if arena.priority(at) != priority || outcome.winner[at as usize] == player {
                continue;
            }
            let next = arena.successors(at).iter().find(|&&target| inside(at, target));
            if let Some(&next) = next {
                outcome.winner[at as usize] = player;
                outcome.strategy[at as usize] = next;
                // Walk back to the good vertex, first within its component: this gives the cycle.
                reached.push(at);
                reach(arena, player, outcome, &mut reached, inside);
            }
        }
        let won = |&at: &u32| outcome.winner[at as usize] == player;
        reached.extend((0..arena.vertices() as u32).filter(won));
        reach(arena, player, outcome, &mut reached, |_, _| true);
    }
    // A vertex with one successor leaves no choice.
    for at in 0..arena.vertices() as u32 {
        if outcome.winner[at as usize] == arena.owner(at) && arena.owner(at) != player {
            outcome.strategy[at as usize] = arena.successors(at)[0];
        }
    }
}

/// Makes the player win at all vertices from which `reached` is reachable.
fn reach(
    arena: &Arena,
    player: Player,
    outcome: &mut Outcome,
    reached: &mut Vec<u32>,
    inside: impl Fn(u32, u32) -> bool,
) {
    while let Some(at) = reached.pop() {
        for &before in arena.predecessors(at) {
            if outcome.winner[before as usize] != player && inside(before, at) {
                outcome.winner[before as usize] = player;
                outcome.strategy[before as usize] = at;
                reached.push(before);
            }
        }
    }
}

/// The components of the vertices with at most this priority; `NONE` for the others.
fn components_up_to(arena: &Arena, priority: u32) -> Vec<u32> {
    let low = |at: u32| arena.priority(at) <= priority;
    // Edges to other vertices become loops, which do not change the components.
    let (mut component_of, _) = components(arena.vertices(), |at, k| {
        let &target = arena.successors(at).get(k).filter(|_| low(at))?;
        Some(if low(target) { target } else { at })
    });
    for at in 0..arena.vertices() as u32 {
        if !low(at) {
            component_of[at as usize] = NONE;
        }
    }
    component_of
}
