//! Where the nodes of a graph stand: in rows by their distance from the first node, close together,
//! near the nodes that they are joined with.

use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};
use turnpike_lts::spread;

/// Distances between nodes, in pixels.
pub(crate) const COLUMN: f64 = 44.0;
const ROW: f64 = 72.0;
/// Up to this many nodes, neighbours are swapped until no swap removes a crossing.
const MOST_TRANSPOSED: usize = 400;
/// How often nodes move towards their neighbours, down and up in turn.
const SWEEPS: usize = 12;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) depth: u32,
}

/// The places of nodes that these edges join. Each can be reached from the first one.
///
/// Rows are distances from the first node, so the only edges that matter to the layout are those to the
/// next row: all others lead back or sideways, and are drawn as curves.
pub(crate) fn places(nodes: usize, edges: &[(u32, u32)]) -> Vec<Place> {
    let depths = depths(nodes, edges);
    let leads_down = |&&(from, to): &&(u32, u32)| depths[to as usize] == depths[from as usize] + 1;
    let down: Vec<(u32, u32)> = edges.iter().filter(leads_down).copied().collect();
    let rows = rows(&depths, &down);
    let xs = columns(nodes, &rows, &down);
    let place = |(x, depth): (f64, u32)| Place { x, y: f64::from(depth) * ROW, depth };
    xs.into_iter().zip(depths).map(place).collect()
}

fn depths(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let mut targets: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    edges.iter().for_each(|&(from, to)| targets[from as usize].push(to));
    let mut depths = vec![0; nodes];
    let mut met = vec![false; nodes];
    met[0] = true;
    let mut queue = vec![0_u32];
    let mut next = 0;
    while let Some(&from) = queue.get(next) {
        next += 1;
        for &to in &targets[from as usize] {
            if !std::mem::replace(&mut met[to as usize], true) {
                depths[to as usize] = depths[from as usize] + 1;
                queue.push(to);
            }
        }
    }
    depths
}

/// The nodes of each row, in an order with few crossings.
fn rows(depths: &[u32], down: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let vertices: Vec<(u32, (f64, f64))> =
        (0..depths.len() as u32).map(|node| (node, (COLUMN / 2.0, COLUMN / 2.0))).collect();
    let config = Config {
        vertex_spacing: COLUMN / 2.0,
        // Nodes are as high up as they can be: in the row of their distance.
        ranking_type: RankingType::Up,
        c_minimization: CrossingMinimization::Barycenter,
        transpose: depths.len() <= MOST_TRANSPOSED,
        ..Config::default()
    };
    let mut order = vec![0.0; depths.len()];
    for (places, ..) in rust_sugiyama::from_vertices_and_edges(&vertices, down, &config) {
        for (node, (x, _)) in places {
            order[node] = x;
        }
    }
    let deepest = depths.iter().copied().max().unwrap_or(0);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); deepest as usize + 1];
    depths.iter().enumerate().for_each(|(node, &depth)| rows[depth as usize].push(node as u32));
    for row in &mut rows {
        row.sort_by(|&one, &other| {
            order[one as usize].total_cmp(&order[other as usize]).then(one.cmp(&other))
        });
    }
    rows
}

/// Columns: every row keeps its order, and its nodes move as near to their neighbours in other rows as
/// the distance between nodes allows.
fn columns(nodes: usize, rows: &[Vec<u32>], down: &[(u32, u32)]) -> Vec<f64> {
    let (mut above, mut below) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for &(from, to) in down {
        above[to as usize].push(from);
        below[from as usize].push(to);
    }
    let mut xs = vec![0.0; nodes];
    for row in rows {
        for (place, &node) in row.iter().enumerate() {
            xs[node as usize] = (place as f64 - (row.len() - 1) as f64 / 2.0) * COLUMN;
        }
    }
    let mut move_row = |row: &[u32], neighbours: &[Vec<u32>]| {
        let wish = |&node: &u32| {
            let near = &neighbours[node as usize];
            let sum: f64 = near.iter().map(|&other| xs[other as usize]).sum();
            if near.is_empty() { xs[node as usize] } else { sum / near.len() as f64 }
        };
        let wishes: Vec<f64> = row.iter().map(wish).collect();
        let offsets: Vec<f64> = (0..row.len()).map(|place| place as f64 * COLUMN).collect();
        for (&node, x) in row.iter().zip(spread(&wishes, &offsets)) {
            xs[node as usize] = x;
        }
    };
    for sweep in 0..SWEEPS {
        if sweep % 2 == 0 {
            rows.iter().rev().for_each(|row| move_row(row, &below));
        } else {
            rows.iter().for_each(|row| move_row(row, &above));
        }
    }
    xs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid has rows that grow and shrink: no row may be torn apart.
    #[test]
    fn pictures_are_hardly_wider_than_their_widest_row() {
        let side = 12_u32;
        let node = |x: u32, y: u32| y * side + x;
        let mut edges = Vec::new();
        for x in 0..side {
            for y in 0..side {
                edges.extend((x + 1 < side).then(|| (node(x, y), node(x + 1, y))));
                edges.extend((y + 1 < side).then(|| (node(x, y), node(x, y + 1))));
                // Edges that lead back change nothing.
                edges.push((node(x, y), 0));
            }
        }
        let places = places((side * side) as usize, &edges);
        let (least, most) = places
            .iter()
            .fold((f64::MAX, f64::MIN), |(least, most), place| (place.x.min(least), place.x.max(most)));
        let widest = f64::from(side - 1) * COLUMN;
        assert!(most - least <= widest * 1.5, "{} columns instead of {side}", (most - least) / COLUMN);
        for (index, one) in places.iter().enumerate() {
            for other in places[..index].iter().filter(|other| other.depth == one.depth) {
                assert!((one.x - other.x).abs() >= COLUMN - 0.01, "{one:?} {other:?}");
            }
        }
    }
}
