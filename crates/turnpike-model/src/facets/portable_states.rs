use std::ops::Range;

/// States that can be sent to another process with the same model, or stored in a file.
///
/// **Contract.** For every state, `decode` applied to the result of
/// [`Explorer::encode`](crate::Explorer::encode) returns that state, in the words of this
/// explorer's model.
pub trait PortableStates {
    /// Appends the words of the state with these bytes to `out`. `None` if there is no such state;
    /// the appended words are then meaningless.
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()>;

    /// Encodes states word by word, which is faster. `None` if states can only be encoded as a
    /// whole.
    fn words(&mut self) -> Option<&mut dyn PortableWords> {
        None
    }
}

/// States whose words can be encoded one by one, because each word shows whether it is a name.
///
/// **Contract.** Words that are not names mean the same in every process. For every name of a
/// state, `decode_name` applied to the result of `encode_name` returns the name of the same object
/// in the words of this explorer's model, and `name_hash` is equal for both.
pub trait PortableWords {
    /// The words that are names.
    fn names(&self) -> Names;

    /// A hash of the object that a name stands for: equal across explorers, runs and machines.
    fn name_hash(&mut self, name: u32) -> u64;

    /// Appends bytes that stand for the same object in every process.
    fn encode_name(&mut self, name: u32, out: &mut Vec<u8>);

    /// The name of the object with these bytes; `None` if there is none.
    fn decode_name(&mut self, bytes: &[u8]) -> Option<u32>;
}

/// The words of a state that stand for objects which every process numbers in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The positions in a state where names can occur.
    pub positions: Range<usize>,
    /// A word there is a name if it has none of these bits.
    pub mask: u32,
}

impl Names {
    /// For states whose words mean the same in every process.
    pub const NONE: Names = Names { positions: 0..0, mask: 0 };

    /// Whether the word at a position of a state is a name.
    #[inline]
    pub fn has(&self, position: usize, word: u32) -> bool {
        word & self.mask == 0 && self.positions.contains(&position)
    }
}

/// Appends the words that [`Explorer::encode`](crate::Explorer::encode) wrote by default, if there
/// are `width` of them.
pub fn decode_words(bytes: &[u8], width: usize, out: &mut Vec<u32>) -> Option<()> {
    let (words, rest) = bytes.as_chunks();
    (words.len() == width && rest.is_empty())
        .then(|| out.extend(words.iter().map(|&word| u32::from_le_bytes(word))))
}
