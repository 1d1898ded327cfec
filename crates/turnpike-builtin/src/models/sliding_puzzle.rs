//! The sliding puzzle: tiles in a frame with one gap.
//!
//! A cell has four bits, eight are in a word, row by row from the top left. 0 is the gap. The
//! puzzle is solved if the tiles are in order and the gap is last. Half of all arrangements have a
//! solution, and all instances are among them.
//!
//! An instance is drawn by a specified hash, so it is the same on all machines: the tiles are
//! shuffled from the last cell to the first, and two tiles are exchanged if the arrangement has no
//! solution.

use turnpike_model::{LabelId, ModelInfo, Successors, hash};

use crate::catalogue::{BuiltinInfo, ParameterInfo};
use crate::lanes::Lanes;
use crate::packed::{Packed, measures, model, names, no_measure};

pub(crate) const INFO: BuiltinInfo = BuiltinInfo {
    name: "sliding-puzzle",
    summary: "Tiles in a frame with one gap: bring them in order by sliding.",
    details: "With k = width*height cells k!/2 states: 181440 for the default, 10461394944000 for 4 by 4, where only a \
        guided search gets through. The solved state has the self-loop solved. Order: solved, then the tile above \
        the gap, below it, left of it, right of it; labels name the tile and where it goes.",
    parameters: &[
        ParameterInfo::new("width", 3, (2, 4), "the number of columns"),
        ParameterInfo::new("height", 3, (2, 4), "the number of rows"),
        ParameterInfo::new(
            "instance",
            1,
            (0, u64::MAX),
            "which arrangement to begin with; 0 is the solved one",
        ),
    ],
    make: |name, values| model(name, Puzzle::new(values[0] as usize, values[1] as usize, values[2])),
};

type Cells = Lanes<4>;

/// Directions in the order of successors. In the first one, the tile above the gap moves down.
const ACTIONS: [&str; 4] = ["down", "up", "right", "left"];
const SOLVED: LabelId = LabelId(0);

struct Puzzle {
    width: usize,
    height: usize,
    initial: Vec<u32>,
    goal: Vec<u32>,
}

impl Puzzle {
    fn new(width: usize, height: usize, instance: u64) -> Self {
        let cells = width * height;
        let mut tiles: Vec<u32> = (1..cells as u32).collect();
        tiles.push(0);
        let goal = pack(&tiles);
        if instance > 0 {
            for last in (1..cells).rev() {
                // The bias of the remainder is negligible: it is below 2^-60.
                let other = hash::mix(instance, last as u64) % (last as u64 + 1);
                tiles.swap(last, other as usize);
            }
            if !solvable(&tiles, width, height) {
                let mut places = (0..cells).filter(|&cell| tiles[cell] != 0);
                if let (Some(first), Some(second)) = (places.next(), places.next()) {
                    tiles.swap(first, second);
                }
            }
        }
        Puzzle { width, height, initial: pack(&tiles), goal }
    }

    fn cells(&self) -> usize {
        self.width * self.height
    }

    /// The cell of a tile, or `None` for the gap, in the solved state.
    fn home(&self, tile: u32) -> Option<usize> {
        (tile as usize).checked_sub(1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        (from % self.width).abs_diff(to % self.width) + (from / self.width).abs_diff(to / self.width)
    }

    /// The sum of `cost(cell, home)` over all tiles.
    fn sum(&self, state: &[u32], cost: impl Fn(usize, usize) -> usize) -> usize {
        (0..self.cells()).filter_map(|cell| Some(cost(cell, self.home(Cells::get(state, cell))?))).sum()
    }

    /// Twice the number of pairs of tiles that block each other: both are in their own row or
    /// column, but in the wrong order. One of them must leave that line and return, which takes two
    /// moves.
    fn conflicts(&self, state: &[u32]) -> usize {
        let homes: Vec<Option<usize>> =
            (0..self.cells()).map(|cell| self.home(Cells::get(state, cell))).collect();
        let mut conflicts = 0;
        for first in 0..self.cells() {
            for second in first + 1..self.cells() {
                let (Some(a), Some(b)) = (homes[first], homes[second]) else { continue };
                let line =
                    |cell: usize, by_row: bool| if by_row { cell / self.width } else { cell % self.width };
                for by_row in [true, false] {
                    let lines = [first, second, a, b].map(|cell| line(cell, by_row));
                    if lines.iter().all(|&other| other == lines[0]) && a > b {
                        conflicts += 2;
                    }
                }
            }
        }
        conflicts
    }
}

fn pack(tiles: &[u32]) -> Vec<u32> {
    let mut words = vec![0; Cells::words(tiles.len())];
    for (cell, &tile) in tiles.iter().enumerate() {
        Cells::set(&mut words, cell, tile);
    }
    words
}

/// Whether an arrangement has a solution. A slide exchanges the gap with a neighbour, so it changes
/// both the parity of the permutation and that of the gap's distance from its home.
fn solvable(tiles: &[u32], width: usize, height: usize) -> bool {
    let cells = width * height;
    let rank = |cell: usize| if tiles[cell] == 0 { cells as u32 } else { tiles[cell] };
    let inversions: usize =
        (0..cells).map(|first| (first + 1..cells).filter(|&second| rank(first) > rank(second)).count()).sum();
    let gap = (0..cells).find(|&cell| tiles[cell] == 0).unwrap_or(cells - 1);
    let away = (width - 1 - gap % width) + (height - 1 - gap / width);
    inversions % 2 == away % 2
}

impl Packed for Puzzle {
    fn width(&self) -> usize {
        self.goal.len()
    }

    fn describe(&self, info: &mut ModelInfo) {
        info.parameters = (0..self.cells())
            .map(|cell| format!("r{}c{}", cell / self.width + 1, cell % self.width + 1))
            .collect();
        info.actions = names(&ACTIONS);
        info.actions.push("solved".to_owned());
        info.measures = measures(&[
            (
                "manhattan",
                "sum of all tiles' distances from home; 0 when solved, never more than the moves needed",
            ),
            ("misplaced", "tiles that are not at home"),
            (
                "linear-conflict",
                "manhattan, and 2 for each pair of tiles that must pass each other in their line",
            ),
        ]);
        info.suggestions = names(&["action solved", "min manhattan"]);
    }

    fn arity(&self, action: &str) -> usize {
        if action == "solved" { 0 } else { 1 }
    }

    fn initial(&self, state: &mut [u32]) {
        state.copy_from_slice(&self.initial);
    }

    fn successors(&self, state: &[u32], out: &mut Successors) {
        if state == self.goal {
            out.push(SOLVED, state);
        }
        let Some(gap) = (0..self.cells()).find(|&cell| Cells::get(state, cell) == 0) else { return };
        let (column, row) = (gap % self.width, gap / self.width);
        let neighbours = [
            (row > 0).then(|| gap - self.width),
            (row + 1 < self.height).then(|| gap + self.width),
            (column > 0).then(|| gap - 1),
            (column + 1 < self.width).then(|| gap + 1),
        ];
        for (direction, neighbour) in neighbours.into_iter().enumerate() {
            let Some(neighbour) = neighbour else { continue };
            let tile = Cells::get(state, neighbour);
            out.push_edited(LabelId(1 + 4 * (tile - 1) + direction as u32), state, |target| {
                Cells::set(target, gap, tile);
                Cells::set(target, neighbour, 0);
            });
        }
    }

    fn label(&self, id: u32) -> String {
        match id.checked_sub(1) {
            None => "solved".to_owned(),
            Some(slide) => format!("{}({})", ACTIONS[slide as usize % 4], slide / 4 + 1),
        }
    }

    fn values(&self, state: &[u32], out: &mut Vec<String>) {
        out.extend((0..self.cells()).map(|cell| match Cells::get(state, cell) {
            0 => "gap".to_owned(),
            tile => tile.to_string(),
        }));
    }

    fn measure(&self, state: &[u32], index: usize) -> f64 {
        let value = match index {
            0 => self.sum(state, |from, to| self.distance(from, to)),
            1 => self.sum(state, |from, to| usize::from(from != to)),
            2 => self.sum(state, |from, to| self.distance(from, to)) + self.conflicts(state),
            _ => no_measure(index),
        };
        value as f64
    }
}
