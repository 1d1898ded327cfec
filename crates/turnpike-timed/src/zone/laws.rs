//! Every operation on matrices against what it means, on random zones.

use proptest::prelude::*;

use super::oracle::{Slow, clock_bounds, constraints, grid, least, slack, zone, zone_of};
use super::{Bound, Dbm, Extrapolation, NO_BOUND, Origin};

const EXTRAPOLATIONS: [Extrapolation; 5] =
    [Extrapolation::None, Extrapolation::M, Extrapolation::MPlus, Extrapolation::Lu, Extrapolation::LuPlus];

/// One to six rows.
fn zones() -> impl Strategy<Value = Dbm> {
    (1..7usize).prop_flat_map(zone)
}

/// Two zones over the same clocks.
fn pairs(rows: std::ops::Range<usize>) -> impl Strategy<Value = (Dbm, Dbm)> {
    rows.prop_flat_map(|n| (zone(n), zone(n)))
}

/// A zone and bounds of its clocks.
fn bounded() -> impl Strategy<Value = (Dbm, Vec<i32>, Vec<i32>)> {
    (1..7usize).prop_flat_map(|n| (zone(n), clock_bounds(n), clock_bounds(n)))
}

/// Extrapolation word by word, closed the slow way.
fn extrapolated(zone: &Dbm, kind: Extrapolation, lower: &[i32], upper: &[i32]) -> Slow {
    let old = Slow::of(zone);
    let mut new = old.clone();
    let plus = matches!(kind, Extrapolation::MPlus | Extrapolation::LuPlus);
    let both = matches!(kind, Extrapolation::M | Extrapolation::MPlus);
    let wide = |bound: i32| if bound == NO_BOUND { i64::MIN / 2 } else { i64::from(bound) };
    let bound = |i: usize, own: &[i32]| match i {
        0 => 0,
        _ if both => wide(lower[i - 1].max(upper[i - 1])),
        _ => wide(own[i - 1]),
    };
    let least = |i: usize| old.at[0][i].expect("clocks are positive").0;
    for i in 0..old.n {
        for j in 0..old.n {
            let Some((c, _)) = old.at[i][j].filter(|_| i != j && kind != Extrapolation::None) else {
                continue;
            };
            let (l, u) = (bound(i, lower), bound(j, upper));
            let low = if plus { -least(j) > u } else { -c > u };
            if i >= 1 && (c > l || (plus && -least(i) > l) || (plus && low)) {
                new.at[i][j] = None;
            } else if low {
                new.at[i][j] = match (u == i64::MIN / 2, i) {
                    (true, 0) => Some((0, true)),
                    (true, _) => None,
                    _ => Some((-u, false)),
                };
            }
        }
    }
    assert!(new.close());
    new
}

proptest! {
    #[test]
    fn conjoining_is_adding_and_closing(zone in zones(), more in constraints(4)) {
        let mut fast = zone.clone();
        let mut slow = Slow::of(&zone);
        for (i, j, c, strict) in more {
            let (i, j) = (i % slow.n, j % slow.n);
            slow.and(i, j, Some((c, !strict)));
            let left = slow.close();
            prop_assert_eq!(fast.conjoin(i, j, Bound::new(c, strict).unwrap()), left);
            if !left {
                return Ok(());
            }
            prop_assert_eq!(&Slow::of(&fast), &slow);
        }
    }

    #[test]
    fn many_bounds_at_once_are_the_same_as_one_by_one(
        zone in zones(),
        bounds in prop::collection::vec((0..64usize, -6..7i64, any::<bool>()), 0..5),
        elapsed in any::<bool>(),
    ) {
        let mut zone = zone;
        if elapsed {
            zone.up();
        }
        let n = zone.dimension();
        prop_assume!(n > 1);
        let mut bounds: Vec<_> =
            bounds.iter().map(|&(i, c, strict)| (1 + i % (n - 1), Bound::new(c, strict).unwrap())).collect();
        bounds.push((1, Bound::INFINITY));
        for upper in [true, false] {
            let mut once = zone.clone();
            let mut single = Slow::of(&zone);
            let left = if upper { once.conjoin_uppers(&bounds) } else { once.conjoin_lowers(&bounds) };
            for &(i, bound) in &bounds {
                let (i, j) = if upper { (i, 0) } else { (0, i) };
                single.and(i, j, slack(bound));
            }
            prop_assert_eq!(left, single.close());
            if left {
                prop_assert_eq!(&Slow::of(&once), &single);
            }
        }
    }

    #[test]
    fn gathering_is_projecting_what_the_assignments_say(
        zone in zones(),
        origins in prop::collection::vec((0..64u32, 0..4i32), 0..6),
    ) {
        let (old, new) = (zone.dimension(), origins.len() + 1);
        let origins: Vec<Origin> =
            origins.iter().map(|&(row, offset)| Origin { row: row % old as u32, offset }).collect();
        // Old clocks and new ones in one matrix.
        let mut both = Slow::unconstrained(old + new - 1);
        for i in 0..old {
            for j in 0..old {
                both.and(i, j, slack(zone.get(i, j)));
            }
        }
        for (i, origin) in origins.iter().enumerate() {
            both.and(old + i, origin.row as usize, Some((i64::from(origin.offset), true)));
            both.and(origin.row as usize, old + i, Some((-i64::from(origin.offset), true)));
        }
        prop_assert!(both.close());
        let mut fast = Dbm::default();
        fast.gather(&zone, &origins);
        prop_assert_eq!(fast.dimension(), new);
        let place = |i: usize| if i == 0 { 0 } else { old + i - 1 };
        for i in 0..new {
            for j in 0..new {
                prop_assert_eq!(slack(fast.get(i, j)), both.at[place(i)][place(j)]);
            }
        }
    }

    #[test]
    fn extrapolation_is_as_written_and_forms_chains((zone, lower, upper) in bounded()) {
        let results = EXTRAPOLATIONS.map(|kind| {
            let mut coarse = zone.clone();
            coarse.extrapolate(kind, &lower, &upper);
            assert_eq!(Slow::of(&coarse), extrapolated(&zone, kind, &lower, &upper), "{kind:?}");
            coarse
        });
        let [none, m, m_plus, lu, lu_plus] = &results;
        prop_assert_eq!(none, &zone);
        for (smaller, bigger) in [(none, m), (m, m_plus), (none, lu), (lu, lu_plus), (m, lu), (m_plus, lu_plus)] {
            prop_assert!(bigger.includes(smaller));
        }
    }
}
