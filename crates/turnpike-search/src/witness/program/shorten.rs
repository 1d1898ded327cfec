//! Reduces context switches, steps and alternatives as long as the failure stays the same.
//!
//! A schedule is a sequence of blocks, each of one thread. An attempt leaves out a block (its steps
//! then happen at the end, or not at all), merges it with the thread's next block, moves it, or
//! cuts it to a smaller length, which drops whole iterations of a loop; it leaves out steps; or it
//! chooses smaller alternatives. An attempt is followed loosely: steps that are not possible are
//! skipped, and the thread of the last step continues when nothing is left. The process ends when
//! nothing helps any more, or with the budget.

use turnpike_model::StepError;
use turnpike_model::paths::Cause;

use super::attempt::{Attempts, Schedule};

type Entry = (u32, u32);

/// The best schedule found, given one that shows the failure; and the executions that it took.
pub(crate) fn shorten_schedule(
    attempts: &mut Attempts<'_>,
    positions: &[u32],
) -> Result<Option<Schedule>, StepError> {
    let Some(mut best) = attempts.replay(positions)? else { return Ok(None) };
    improve(attempts, &mut best, &[])?;
    loop {
        let cost = best.cost();
        leave_out(attempts, &mut best, true)?;
        merge_blocks(attempts, &mut best)?;
        leave_out(attempts, &mut best, false)?;
        cut_blocks(attempts, &mut best)?;
        lessen_alternatives(attempts, &mut best)?;
        if attempts.exhausted() || best.cost() >= cost {
            break;
        }
    }
    put_in_order(attempts, &mut best)?;
    Ok(Some(best))
}

/// Tries an order, and keeps what comes of it if that is better.
fn improve(attempts: &mut Attempts<'_>, best: &mut Schedule, order: &[Entry]) -> Result<bool, StepError> {
    if attempts.exhausted() {
        return Ok(false);
    }
    match attempts.follow(order)? {
        Some(found) if found.cost() < best.cost() => {
            *best = found;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Where blocks of one thread begin, and the end.
fn borders(order: &[Entry]) -> Vec<usize> {
    let mut borders = vec![0];
    borders.extend((1..order.len()).filter(|&at| order[at].0 != order[at - 1].0));
    borders.push(order.len());
    borders
}

/// Leaves out parts, halves first, then ever smaller ones (delta debugging): of blocks, or of
/// single steps.
fn leave_out(attempts: &mut Attempts<'_>, best: &mut Schedule, whole_blocks: bool) -> Result<(), StepError> {
    let units = |order: &[Entry]| {
        if whole_blocks { borders(order) } else { (0..=order.len()).collect() }
    };
    let mut part = (units(&best.order).len() / 2).max(1);
    loop {
        // From the end: what happens late is needed least.
        let mut at = units(&best.order).len().saturating_sub(1);
        while at > 0 && !attempts.exhausted() {
            let marks = units(&best.order);
            at = at.min(marks.len() - 1);
            let from = at.saturating_sub(part);
            let mut order = best.order.clone();
            order.drain(marks[from]..marks[at]);
            improve(attempts, best, &order)?;
            at = from;
        }
        if part == 1 || attempts.exhausted() {
            return Ok(());
        }
        part = part.div_ceil(2);
    }
}

/// Lets threads go on where they were interrupted: their next block comes at once, or this one is
/// put off.
fn merge_blocks(attempts: &mut Attempts<'_>, best: &mut Schedule) -> Result<(), StepError> {
    let mut block = 0;
    loop {
        let marks = borders(&best.order);
        if block + 2 >= marks.len() || attempts.exhausted() {
            return Ok(());
        }
        let thread = best.order[marks[block]].0;
        let next = (block + 1..marks.len() - 1).find(|&later| best.order[marks[later]].0 == thread);
        let Some(next) = next else {
            block += 1;
            continue;
        };
        let (start, end) = (marks[block], marks[block + 1]);
        let (later, later_end) = (marks[next], marks[next + 1]);
        let parts = |ranges: &[std::ops::Range<usize>]| -> Vec<Entry> {
            ranges.iter().flat_map(|range| best.order[range.clone()].iter().copied()).collect()
        };
        let at_once = parts(&[0..end, later..later_end, end..later, later_end..best.order.len()]);
        let put_off = parts(&[0..start, end..later, start..end, later..best.order.len()]);
        if !improve(attempts, best, &at_once)? && !improve(attempts, best, &put_off)? {
            block += 1;
        }
    }
}

/// Cuts each block to the smallest length that will do: a thread that goes round a loop may be
/// needed in its first round.
fn cut_blocks(attempts: &mut Attempts<'_>, best: &mut Schedule) -> Result<(), StepError> {
    let mut block = 0;
    while block + 1 < borders(&best.order).len() {
        let marks = borders(&best.order);
        let (start, end) = (marks[block], marks[block + 1]);
        for length in 1..end - start {
            let mut order = best.order.clone();
            order.drain(start + length..end);
            if attempts.exhausted() || improve(attempts, best, &order)? {
                break;
            }
        }
        block += 1;
    }
    Ok(())
}

/// Tosses that need not show a large number show a small one, and reads that need not see an old
/// value see the newest.
fn lessen_alternatives(attempts: &mut Attempts<'_>, best: &mut Schedule) -> Result<(), StepError> {
    for at in 0..best.order.len() {
        if best.unusual.get(at).is_some_and(|&unusual| unusual > 0) {
            let mut order = best.order.clone();
            order[at].1 = Cause::ANY;
            improve(attempts, best, &order)?;
        }
        let mut smallest = 0;
        while let Some(&(thread, alternative)) = best.order.get(at) {
            if Cause::of(alternative) != Cause::Actor || smallest >= alternative || attempts.exhausted() {
                break;
            }
            let mut order = best.order.clone();
            order[at] = (thread, smallest);
            if improve(attempts, best, &order)? {
                break;
            }
            // Halfway up to what is known to work.
            smallest += (alternative - smallest).div_ceil(2);
        }
    }
    Ok(())
}

/// Neighbouring blocks whose order does not matter come in the order of their threads.
fn put_in_order(attempts: &mut Attempts<'_>, best: &mut Schedule) -> Result<(), StepError> {
    let mut block = 0;
    while !attempts.exhausted() {
        let marks = borders(&best.order);
        let Some(&[start, middle, end]) = marks.get(block..block + 3) else { return Ok(()) };
        block += 1;
        if best.order[middle].0 > best.order[start].0 {
            continue;
        }
        let mut order = best.order.clone();
        order[start..end].rotate_left(middle - start);
        let found = attempts.follow(&order)?;
        if let Some(found) = found.filter(|found| {
            found.cost() <= best.cost() && found.order[..end.min(found.order.len())] == order[..end]
        }) {
            *best = found;
        }
    }
    Ok(())
}
