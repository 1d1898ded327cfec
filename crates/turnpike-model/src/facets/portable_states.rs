use std::ops::Range;

/// States that can travel: to another process that has the same model, or through a file.
///
/// **Contract.** For every state, `decode` of what [`Explorer::encode`](crate::Explorer::encode) wrote
/// gives that state, in the words of this explorer's model.
pub trait PortableStates {
    /// Appends the words of the state with these bytes to `out`. `None`: no state has them, and what
    /// was appended means nothing.
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()>;

    /// How states travel word by word, which is quicker. `None`: they travel as a whole.
    fn words(&mut self) -> Option<&mut dyn PortableWords> {
        None
    }
}

/// States whose words can travel one by one, because each says by itself whether it is a name.
///
/// **Contract.** Words that are no names mean the same in every process. For every name of a state,
/// `decode_name` of what `encode_name` wrote gives the name of the same thing in the words of this
/// explorer's model, and `name_hash` is equal for both.
pub trait PortableWords {
    /// Which words are names.
    fn names(&self) -> Names;

    /// A hash of what a name stands for: equal across explorers, runs and machines.
    fn name_hash(&mut self, name: u32) -> u64;

    /// Appends bytes that mean the same in every process.
    fn encode_name(&mut self, name: u32, out: &mut Vec<u8>);

    /// The name of what has these bytes; `None`: nothing has them.
    fn decode_name(&mut self, bytes: &[u8]) -> Option<u32>;
}

/// Words of a state that stand for something that every process numbers in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Where in a state names can be.
    pub positions: Range<usize>,
    /// A word there is a name if it has none of these bits.
    pub mask: u32,
}

impl Names {
    /// For states whose words all mean the same everywhere.
    pub const NONE: Names = Names { positions: 0..0, mask: 0 };

    /// Whether the word at a position of a state is a name.
    #[inline]
    pub fn has(&self, position: usize, word: u32) -> bool {
        word & self.mask == 0 && self.positions.contains(&position)
    }
}

/// Appends words that [`Explorer::encode`](crate::Explorer::encode) wrote by default, if there are
/// `width` of them.
pub fn decode_words(bytes: &[u8], width: usize, out: &mut Vec<u32>) -> Option<()> {
    let (words, rest) = bytes.as_chunks();
    (words.len() == width && rest.is_empty())
        .then(|| out.extend(words.iter().map(|&word| u32::from_le_bytes(word))))
}
