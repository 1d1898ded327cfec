/// States that can travel: to another process that has the same model, or through a file.
///
/// **Contract.** For every state, `decode` of what [`Explorer::encode`](crate::Explorer::encode) wrote
/// gives that state, in the words of this explorer's model.
pub trait PortableStates {
    /// Appends the words of the state with these bytes to `out`. `None`: no state has them, and what
    /// was appended means nothing.
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()>;
}

/// Appends words that [`Explorer::encode`](crate::Explorer::encode) wrote by default, if there are
/// `width` of them.
pub fn decode_words(bytes: &[u8], width: usize, out: &mut Vec<u32>) -> Option<()> {
    let (words, rest) = bytes.as_chunks();
    (words.len() == width && rest.is_empty())
        .then(|| out.extend(words.iter().map(|&word| u32::from_le_bytes(word))))
}
