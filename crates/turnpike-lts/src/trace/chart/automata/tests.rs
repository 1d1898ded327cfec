use proptest::prelude::*;

use super::*;

fn location(name: &str) -> AutomatonLocation {
    AutomatonLocation { name: name.to_owned(), ..AutomatonLocation::default() }
}

fn edge(from: u32, to: u32, guard: &str) -> AutomatonEdge {
    AutomatonEdge { from, to, guard: guard.to_owned(), choices: 1, ..AutomatonEdge::default() }
}

/// Names that are markup, a loop, two edges between the same locations, an edge back, one within a row.
fn example() -> Automaton {
    let waiting =
        AutomatonLocation { invariant: "x <= 5".to_owned(), haste: Haste::Urgent, ..location("waiting<b>") };
    let send = AutomatonEdge {
        action: "go!".to_owned(),
        update: "x = 0".to_owned(),
        choices: 3,
        ..edge(0, 1, "x < 2 && y > 3")
    };
    Automaton {
        name: "P<1>".to_owned(),
        locations: vec![location("idle"), waiting, location("done")],
        initial: vec![0],
        edges: vec![
            send,
            edge(0, 1, "b"),
            edge(1, 0, "back"),
            edge(0, 2, ""),
            edge(1, 2, "side"),
            edge(2, 2, "loop"),
        ],
    }
}

#[test]
fn everything_is_drawn_and_marked() {
    let at = |edge| EdgeTaken { automaton: 1, edge };
    let situation = Situation { locations: vec![0, 1], taken: vec![at(0)], enabled: vec![at(2), at(4)] };
    let automata = [example(), example()];
    let picture = automata_chart(&automata, &[1], &situation, None).file();
    assert_eq!(picture.matches("class=\"location").count(), 3);
    assert_eq!(picture.matches("class=\"edge-head\"").count(), 6);
    assert!(
        picture.contains("class=\"location here\" data-automaton=\"1\" data-location=\"1\""),
        "{picture}"
    );
    assert!(picture.contains("class=\"edge taken\" data-automaton=\"1\" data-edge=\"0\""));
    assert_eq!(picture.matches("class=\"edge enabled\"").count(), 2);
    for words in ["x &lt; 2 &amp;&amp; y &gt; 3", "go!", "x = 0", "one of 3 choices", "urgent", "x &lt;= 5"] {
        assert!(picture.contains(words), "{words}");
    }
    assert!(!picture.contains("waiting<b>") && !picture.contains("P<1>"));
    let both = automata_chart(&automata, &[0, 1, 7], &Situation::default(), None).file();
    assert_eq!(both.matches("class=\"location").count(), 6);
    assert!(!both.contains(" here\""));
}

#[test]
fn wide_pictures_go_on_below() {
    let automata = vec![example(); 12];
    let all: Vec<usize> = (0..12).collect();
    let size = |asked: Option<u32>, name: &str| -> f64 {
        let picture = automata_chart(&automata, &all, &Situation::default(), asked).file();
        let (_, rest) = picture.split_once(&format!(" {name}=\"")).expect("a size");
        rest.split('"').next().expect("a number").parse().expect("a number")
    };
    assert!(size(None, "width") <= f64::from(WIDEST));
    assert!(size(Some(700), "width") <= 700.0);
    assert!(size(Some(700), "height") > size(None, "height"));
}

type Corners = (f64, f64, f64, f64);

fn overlap(one: Corners, other: Corners) -> bool {
    one.0 < other.2 - 0.01 && other.0 < one.2 - 0.01 && one.1 < other.3 - 0.01 && other.1 < one.3 - 0.01
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the automaton is, no text and no location lies on another, and the picture has room for all.
    #[test]
    fn nothing_overlaps(
        count in 1_u32..9,
        edges in prop::collection::vec((0_u32..9, 0_u32..9, 0_usize..30), 0..20),
        initial in 0_u32..9,
    ) {
        let sizes: Vec<Point> = (0..count).map(|at| (44.0 + 17.0 * f64::from(at % 4), 21.0 + f64::from(at % 3) * 13.0)).collect();
        let edges: Vec<(u32, u32, Point)> = edges.into_iter()
            .map(|(from, to, length)| (from % count, to % count, (length as f64 * CHARACTER + 6.0, 13.0)))
            .collect();
        let layout = layout::arrange(&Sizes { locations: &sizes, initial: &[initial % count], edges: &edges });
        prop_assert_eq!(layout.routes.len(), edges.len());
        let mut boxes: Vec<Corners> = Vec::new();
        for (&(x, y), &(width, height)) in layout.locations.iter().zip(&sizes) {
            boxes.push((x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0));
        }
        for (route, &(_, _, (width, height))) in layout.routes.iter().zip(&edges) {
            let (x, y) = route.text;
            // The text itself: the line of its edge is at its left.
            boxes.push((x, y, x + width - 6.0, y + height));
            prop_assert!(route.path.starts_with('M') && !route.path.contains("NaN"), "{}", route.path);
        }
        for (index, &one) in boxes.iter().enumerate() {
            prop_assert!(one.0 > -0.01 && one.1 > -0.01 && one.2 < layout.width + 0.01 && one.3 < layout.height + 0.01);
            for &other in &boxes[..index] {
                prop_assert!(!overlap(one, other), "{one:?} {other:?}");
            }
        }
    }
}
