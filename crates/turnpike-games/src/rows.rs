//! Lists of numbers for consecutive keys, in two arrays.

/// The list of a key is `of(key)`. Keys are `0..`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Appends the row of the next key.
    pub(crate) fn push(&mut self, row: impl Iterator<Item = u32>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.items.extend(row);
        self.starts.push(self.items.len() as u32);
    }

    /// Removes all rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.items.clear();
    }

    /// Fills this with the inverse: for each item below `keys`, the keys whose rows contain it, as
    /// often as they contain it. `row(key)` is the row to invert.
    pub(crate) fn fill_inverse<'a>(&mut self, keys: usize, row: impl Fn(u32) -> &'a [u32]) {
        self.clear();
        self.starts.resize(keys + 1, 0);
        for key in 0..keys as u32 {
            for &item in row(key) {
                self.starts[item as usize + 1] += 1;
            }
        }
        for key in 0..keys {
            self.starts[key + 1] += self.starts[key];
        }
        self.items.resize(self.starts[keys] as usize, 0);
        // `starts[item]` is the write cursor of `item`, and afterwards the start of the next.
        for key in 0..keys as u32 {
            for &item in row(key) {
                let cursor = &mut self.starts[item as usize];
                self.items[*cursor as usize] = key;
                *cursor += 1;
            }
        }
        self.starts.pop();
        self.starts.insert(0, 0);
    }

    #[inline]
    pub(crate) fn of(&self, key: u32) -> &[u32] {
        &self.items[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_rows_around() {
        let mut rows = Rows::default();
        for row in [&[1, 2, 1][..], &[], &[0]] {
            rows.push(row.iter().copied());
        }
        let mut inverse = Rows::default();
        inverse.fill_inverse(3, |key| rows.of(key));
        assert_eq!([0, 1, 2].map(|key| inverse.of(key).to_vec()), [vec![2], vec![0, 0], vec![0]]);
        inverse.fill_inverse(0, |_| &[]);
        rows.clear();
        rows.push([5].into_iter());
        assert_eq!(rows.of(0), [5]);
    }
}
