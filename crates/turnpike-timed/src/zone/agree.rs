//! Texts of one zone with more and with fewer clocks.
//!
//! A text has the tightest bound of every clock and of every pair, so leaving out a clock leaves out the parts that name
//! it, and changes nothing else.

/// Whether two texts say the same about the clocks of the one that has fewer, all of which the other has.
pub fn texts_agree(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (parts(one), parts(other)) else { return false };
    let (fewer, more) = if one.clocks.len() <= other.clocks.len() { (one, other) } else { (other, one) };
    let known = |clock: &&str| fewer.clocks.contains(clock);
    let kept = more.parts.iter().filter(|part| part.clocks.iter().all(&known));
    fewer.clocks.iter().all(|clock| more.clocks.contains(clock))
        && kept.map(|part| part.text).eq(fewer.parts.iter().map(|part| part.text))
}

/// A text taken apart.
struct Parts<'a> {
    clocks: Vec<&'a str>,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    text: &'a str,
    clocks: Vec<&'a str>,
}

/// Takes a text apart: first each clock by itself, then pairs of them. `None` if it is not the text of a zone.
fn parts(text: &str) -> Option<Parts<'_>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut found = Parts { clocks: Vec::new(), parts: Vec::new() };
    for text in inside.split(" && ").filter(|part| !part.is_empty()) {
        let is_clock = |word: &&str| !word.is_empty() && word.parse::<i64>().is_err();
        let words: Vec<&str> = text.split(['<', '=']).filter(is_clock).collect();
        let clocks = match words[..] {
            // `x==y+2`
            [first, second] => vec![first, with_offset(&found.clocks, second)?],
            [word] => difference(&found.clocks, word).unwrap_or_else(|| {
                found.clocks.push(word);
                vec![word]
            }),
            _ => return None,
        };
        found.parts.push(Part { text, clocks });
    }
    Some(found)
}

/// The clock of `y+2`. Names may contain such signs themselves.
fn with_offset<'a>(clocks: &[&'a str], word: &str) -> Option<&'a str> {
    let is_offset = |rest: &str| rest.is_empty() || rest.parse::<i64>().is_ok();
    clocks.iter().copied().find(|clock| word.strip_prefix(clock).is_some_and(is_offset))
}

/// The clocks of `x-y`.
fn difference<'a>(clocks: &[&'a str], word: &str) -> Option<Vec<&'a str>> {
    let second = |first: &str| {
        let rest = word.strip_prefix(first)?.strip_prefix('-')?;
        clocks.iter().copied().find(|clock| *clock == rest)
    };
    clocks.iter().find_map(|first| Some(vec![*first, second(first)?]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Bound, Dbm};
    use super::*;

    #[test]
    fn fewer_clocks_say_the_same() {
        let full = "(0<=x<=5 && y==2 && -3<P(-1).z && x-y<=3 && x==P(-1).z-2 && y-P(-1).z<=4)";
        for agrees in ["(0<=x<=5)", "()", full, "(y==2 && -3<P(-1).z && y-P(-1).z<=4)"] {
            assert!(texts_agree(full, agrees) && texts_agree(agrees, full), "{agrees}");
        }
        for differs in
            ["(0<=x<=6)", "(0<=x<=5 && y==2)", "(0<=w)", "on", "(y==2 && -3<P(-1).z)", "(x<=y<=z<=1)"]
        {
            assert!(!texts_agree(full, differs) && !texts_agree(differs, full), "{differs}");
        }
    }

    proptest! {
        /// What remains of a zone without a clock has the text that is compared.
        #[test]
        fn texts_of_projections_agree(
            bounds in prop::collection::vec((0..4usize, 0..4usize, -6..9i32, any::<bool>()), 0..6),
            left_out in 1..4usize,
            change in prop::option::of((1..4usize, -1..7i32)),
        ) {
            let names = ["x", "x-y", "P(1).x"];
            let mut zone = Dbm::universe(4);
            for (row, column, value, strict) in bounds {
                let bound = if strict { Bound::strict(value) } else { Bound::weak(value) };
                prop_assume!(row == column || zone.conjoin(row, column, bound));
            }
            let kept: Vec<usize> = (0..4).filter(|&row| row != left_out).collect();
            let project = |zone: &Dbm| {
                let mut small = Dbm::universe(3);
                for (row, &from) in kept.iter().enumerate() {
                    for (column, &to) in kept.iter().enumerate().filter(|&(column, _)| column != row) {
                        let bound = zone.get(from, to);
                        assert!(bound.is_infinite() || small.conjoin(row, column, bound));
                    }
                }
                small
            };
            let few: Vec<&str> = kept[1..].iter().map(|&row| names[row - 1]).collect();
            let text = zone.text(&names).to_string();
            prop_assert!(texts_agree(&text, &project(&zone).text(&few).to_string()));
            // A zone that differs where both look does not agree.
            if let Some((row, value)) = change {
                let mut other = zone.clone();
                prop_assume!(other.conjoin(row, 0, Bound::weak(value)));
                let same = project(&other) == project(&zone);
                prop_assert_eq!(texts_agree(&text, &project(&other).text(&few).to_string()), same);
            }
        }
    }
}
