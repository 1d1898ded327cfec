//! The order of states within the layers of a drawing.

/// The number of passes that move states closer to their neighbours.
const SWEEPS: usize = 12;

/// Orders the states of each layer by the average position of their neighbours in the previous or
/// next layer, which removes most crossings. Each of the `states` states is in one layer; `edges`
/// connect any two of them.
pub fn order_layers(
    layers: &mut [Vec<usize>],
    states: usize,
    edges: impl IntoIterator<Item = (usize, usize)>,
) {
    let mut neighbours = vec![Vec::new(); states];
    for (from, to) in edges {
        if from != to {
            neighbours[from].push(to);
            neighbours[to].push(from);
        }
    }
    let mut layer_of = vec![0; states];
    // Positions are relative to the width of the row, so that rows of different lengths are
    // comparable.
    let mut place = vec![0.0; states];
    let settle = |layer: &[usize], place: &mut [f64]| {
        for (index, &state) in layer.iter().enumerate() {
            place[state] = (index as f64 + 0.5) / layer.len() as f64;
        }
    };
    for (number, layer) in layers.iter().enumerate() {
        settle(layer, &mut place);
        for &state in layer {
            layer_of[state] = number;
        }
    }
    let rows = layers.len();
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        for step in 0..rows {
            let number = if down { step } else { rows - 1 - step };
            let is_beside =
                |other: usize| if down { layer_of[other] < number } else { layer_of[other] > number };
            let average = |state: usize| {
                let beside = neighbours[state].iter().filter(|&&other| is_beside(other));
                let (sum, count) =
                    beside.fold((0.0, 0), |(sum, count), &other| (sum + place[other], count + 1));
                if count == 0 { place[state] } else { sum / f64::from(count) }
            };
            let mut keyed: Vec<(f64, usize)> =
                layers[number].iter().map(|&state| (average(state), state)).collect();
            keyed.sort_by(|left, right| left.0.total_cmp(&right.0));
            layers[number] = keyed.into_iter().map(|(_, state)| state).collect();
            settle(&layers[number], &mut place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::order_layers;

    #[test]
    fn crossings_are_removed() {
        // Two chains that start in the wrong order.
        let mut layers = vec![vec![0, 1], vec![3, 2], vec![4, 5]];
        order_layers(&mut layers, 6, [(0, 2), (2, 4), (1, 3), (3, 5), (4, 4)]);
        assert_eq!(layers, [vec![0, 1], vec![2, 3], vec![4, 5]]);
    }

    #[test]
    fn states_without_neighbours_stay() {
        let mut layers = vec![vec![2, 0, 1], vec![]];
        order_layers(&mut layers, 3, []);
        assert_eq!(layers[0], [2, 0, 1]);
    }
}
