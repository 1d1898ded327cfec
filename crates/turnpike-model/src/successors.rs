use crate::label::LabelId;

/// The outgoing transitions of one state: a flat buffer that can be filled, read and cleared
/// without allocating.
#[derive(Clone, Debug, Default)]
pub struct Successors {
    width: usize,
    labels: Vec<LabelId>,
    states: Vec<u32>,
}

impl Successors {
    /// An empty buffer for states of `width` words.
    pub fn new(width: usize) -> Self {
        Successors { width, labels: Vec::new(), states: Vec::new() }
    }

    /// Removes all transitions, keeping the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.states.clear();
    }

    /// Adds a transition.
    #[inline]
    pub fn push(&mut self, label: LabelId, target: &[u32]) {
        debug_assert_eq!(target.len(), self.width);
        self.labels.push(label);
        // Most packed states are short, so a call to copy eight bytes would cost more than the
        // copy.
        match *target {
            [a] => self.states.push(a),
            [a, b] => self.states.extend([a, b]),
            [a, b, c] => self.states.extend([a, b, c]),
            [a, b, c, d] => self.states.extend([a, b, c, d]),
            _ => self.states.extend_from_slice(target),
        }
    }

    /// Adds a transition to `source` as modified by `edit`.
    #[inline]
    pub fn push_edited(&mut self, label: LabelId, source: &[u32], edit: impl FnOnce(&mut [u32])) {
        self.push(label, source);
        let start = self.states.len() - self.width;
        edit(&mut self.states[start..]);
    }

    /// Appends the transitions of another buffer of the same width.
    pub fn append(&mut self, other: &Successors) {
        debug_assert_eq!(self.width, other.width);
        self.labels.extend_from_slice(&other.labels);
        self.states.extend_from_slice(&other.states);
    }

    /// Appends some of the transitions of another buffer of the same width.
    pub fn append_range(&mut self, other: &Successors, range: std::ops::Range<usize>) {
        debug_assert_eq!(self.width, other.width);
        self.labels.extend_from_slice(&other.labels[range.clone()]);
        self.states.extend_from_slice(&other.states[range.start * self.width..range.end * self.width]);
    }

    /// Keeps the first `count` transitions.
    pub fn truncate(&mut self, count: usize) {
        self.labels.truncate(count);
        self.states.truncate(count * self.width);
    }

    /// Number of transitions.
    #[inline]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether the state has no outgoing transition.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Words in a state.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Label of transition `index`.
    #[inline]
    pub fn label(&self, index: usize) -> LabelId {
        self.labels[index]
    }

    /// All labels, in order.
    #[inline]
    pub fn labels(&self) -> &[LabelId] {
        &self.labels
    }

    /// The words of all targets, one after the other.
    #[inline]
    pub fn words(&self) -> &[u32] {
        &self.states
    }

    /// Target of transition `index`.
    #[inline]
    pub fn state(&self, index: usize) -> &[u32] {
        &self.states[index * self.width..(index + 1) * self.width]
    }

    /// All transitions in the order the front-end gave them.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (LabelId, &[u32])> + '_ {
        (0..self.len()).map(|index| (self.label(index), self.state(index)))
    }
}
