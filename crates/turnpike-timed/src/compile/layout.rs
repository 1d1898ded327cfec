//! The packing of the discrete part of a state: bit fields in words, locations first.

use crate::network::Network;

/// A range of bits in a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    word: u32,
    shift: u32,
    mask: u32,
}

impl Field {
    #[inline]
    fn get(self, words: &[u32]) -> u32 {
        words[self.word as usize] >> self.shift & self.mask
    }

    #[inline]
    fn set(self, words: &mut [u32], value: u32) {
        let word = &mut words[self.word as usize];
        *word = *word & !(self.mask << self.shift) | value << self.shift;
    }
}

/// The positions of all locations and cells.
#[derive(Debug)]
pub(crate) struct Layout {
    locations: Vec<Field>,
    /// By cell; cells that are not part of the state have empty fields.
    cells: Vec<Field>,
    /// The cells that are part of the state, with their smallest values.
    kept: Vec<(u32, i32)>,
    lows: Vec<i32>,
    /// By bit of the words, what it belongs to.
    owners: Vec<Owner>,
    /// Words of the discrete part, at least one.
    pub(crate) words: usize,
    /// Leading words that contain locations, and a mask of the location bits in the last of them.
    pub(crate) location_words: usize,
    last_mask: u32,
}

/// What a bit belongs to.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Nothing,
    Location(u32),
    Cell(u32),
}

/// Allocates bits: a field never straddles two words.
struct Bits {
    word: u32,
    used: u32,
}

impl Bits {
    fn take(&mut self, largest: u32) -> Field {
        let bits = u32::BITS - largest.leading_zeros();
        if bits == 0 {
            return Field { word: 0, shift: 0, mask: 0 };
        }
        if self.used + bits > u32::BITS {
            self.word += 1;
            self.used = 0;
        }
        let field = Field { word: self.word, shift: self.used, mask: u32::MAX >> (u32::BITS - bits) };
        self.used += bits;
        field
    }
}

impl Layout {
    pub(crate) fn new(network: &Network) -> Layout {
        let mut bits = Bits { word: 0, used: 0 };
        let locations = network
            .processes
            .iter()
            .map(|process| bits.take((process.locations.len() as u32).saturating_sub(1)))
            .collect();
        let location_words = bits.word as usize + 1;
        let last_mask = u32::MAX.checked_shr(u32::BITS - bits.used).unwrap_or(0);
        let mut kept = Vec::new();
        let cells = network
            .variables
            .iter()
            .zip(0..)
            .map(|(variable, cell)| {
                if variable.meta || variable.low >= variable.high {
                    return Field { word: 0, shift: 0, mask: 0 };
                }
                kept.push((cell, variable.low));
                bits.take(variable.high.wrapping_sub(variable.low) as u32)
            })
            .collect();
        let lows = network.variables.iter().map(|variable| variable.low).collect();
        let (locations, cells): (Vec<Field>, Vec<Field>) = (locations, cells);
        let words = bits.word as usize + 1;
        let mut owners = vec![Owner::Nothing; words * u32::BITS as usize];
        let mut own = |field: &Field, owner: Owner| {
            let first = (field.word * u32::BITS + field.shift) as usize;
            owners[first..][..field.mask.count_ones() as usize].fill(owner);
        };
        for (field, at) in locations.iter().zip(0..) {
            own(field, Owner::Location(at));
        }
        for &(cell, _) in &kept {
            own(&cells[cell as usize], Owner::Cell(cell));
        }
        Layout { locations, cells, kept, lows, owners, words, location_words, last_mask }
    }

    /// Reads locations and cells; cells that are not part of the state are left unchanged.
    #[inline]
    pub(crate) fn unpack(&self, words: &[u32], locations: &mut [u32], cells: &mut [i32]) {
        for (location, field) in locations.iter_mut().zip(&self.locations) {
            *location = field.get(words);
        }
        for &(cell, low) in &self.kept {
            cells[cell as usize] = low.wrapping_add(self.cells[cell as usize].get(words) as i32);
        }
    }

    /// The same when the values of `before` are already there.
    #[inline]
    pub(crate) fn unpack_changed(
        &self,
        before: &[u32],
        words: &[u32],
        locations: &mut [u32],
        cells: &mut [i32],
    ) {
        let owners = self.owners.as_chunks::<{ u32::BITS as usize }>().0;
        for ((before, now), owners) in before.iter().zip(words).zip(owners) {
            let mut changed = before ^ now;
            while changed != 0 {
                let field = match owners[changed.trailing_zeros() as usize] {
                    Owner::Nothing => break,
                    Owner::Location(process) => {
                        let field = self.locations[process as usize];
                        locations[process as usize] = now >> field.shift & field.mask;
                        field
                    }
                    Owner::Cell(cell) => {
                        let (field, low) = (self.cells[cell as usize], self.lows[cell as usize]);
                        cells[cell as usize] = low.wrapping_add((now >> field.shift & field.mask) as i32);
                        field
                    }
                };
                changed &= !(field.mask << field.shift);
            }
        }
    }

    /// Lists the processes whose locations differ between two states.
    #[inline]
    pub(crate) fn moved_processes(&self, before: &[u32], words: &[u32], out: &mut Vec<u32>) {
        let owners = self.owners.as_chunks::<{ u32::BITS as usize }>().0;
        out.clear();
        for ((before, now), owners) in before.iter().zip(words).zip(&owners[..self.location_words]) {
            let mut changed = before ^ now;
            while changed != 0
                && let Owner::Location(process) = owners[changed.trailing_zeros() as usize]
            {
                out.push(process);
                let field = self.locations[process as usize];
                changed &= !(field.mask << field.shift);
            }
        }
    }

    /// Whether these are the values stored in a discrete state.
    pub(crate) fn holds(&self, words: &[u32], locations: &[u32], cells: &[i32]) -> bool {
        let located =
            locations.iter().zip(&self.locations).all(|(location, field)| *location == field.get(words));
        located && self.kept.iter().all(|&(cell, _)| cells[cell as usize] == self.cell(words, cell as usize))
    }

    /// Writes all locations and cells.
    pub(crate) fn pack(&self, words: &mut [u32], locations: &[u32], cells: &[i32]) {
        words.fill(0);
        for (location, field) in locations.iter().zip(&self.locations) {
            field.set(words, *location);
        }
        for &(cell, _) in &self.kept {
            self.set_cell(words, cell, cells[cell as usize]);
        }
    }

    #[inline]
    pub(crate) fn location(&self, words: &[u32], process: usize) -> u32 {
        self.locations[process].get(words)
    }

    #[inline]
    pub(crate) fn set_location(&self, words: &mut [u32], process: usize, location: u32) {
        self.locations[process].set(words, location);
    }

    /// Writes a cell if it is part of the state.
    #[inline]
    pub(crate) fn set_cell(&self, words: &mut [u32], cell: u32, value: i32) {
        let field = self.cells[cell as usize];
        if field.mask != 0 {
            field.set(words, value.wrapping_sub(self.lows[cell as usize]) as u32);
        }
    }

    /// The value of a cell; the smallest one if the cell is not part of the state.
    pub(crate) fn cell(&self, words: &[u32], cell: usize) -> i32 {
        self.lows[cell].wrapping_add(self.cells[cell].get(words) as i32)
    }

    /// Writes the words that depend on locations only.
    #[inline]
    pub(crate) fn tuple_key(&self, words: &[u32], key: &mut Vec<u32>) {
        key.clear();
        key.extend_from_slice(&words[..self.location_words]);
        key[self.location_words - 1] &= self.last_mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Location, Process, Variable};

    #[test]
    fn what_is_packed_comes_back() {
        let variable = |low, high, meta| Variable { name: String::new(), low, high, initial: low, meta };
        let process = |count| Process { locations: vec![Location::default(); count], ..Process::default() };
        let network = Network {
            variables: vec![
                variable(i32::MIN, i32::MAX, false),
                variable(3, 3, false),
                variable(-5, 9, false),
                variable(0, 7, true),
                variable(-32768, 32767, false),
            ],
            processes: vec![process(1), process(3), process(4), process(1000)],
            ..Network::default()
        };
        let layout = Layout::new(&network);
        assert_eq!(layout.words, 3);
        let cases = [[i32::MIN, 3, -5, 6, 32767], [i32::MAX, 3, 9, 6, -32768], [-1, 3, 0, 6, 5]];
        for (cells, locations) in cases.into_iter().zip([[0, 2, 3, 999], [0, 0, 0, 0], [0, 1, 2, 512]]) {
            let mut words = vec![u32::MAX; layout.words];
            layout.pack(&mut words, &locations, &cells);
            let (mut cells_back, mut locations_back) = ([0, 3, 0, 6, 0], [0; 4]);
            layout.unpack(&words, &mut locations_back, &mut cells_back);
            assert_eq!((cells_back, locations_back), (cells, locations));
            assert_eq!(layout.cell(&words, 2), cells[2]);
            assert_eq!(layout.location(&words, 3), locations[3]);
            let mut key = Vec::new();
            layout.tuple_key(&words, &mut key);
            layout.set_cell(&mut words, 4, 77);
            layout.set_cell(&mut words, 2, 1);
            let mut other = Vec::new();
            layout.tuple_key(&words, &mut other);
            assert_eq!(key, other);
            layout.set_location(&mut words, 3, 7);
            layout.tuple_key(&words, &mut other);
            assert_ne!(key, other);
        }
    }
}
