//! Successors on their way to a worker of another process, as bytes.
//!
//! Neighbours in a parcel are much alike: of a discovery, what differs from the one before it is written, and of
//! a state the words that do. A word that is a name is sent as the number that the two workers gave it; what it
//! stands for travels once, with its first use ([`PortableWords`]). Models without that send states as a whole.

use rustc_hash::FxHashMap;
use turnpike_model::{Explorer, Names, PortableWords};

use super::mail::Batch;
use super::order;
use super::peers::decode;
use crate::wire::{Reader, Writer};

/// Bytes in a parcel that is worth sending, in a search of two workers. Many ways share this room: a process may have a
/// number of parcels on each.
const FULL: usize = 1 << 16;
/// The least such size.
const WORTH_SENDING: usize = 1 << 13;
/// Room beyond that for most states, and for who sends the parcel to whom.
const MARGIN: usize = 1 << 8;

/// What is told of each successor besides its state, and how states travel: the same in all processes.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    width: usize,
    /// `None`: states travel as a whole.
    names: Option<Names>,
    /// No word is a name, so nobody has to be asked for one.
    plain: bool,
    /// Bytes in a parcel that is worth sending.
    full: usize,
    /// Whether it is told how they were discovered.
    ordered: bool,
    /// Whether the numbers of the sources are told, from which parents are known.
    sources: bool,
    /// Whether content hashes are told.
    hashes: bool,
}

impl Form {
    /// In a search of so many workers. Whether discoveries are told, and besides them sources and hashes.
    pub(crate) fn new(
        explorer: &mut dyn Explorer,
        width: usize,
        workers: usize,
        [ordered, sources, hashes]: [bool; 3],
    ) -> Self {
        let full = (FULL / workers.saturating_sub(1).max(1)).max(WORTH_SENDING);
        let names = explorer.portable_states().and_then(|states| Some(states.words()?.names()));
        let plain = names.as_ref().is_some_and(|names| names.positions.is_empty());
        Form { width, names, plain, full, ordered, sources, hashes }
    }
}

/// How a successor was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discovery {
    /// The rank of its source.
    pub(crate) rank: u32,
    /// The number of its source among the states of the worker that found it.
    pub(crate) source: u32,
    pub(crate) position: u32,
    /// The content hash of the successor, where it is told.
    pub(crate) hash: u64,
}

/// The way to one worker of another process.
#[derive(Default)]
pub(crate) struct Outbound {
    /// The parcel that is being filled.
    out: Writer,
    /// The state and the rank of the source that were written last; no state at the beginning of a parcel.
    last: Vec<u32>,
    rank: u32,
    /// The numbers of the names that were sent.
    names: FxHashMap<u32, u32>,
}

impl Outbound {
    /// Adds a successor; whether the parcel should be sent.
    pub(crate) fn add(
        &mut self,
        form: &Form,
        explorer: &mut dyn Explorer,
        found: Discovery,
        state: &[u32],
    ) -> bool {
        let first = self.is_empty();
        if first {
            self.out = Writer::with_capacity(form.full + MARGIN);
            // It is left to the exchange.
            self.out.byte(0);
        }
        if form.ordered {
            let ahead = if first { found.rank } else { found.rank.wrapping_sub(self.rank) };
            self.out.number(ahead.into());
            self.out.number(found.position.into());
            if form.sources && (first || ahead > 0) {
                self.out.word(found.source);
            }
        }
        if form.hashes {
            self.out.long(found.hash);
        }
        self.rank = found.rank;
        if form.plain {
            write_words(&mut self.out, &mut self.last, first, state, |out, _, word| out.word(word));
        } else if let Some(names) = &form.names
            && let Some(words) = explorer.portable_states().and_then(|states| states.words())
        {
            self.add_words(first, names, words, state);
        } else {
            self.out.block(|out| explorer.encode(state, out));
        }
        self.out.len() >= form.full
    }

    #[inline]
    fn add_words(&mut self, first: bool, names: &Names, words: &mut dyn PortableWords, state: &[u32]) {
        let Outbound { out, last, names: known, .. } = self;
        let add = |out: &mut Writer, position, word| {
            if !names.positions.contains(&position) {
                return out.word(word);
            }
            if !names.has(position, word) {
                return out.number(u64::from(word) * 2 + 1);
            }
            let next = known.len() as u64;
            let number = *known.entry(word).or_insert(next as u32);
            out.number(u64::from(number) * 2);
            if u64::from(number) == next {
                out.block(|out| words.encode_name(word, out));
            }
        };
        write_words(out, last, first, state, add);
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.out.len() == 0
    }

    /// What is to be sent, before who sends it to whom. The first byte is left to the exchange.
    pub(crate) fn finish(&mut self, from: usize, to: usize) -> Vec<u8> {
        let mut message = std::mem::take(&mut self.out);
        message.count(to);
        message.count(from);
        message.finish()
    }
}

/// Writes the words of a state that differ from those of the `last` one, all of the `first`, by `add`.
#[inline]
fn write_words(
    out: &mut Writer,
    last: &mut Vec<u32>,
    first: bool,
    state: &[u32],
    mut add: impl FnMut(&mut Writer, usize, u32),
) {
    if first {
        last.clear();
        last.extend_from_slice(state);
        return state.iter().enumerate().for_each(|(position, &word)| add(out, position, word));
    }
    for (group, (before, after)) in last.chunks_mut(8).zip(state.chunks(8)).enumerate() {
        let differ = before.iter().zip(after).enumerate();
        let mask = differ.fold(0u8, |mask, (bit, (before, after))| mask | u8::from(before != after) << bit);
        out.byte(mask);
        let mut left = mask;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            before[bit] = after[bit];
            add(out, group * 8 + bit, after[bit]);
        }
    }
}

/// Who gets a parcel, and the parcel: a batch that has to be read first.
pub(crate) fn open(mut message: Vec<u8>) -> Option<(usize, Batch)> {
    let end = message.len().checked_sub(8)?;
    let mut reader = Reader::new(&message[end..]);
    let (to, from) = (reader.word()? as usize, reader.word()?);
    message.truncate(end);
    (!message.is_empty()).then(|| (to, Batch { from, encoded: message, ..Batch::default() }))
}

/// The way from one worker of another process: what its names are called here, by their numbers.
#[derive(Default)]
pub(crate) struct Inbound(Vec<u32>);

impl Inbound {
    /// Reads the successors in a batch. The source of each goes to `tell`, with its rank, where sources are
    /// told. `None`: that is no parcel.
    pub(crate) fn read(
        &mut self,
        form: &Form,
        explorer: &mut dyn Explorer,
        batch: &mut Batch,
        mut tell: impl FnMut(u32, u32),
    ) -> Option<()> {
        let bytes = std::mem::take(&mut batch.encoded);
        let mut reader = Reader::new(&bytes);
        let (mut rank, mut first) = (0u32, true);
        while !reader.is_empty() {
            batch.count += 1;
            if form.ordered {
                let ahead = u32::try_from(reader.number()?).ok()?;
                rank = rank.wrapping_add(ahead);
                batch.keys.push(order::key(rank, u32::try_from(reader.number()?).ok()?));
                if form.sources && (first || ahead > 0) {
                    tell(rank, reader.word()?);
                }
            }
            if form.hashes {
                batch.hashes.push(reader.long()?);
            }
            match &form.names {
                Some(_) if form.plain => {
                    read_words(&mut reader, form.width, first, &mut batch.words, |reader, _| reader.word())?;
                }
                Some(names) => {
                    let words = explorer.portable_states()?.words()?;
                    let read =
                        |reader: &mut Reader<'_>, position| self.read_word(reader, names, words, position);
                    read_words(&mut reader, form.width, first, &mut batch.words, read)?;
                }
                None => decode(explorer, reader.bytes()?, &mut batch.words)?,
            }
            first = false;
        }
        Some(())
    }

    /// A word, or the name here of what the other worker gave a number.
    #[inline]
    fn read_word(
        &mut self,
        reader: &mut Reader<'_>,
        names: &Names,
        words: &mut dyn PortableWords,
        position: usize,
    ) -> Option<u32> {
        if !names.positions.contains(&position) {
            return reader.word();
        }
        let tagged = reader.number()?;
        if tagged % 2 == 1 {
            return u32::try_from(tagged / 2).ok();
        }
        let number = (tagged / 2) as usize;
        if number == self.0.len() {
            self.0.push(words.decode_name(reader.bytes()?)?);
        }
        self.0.get(number).copied()
    }
}

/// Reads the words of a state that differ from those of the last one in `out`, all of the `first`, by `read`.
#[inline]
fn read_words(
    reader: &mut Reader<'_>,
    width: usize,
    first: bool,
    out: &mut Vec<u32>,
    mut read: impl FnMut(&mut Reader<'_>, usize) -> Option<u32>,
) -> Option<()> {
    let start = out.len();
    match (first, start.checked_sub(width).map(|last| &out[last..])) {
        (false, Some(&[a, b])) => out.extend_from_slice(&[a, b]),
        (false, Some(_)) => out.extend_from_within(start - width..start),
        _ => out.resize(start + width, 0),
    }
    for (group, words_here) in out[start..].chunks_mut(8).enumerate() {
        let mut left = if first { u8::MAX >> (8 - words_here.len()) } else { reader.byte()? };
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            *words_here.get_mut(bit)? = read(reader, group * 8 + bit)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turnpike_model::{Label, LabelId, PortableStates, StepError, Successors};

    use super::*;

    /// States of five words, of which those at 1 to 3 are names if they are even. Every process adds a number
    /// of its own to names.
    struct Salted {
        salt: u32,
        whole: bool,
    }

    const NAMES: Names = Names { positions: 1..4, mask: 1 };

    impl Salted {
        /// The words here of what has these words without salt.
        fn words_of(&self, plain: &[u32]) -> Vec<u32> {
            let salted = |(position, &word): (usize, &u32)| {
                if NAMES.has(position, word) { word + self.salt } else { word }
            };
            plain.iter().enumerate().map(salted).collect()
        }
    }

    impl Explorer for Salted {
        fn initial(&mut self, _: &mut Vec<u32>) -> Result<(), StepError> {
            Ok(())
        }

        fn successors(&mut self, _: &[u32], _: &mut Successors) -> Result<(), StepError> {
            Ok(())
        }

        fn label(&mut self, _: LabelId) -> Label {
            Label::parse("a")
        }

        fn state_values(&mut self, _: &[u32], _: &mut Vec<String>) {}

        fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
            for (position, &word) in state.iter().enumerate() {
                let plain = if NAMES.has(position, word) { word - self.salt } else { word };
                out.extend_from_slice(&plain.to_le_bytes());
            }
        }

        fn portable_states(&mut self) -> Option<&mut dyn PortableStates> {
            Some(self)
        }
    }

    impl PortableStates for Salted {
        fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
            let mut plain = Vec::new();
            turnpike_model::decode_words(bytes, 5, &mut plain)?;
            out.extend(self.words_of(&plain));
            Some(())
        }

        fn words(&mut self) -> Option<&mut dyn PortableWords> {
            (!self.whole).then_some(self)
        }
    }

    impl PortableWords for Salted {
        fn names(&self) -> Names {
            NAMES
        }

        fn name_hash(&mut self, name: u32) -> u64 {
            (name - self.salt).into()
        }

        fn encode_name(&mut self, name: u32, out: &mut Vec<u8>) {
            out.extend_from_slice(&(name - self.salt).to_le_bytes());
        }

        fn decode_name(&mut self, bytes: &[u8]) -> Option<u32> {
            Some(u32::from_le_bytes(bytes.try_into().ok()?) + self.salt)
        }
    }

    /// What is sent, in parcels, and how: discoveries told, sources told, hashes told, states as a whole.
    type Sent = (Vec<Vec<(u32, u32, Vec<u32>)>>, [bool; 4]);

    fn sent() -> impl Strategy<Value = Sent> {
        let word = prop_oneof![0..6u32, Just(u32::MAX >> 2)];
        let successor = (0..4u32, 0..3u32, prop::collection::vec(word, 5));
        let parcel = prop::collection::vec(successor, 1..20);
        (prop::collection::vec(parcel, 1..4), any::<[bool; 4]>())
    }

    proptest! {
        #[test]
        fn what_is_sent_arrives((parcels, [ordered, sources, hashes, whole]) in sent()) {
            let (mut here, mut there) = (Salted { salt: 0, whole }, Salted { salt: 1 << 20, whole });
            let form = Form::new(&mut here, 5, 2, [ordered, sources, hashes]);
            let (mut outbound, mut inbound) = (Outbound::default(), Inbound::default());
            for parcel in parcels {
                let mut rank = 0;
                let mut expected = Batch::default();
                for (ahead, position, state) in &parcel {
                    rank += ahead;
                    let hash = u64::from(state[0]) << 33;
                    let found = Discovery { rank, source: rank + 9, position: *position, hash };
                    outbound.add(&form, &mut here, found, state);
                    expected.words.extend(there.words_of(state));
                    expected.keys.extend(ordered.then_some(order::key(rank, *position)));
                    expected.hashes.extend(hashes.then_some(hash));
                }
                let message = outbound.finish(3, 7);
                let (to, mut batch) = open(message[1..].to_vec()).expect("a parcel");
                prop_assert_eq!((to, batch.from), (7, 3));
                let mut told = Vec::new();
                let read = inbound.read(&form, &mut there, &mut batch, |rank, id| told.push((rank, id)));
                prop_assert!(read.is_some());
                prop_assert_eq!(batch.words, expected.words);
                prop_assert_eq!(batch.count, parcel.len());
                let mut ranks: Vec<u32> = batch.keys.iter().map(|&key| order::source_of(key)).collect();
                prop_assert_eq!(batch.keys, expected.keys);
                prop_assert_eq!(batch.hashes, expected.hashes);
                ranks.dedup();
                let all: Vec<(u32, u32)> = ranks.into_iter().map(|rank| (rank, rank + 9)).collect();
                prop_assert_eq!(told, if sources { all } else { Vec::new() });
            }
        }

        #[test]
        fn nonsense_is_no_parcel(bytes in prop::collection::vec(any::<u8>(), 1..60), cut in 1..40usize) {
            let mut there = Salted { salt: 1, whole: false };
            let form = Form::new(&mut there, 5, 2, [true; 3]);
            let mut batch = Batch { encoded: bytes, ..Batch::default() };
            // Whatever it comes to, nothing panics.
            let _ = Inbound::default().read(&form, &mut there, &mut batch, |_, _| {});
            let mut outbound = Outbound::default();
            let found = Discovery { rank: 1, source: 2, position: 3, hash: 4 };
            outbound.add(&form, &mut Salted { salt: 0, whole: false }, found, &[1, 2, 3, 4, 5]);
            let message = outbound.finish(0, 1);
            let content = &message[1..message.len() - 8];
            let encoded = content[..content.len() - cut.min(content.len() - 1)].to_vec();
            let mut batch = Batch { encoded, ..Batch::default() };
            let read = Inbound::default().read(&form, &mut there, &mut batch, |_, _| {});
            prop_assert_eq!(read, None);
        }
    }
}
