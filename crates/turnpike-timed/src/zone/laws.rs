//! Every operation on matrices against its definition, on random zones.

use proptest::prelude::*;

use super::oracle::{Slack, Slow, clock_bounds, constraints, grid, least, slack, tiny_zone, zone};
use super::{Bound, Dbm, Extrapolation, NO_BOUND, Origin, subtract};

const EXTRAPOLATIONS: [Extrapolation; 5] =
    [Extrapolation::None, Extrapolation::M, Extrapolation::MPlus, Extrapolation::Lu, Extrapolation::LuPlus];

/// Mostly few rows, but sometimes more than the unrolled loops handle.
fn dimensions() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1..7usize, 1 => 7..20usize]
}

/// A zone with a random number of rows.
fn zones() -> impl Strategy<Value = Dbm> {
    dimensions().prop_flat_map(zone)
}

/// Two zones over the same clocks.
fn pairs(rows: std::ops::Range<usize>) -> impl Strategy<Value = (Dbm, Dbm)> {
    rows.prop_flat_map(|n| (zone(n), zone(n)))
}

/// A zone, and bounds of its clocks.
fn bounded() -> impl Strategy<Value = (Dbm, Vec<i32>, Vec<i32>)> {
    dimensions().prop_flat_map(|n| (zone(n), clock_bounds(n), clock_bounds(n)))
}

/// Extrapolation by definition, with naive closure.
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
    fn gathering_is_projecting_what_the_assignments_say(
        zone in zones(),
        origins in prop::collection::vec((0..64u32, 0..4i32), 0..20),
        few in any::<bool>(),
    ) {
        let old = zone.dimension();
        let mut origins: Vec<Origin> =
            origins.iter().map(|&(row, offset)| Origin { row: row % old as u32, offset }).collect();
        if few {
            // The same clocks, except for those before the last few of the list.
            origins.splice(..origins.len().saturating_sub(2), []);
            origins.extend((origins.len() + 1..old).map(|row| Origin { row: row as u32, offset: 0 }));
        }
        let new = origins.len() + 1;
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

    #[test]
    fn intersection_and_hull((first, second) in pairs(1..6)) {
        let mut slow = Slow::of(&first);
        let mut union = slow.clone();
        let other = Slow::of(&second);
        for i in 0..slow.n {
            for j in 0..slow.n {
                slow.at[i][j] = least(slow.at[i][j], other.at[i][j]);
                let both = union.at[i][j].zip(other.at[i][j]);
                union.at[i][j] = both.map(|(a, b)| a.max(b));
            }
        }
        let left = slow.close();
        let mut meet = first.clone();
        prop_assert_eq!(meet.intersect(&second), left);
        if left {
            prop_assert_eq!(&Slow::of(&meet), &slow);
        }
        prop_assert_eq!(first.includes(&second), left && slow == other);
        let mut hull = first.clone();
        hull.hull(&second);
        prop_assert_eq!(&Slow::of(&hull), &union);
        prop_assert!(union.close() && Slow::of(&hull) == union, "closed");
        prop_assert!(hull.includes(&first) && hull.includes(&second));
    }

    #[test]
    fn delay_past_and_freedom_by_valuations(zone in (1..4usize).prop_flat_map(zone), clock in 0..64usize) {
        let slow = Slow::of(&zone);
        let changed = |change: &dyn Fn(&mut Dbm)| {
            let mut changed = zone.clone();
            change(&mut changed);
            let same = Slow::of(&changed);
            let mut closed = same.clone();
            assert!(closed.close() && closed == same, "closed");
            same
        };
        let (up, down) = (changed(&Dbm::up), changed(&Dbm::down));
        let clock = 1 + clock % slow.n.max(2).saturating_sub(1);
        let free = if slow.n > 1 { changed(&|zone: &mut Dbm| zone.free(clock)) } else { slow.clone() };
        // Valuations in halves; quarters suffice for every existential quantifier over one value.
        grid(slow.n - 1, 14, &mut |halves| {
            let at: Vec<i64> = halves.iter().map(|half| 2 * half).collect();
            let moved = |by: i64| at.iter().map(|value| value + by).collect::<Vec<_>>();
            let least = at.iter().copied().min().unwrap_or(0);
            assert_eq!(up.contains(&at, 4), (0..=least).any(|delay| slow.contains(&moved(-delay), 4)));
            assert_eq!(down.contains(&at, 4), (0..=80).any(|delay| slow.contains(&moved(delay), 4)));
            let mut other = at.clone();
            let some = slow.n == 1 && slow.contains(&at, 4)
                || slow.n > 1 && (0..=120).any(|value| {
                    other[clock - 1] = value;
                    slow.contains(&other, 4)
                });
            assert_eq!(free.contains(&at, 4), some);
        });
    }

    #[test]
    fn subtraction_is_a_partition((zone, hole) in pairs(1..5), again in constraints(6)) {
        let n = zone.dimension();
        let mut pieces = Vec::new();
        zone.subtract(&hole, &mut pieces);
        prop_assert_eq!(pieces.is_empty(), hole.includes(&zone));
        for (k, piece) in pieces.iter().enumerate() {
            prop_assert!(zone.includes(piece) && !piece.clone().intersect(&hole));
            prop_assert!(pieces[k + 1..].iter().all(|other| !piece.clone().intersect(other)));
            let point = piece.point().expect("not empty");
            prop_assert!(zone.contains(&point) && !hole.contains(&point));
        }
        let second = super::oracle::zone_of(n, &again);
        let mut twice = pieces.clone();
        subtract(&mut twice, &second);
        let sets: Vec<Vec<Slow>> = [&pieces, &twice].map(|list| list.iter().map(Slow::of).collect()).into();
        let [zone, hole, second] = [&zone, &hole, &second].map(Slow::of);
        grid(n - 1, 12, &mut |at| {
            let times = |list: &[Slow]| list.iter().filter(|piece| piece.contains(at, 2)).count();
            let left = zone.contains(at, 2) && !hole.contains(at, 2);
            assert_eq!(times(&sets[0]), usize::from(left));
            assert_eq!(times(&sets[1]), usize::from(left && !second.contains(at, 2)));
        });
    }

    #[test]
    fn points_are_inside_and_simple(zone in zones()) {
        let point = zone.point().expect("not empty");
        prop_assert!(zone.contains(&point));
        prop_assert!(Slow::of(&zone).contains(&point.values, point.denominator));
        prop_assert!((1..point.denominator).all(|simpler| zone.point_over(simpler).is_none()));
        let multiple = zone.point_over(3 * point.denominator).expect("finer, not coarser");
        prop_assert!(zone.contains(&multiple));
    }

    #[test]
    fn membership_agrees_with_the_oracle(zone in (1..4usize).prop_flat_map(zone)) {
        let slow = Slow::of(&zone);
        grid(slow.n - 1, 14, &mut |at| {
            let point = super::Point { denominator: 2, values: at.to_vec() };
            assert_eq!(zone.contains(&point), slow.contains(at, 2));
        });
    }
}

/// Whether a valuation in units of `1 / unit` is simulated by one of the zone: tries every allowed
/// difference of each clock.
fn simulated(at: &[i64], unit: i64, zone: &Slow, lower: &[i32], upper: &[i32]) -> bool {
    fn ways(clock: usize, zone: &Slow, at: &[i64], unit: i64, lower: &[i32], upper: &[i32]) -> bool {
        let Some(&value) = at.get(clock) else { return zone.clone().close() };
        let row = clock + 1;
        let goes_on = |zone: Slow| ways(clock + 1, &zone, at, unit, lower, upper);
        let mut same = zone.clone();
        same.and(row, 0, Some((value, true)));
        same.and(0, row, Some((-value, true)));
        let mut below = zone.clone();
        below.and(row, 0, Some((value, false)));
        if lower[clock] != NO_BOUND {
            below.and(0, row, Some((-i64::from(lower[clock]) * unit, false)));
        }
        let mut above = zone.clone();
        above.and(0, row, Some((-value, false)));
        let blind = upper[clock] == NO_BOUND || i64::from(upper[clock]) * unit < value;
        goes_on(same) || goes_on(below) || (blind && goes_on(above))
    }
    ways(0, &zone.scaled(unit), at, unit, lower, upper)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn simulation_of_two_clocks_is_simulation_of_all_valuations(
        (bigger, smaller) in (2..4usize).prop_flat_map(|n| (tiny_zone(n, 4), tiny_zone(n, 5))),
        lower in prop::collection::vec(prop_oneof![Just(NO_BOUND), 0..4i32], 2),
        upper in prop::collection::vec(prop_oneof![Just(NO_BOUND), 0..4i32], 2),
    ) {
        let n = bigger.dimension();
        let (lower, upper) = (&lower[..n - 1], &upper[..n - 1]);
        let (big, small) = (Slow::of(&bigger), Slow::of(&smaller));
        // What is not simulated is bounded by differences of at most 9: closed entries up to 6, and
        // a clock's bound up to 3. Two in a row make 18, and one more is room for strict ones.
        // Thirds tell all orders of two fractions.
        let mut all = true;
        grid(n - 1, 3 * 19, &mut |at| {
            all = all && (!small.contains(at, 3) || simulated(at, 3, &big, lower, upper));
        });
        prop_assert_eq!(bigger.simulates(&smaller, lower, upper), all, "{:?} {:?}", bigger, smaller);
    }
}

proptest! {
    #[test]
    fn simulation_is_weaker_than_inclusion_and_subsumes_extrapolation(
        (bigger, smaller) in pairs(1..6),
        lower in clock_bounds(6),
        upper in clock_bounds(6),
    ) {
        let n = bigger.dimension();
        let (lower, upper) = (&lower[..n - 1], &upper[..n - 1]);
        let simulates = bigger.simulates(&smaller, lower, upper);
        prop_assert!(simulates || !bigger.includes(&smaller));
        let mut coarse = bigger.clone();
        coarse.extrapolate(Extrapolation::LuPlus, lower, upper);
        prop_assert!(simulates || !coarse.includes(&smaller));
        prop_assert!(bigger.simulates(&coarse, lower, upper));
    }

    #[test]
    fn numbers_that_grow_are_reported_and_never_wrap(
        n in 2..5usize,
        steps in prop::collection::vec((0..6u8, 0..64usize, 0..64usize, -Bound::LIMIT..=Bound::LIMIT), 1..60),
    ) {
        let mut zone = Dbm::zero(n);
        let mut exact = Slow::of(&zone);
        for (kind, i, j, c) in steps {
            let (i, j) = (i % n, j % n);
            let before = (zone.clone(), exact.clone());
            let mut left = true;
            match kind {
                0 => {
                    zone.up();
                    (1..n).for_each(|i| exact.at[i][0] = None);
                }
                1 if i > 0 => {
                    let shifted = |k: usize| Origin { row: k as u32, offset: if k == i { c.abs() } else { 0 } };
                    let origins: Vec<_> = (1..n).map(shifted).collect();
                    zone.gather(&before.0, &origins);
                    for k in (0..n).filter(|&k| k != i) {
                        exact.at[i][k] = exact.at[i][k].map(|(d, weak)| (d + i64::from(c.abs()), weak));
                        exact.at[k][i] = exact.at[k][i].map(|(d, weak)| (d - i64::from(c.abs()), weak));
                    }
                }
                2 if i > 0 => {
                    left = zone.conjoin(i, 0, Bound::weak(c.abs()));
                    exact.and(i, 0, Some((i64::from(c.abs()), true)));
                }
                3 if i > 0 => {
                    left = zone.conjoin(0, i, Bound::weak(-c.abs()));
                    exact.and(0, i, Some((-i64::from(c.abs()), true)));
                }
                4 => {
                    let mut other = Dbm::universe(n);
                    left = other.conjoin(i, j, Bound::weak(c)) && zone.intersect(&other);
                    exact.and(i, j, Some((i64::from(c), true)));
                }
                _ => {
                    left = zone.conjoin(i, j, Bound::weak(c));
                    exact.and(i, j, Some((i64::from(c), true)));
                }
            }
            let truly_left = exact.close();
            if zone.overflowed() {
                prop_assert!(left || !truly_left, "weaker bounds leave more");
                let beyond = |bound: &Slack| bound.is_some_and(|(c, _)| c.abs() >= i64::from(Bound::LIMIT));
                let was_near = before.1.at.iter().chain(&exact.at).flatten().any(beyond);
                prop_assert!(was_near || !truly_left, "only if a number is out of range");
                return Ok(());
            }
            prop_assert_eq!(left, truly_left);
            if left {
                prop_assert_eq!(&Slow::of(&zone), &exact);
            } else {
                (zone, exact) = before;
            }
        }
    }
}

#[test]
fn a_loop_without_extrapolation_ends_in_a_report() {
    // x <= LIMIT / 2 keeps x small while y grows with every round.
    let round = Bound::LIMIT / 2 - 1;
    let mut zone = Dbm::zero(3);
    for turn in 1..=10 {
        zone.up();
        assert!(zone.conjoin(1, 0, Bound::weak(round)));
        assert!(zone.conjoin(0, 1, Bound::weak(-round)));
        let old = zone.clone();
        zone.gather(&old, &[Origin { row: 0, offset: 0 }, Origin { row: 2, offset: 0 }]);
        assert_eq!(zone.overflowed(), turn > 2, "turn {turn}");
        if turn <= 2 {
            assert_eq!(zone.get(0, 2), Bound::weak(-turn * round));
        }
    }
}

#[test]
fn time_diverges_where_no_clock_is_bounded() {
    let mut zone = Dbm::zero(3);
    assert!(!zone.can_diverge());
    zone.up();
    assert!(zone.can_diverge());
    assert!(zone.conjoin(1, 0, Bound::weak(5)));
    assert!(!zone.can_diverge());
    zone.free(2);
    assert!(!zone.can_diverge());
    assert!(Dbm::zero(1).can_diverge());
}

#[test]
fn what_is_not_simulated_may_lie_far_above_the_constants() {
    // y > x + 5 forces y above 9 where x is 4, the only place where x < 4 cannot follow.
    let (mut bigger, mut smaller) = (Dbm::universe(3), Dbm::universe(3));
    assert!(bigger.conjoin(1, 0, Bound::strict(4)));
    assert!(smaller.conjoin(1, 2, Bound::strict(-5)));
    let none = [NO_BOUND, NO_BOUND];
    assert!(!bigger.simulates(&smaller, &[4, NO_BOUND], &none));
    assert!(!simulated(&[4 * 3, 10 * 3], 3, &Slow::of(&bigger), &[4, NO_BOUND], &none));
    // A lower bound of 3 leaves room between it and 4.
    assert!(bigger.simulates(&smaller, &[3, NO_BOUND], &none));
    assert!(simulated(&[4 * 3, 10 * 3], 3, &Slow::of(&bigger), &[3, NO_BOUND], &none));
}

#[test]
fn a_clock_may_be_moved_to_just_above_its_lower_bound() {
    // Where x is just above 1, y - x <= 1 still lets y be just above 2; from 1 itself it would not.
    let (mut bigger, mut smaller) = (Dbm::universe(3), Dbm::universe(3));
    assert!(bigger.conjoin(2, 1, Bound::weak(1)) && smaller.conjoin(0, 1, Bound::strict(-1)));
    let (lower, upper) = ([NO_BOUND, 2], [3, NO_BOUND]);
    assert!(bigger.simulates(&smaller, &lower, &upper));
    let mut closed = Dbm::universe(3);
    assert!(closed.conjoin(0, 1, Bound::weak(-1)));
    assert!(!bigger.simulates(&closed, &lower, &upper));
    for (x, simulates) in [(3, false), (4, true)] {
        assert_eq!(simulated(&[x, 30], 3, &Slow::of(&bigger), &lower, &upper), simulates);
    }
}
