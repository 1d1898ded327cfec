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

/// Places for the things of a row, as near to the places that they wish for as possible: their order
/// stays, and two of them are at least as far apart as their `offsets` are. The squared distances from
/// the wishes add up to the least, by isotonic regression: neighbours that want to pass each other are
/// pooled.
pub fn spread(wishes: &[f64], offsets: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wishes.iter().zip(offsets) {
        let mut pool = (wish - offset, 1);
        while let Some(&(sum, count)) = pools.last()
            && sum / count as f64 > pool.0 / pool.1 as f64
        {
            pools.pop();
            pool = (sum + pool.0, count + pool.1);
        }
        pools.push(pool);
    }
    let shifts = pools.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    shifts.zip(offsets).map(|(shift, offset)| shift + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::{order_layers, spread};

    #[test]
    fn wishes_come_true_where_there_is_room() {
        let offsets = [0.0, 40.0, 80.0];
        assert_eq!(spread(&[0.0, 100.0, 400.0], &offsets), [0.0, 100.0, 400.0]);
        assert_eq!(spread(&[10.0, 10.0, 10.0], &offsets), [-30.0, 10.0, 50.0]);
        assert_eq!(spread(&[10.0, 10.0, 400.0], &offsets), [-10.0, 30.0, 400.0]);
        assert_eq!(spread(&[], &[]), [0.0; 0]);
    }

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
