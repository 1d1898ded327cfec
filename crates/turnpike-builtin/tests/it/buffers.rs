//! The network of buffers: the lengths of paths, and the extremes that the papers search for.

use std::collections::BTreeMap;

use crate::common::{build, explore};
use turnpike_model::{Explorer, Successors};

fn reported(explorer: &mut dyn Explorer, successors: &Successors) -> Option<u32> {
    let label = (!successors.is_empty()).then(|| explorer.label(successors.label(0)))?;
    label.has_action("report").then(|| label.actions[0].arguments[0].parse().expect("a number"))
}

/// The smallest and the largest total of all paths, by visiting all states.
fn extremes_by_enumeration(messages: u64) -> (u32, u32) {
    let (mut least, mut most) = (u32::MAX, 0);
    explore(&*build("buffers", &[("messages", messages)]), |explorer, _, level, successors| {
        // Every path has the same length: 2 * messages + 2 states.
        assert_eq!(successors.is_empty(), level as u64 == 2 * messages + 1);
        if let Some(total) = reported(explorer, successors) {
            assert_eq!(successors.len(), 1);
            (least, most) = (least.min(total), most.max(total));
        }
    });
    (least, most)
}

/// The same by dynamic programming. The remaining time on the clock of the merge depends only on
/// how far each buffer is ahead, so of all states of a level with the same distances, the two with
/// extreme clocks suffice.
fn extremes_by_levels(messages: u64) -> (u32, u32) {
    let model = build("buffers", &[("messages", messages)]);
    let mut explorer = model.explorer();
    let mut successors = Successors::new(model.info().width);
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let mut level = vec![initial];
    let (mut least, mut most) = (u32::MAX, 0);
    for _ in 0..=2 * messages {
        let mut best: BTreeMap<[u32; 3], (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for state in &level {
            explorer.successors(state, &mut successors).expect("successors");
            if let Some(total) = reported(&mut *explorer, &successors) {
                (least, most) = (least.min(total), most.max(total));
            }
            for (_, target) in successors.iter() {
                let ahead = [0, 1, 2].map(|buffer| target[buffer].saturating_sub(target[3]));
                let (low, high) = best.entry(ahead).or_insert_with(|| (target.to_vec(), target.to_vec()));
                if target[3] < low[3] {
                    *low = target.to_vec();
                }
                if target[3] > high[3] {
                    *high = target.to_vec();
                }
            }
        }
        level = best.into_values().flat_map(|(low, high)| [low, high]).collect();
    }
    (least, most)
}

#[test]
fn extremes() {
    for messages in 0..12 {
        let enumerated = extremes_by_enumeration(messages);
        assert_eq!(enumerated, extremes_by_levels(messages), "{messages} messages");
        let least = (17 * messages as u32 - 3 * (messages as u32 % 2)) / 2;
        assert_eq!(enumerated, (least, 15 * messages as u32), "{messages} messages");
    }
    assert_eq!(extremes_by_levels(100), (850, 1500));
}

/// Each path has 202 states. A uniform walk chooses the third buffer a quarter of the time and the
/// others equally often, since only the third one has to pause: 100 (3/8 10 + 3/8 15 + 1/4 7) =
/// 1112.5 on average, while the papers report about 1100. The standard deviation of a total is
/// about 30, so 2 is two standard errors of 1000 walks.
#[test]
fn walks_through_100_messages() {
    let model = build("buffers", &[]);
    let mut explorer = model.explorer();
    let mut successors = Successors::new(model.info().width);
    let mut sum = 0.0;
    for seed in 0..1000 {
        let mut state = Vec::new();
        explorer.initial(&mut state).expect("an initial state");
        let (mut states, mut total) = (1u64, None);
        loop {
            explorer.successors(&state, &mut successors).expect("successors");
            if successors.is_empty() {
                break;
            }
            total = total.or(reported(&mut *explorer, &successors));
            let choice = turnpike_model::hash::mix(seed, states) as usize % successors.len();
            state = successors.state(choice).to_vec();
            states += 1;
        }
        assert_eq!(states, 202);
        sum += f64::from(total.expect("a report"));
    }
    let mean = sum / 1000.0;
    assert!((mean - 1112.5).abs() < 2.0, "{mean}");
}
