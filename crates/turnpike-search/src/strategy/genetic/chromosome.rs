//! A path as a string of bits: decoding, crossover and mutation.
//!
//! A chromosome is infinite: bits that were never written are a hash of its tail's seed and their
//! position. So it is long enough for a path of any depth, needs no bound on the number of
//! transitions and no memory for bits that are never read, and extending it does not draw from the
//! generator.

use turnpike_model::hash;

use crate::rng::Rng;

const WORD: usize = u64::BITS as usize;

/// An endless string of bits; bit 0 is the most significant bit of word 0.
#[derive(Debug, Default)]
pub(super) struct Chromosome {
    /// The bits so far; `tail` determines what follows.
    words: Vec<u64>,
    tail: u64,
}

impl Clone for Chromosome {
    fn clone(&self) -> Self {
        Chromosome { words: self.words.clone(), tail: self.tail }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, source: &Self) {
        self.words.clone_from(&source.words);
        self.tail = source.tail;
    }
}

/// Bits needed to distinguish `choices` choices: the logarithm to base 2, rounded up.
pub(super) fn bits_for(choices: usize) -> usize {
    (usize::BITS - choices.saturating_sub(1).leading_zeros()) as usize
}

impl Chromosome {
    /// Random bits.
    pub(super) fn random(rng: &mut Rng) -> Self {
        Chromosome { words: Vec::new(), tail: rng.next() }
    }

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or_else(|| hash::mix(self.tail, index as u64))
    }

    /// Makes sure that the first `bits` bits are written down.
    fn reach(&mut self, bits: usize) {
        while self.words.len() * WORD < bits {
            self.words.push(hash::mix(self.tail, self.words.len() as u64));
        }
    }

    /// Decides between `choices` choices by the next bits, and moves `at` behind them. A code that means no choice is
    /// replaced by a uniform draw **in the chromosome**, so that reading it again decides the same.
    #[inline]
    pub(super) fn decide(&mut self, at: &mut usize, choices: usize, rng: &mut Rng) -> usize {
        let count = bits_for(choices);
        if count == 0 {
            return 0;
        }
        let start = *at;
        *at += count;
        let code = self.read(start, count);
        if code < choices as u64 {
            return code as usize;
        }
        let drawn = rng.index(choices);
        self.write(start, count, drawn as u64);
        drawn
    }

    /// The number that `count` bits (at most 64, at least 1) from `at` on spell, most significant first.
    #[inline]
    fn read(&mut self, at: usize, count: usize) -> u64 {
        self.reach(at + count);
        let (index, offset) = (at / WORD, at % WORD);
        let mut bits = self.words[index] << offset;
        if offset + count > WORD {
            bits |= self.words[index + 1] >> (WORD - offset);
        }
        bits >> (WORD - count)
    }

    /// Replaces bits that were read.
    fn write(&mut self, at: usize, count: usize, value: u64) {
        for bit in 0..count {
            let (index, mask) = ((at + bit) / WORD, top_bit(at + bit));
            if value >> (count - 1 - bit) & 1 == 1 {
                self.words[index] |= mask;
            } else {
                self.words[index] &= !mask;
            }
        }
    }

    /// The bits that are written down.
    pub(super) fn written(&self) -> &[u64] {
        &self.words
    }

    /// Takes over the first `read` bits, as the system that decoded them repaired them.
    pub(super) fn take_over(&mut self, genes: &[u64], read: usize) {
        self.reach(read);
        for (index, word) in self.words.iter_mut().take(read.div_ceil(WORD)).enumerate() {
            let Some(gene) = genes.get(index) else { return };
            let inside = first_bits((read - index * WORD).min(WORD));
            *word = gene & inside | *word & !inside;
        }
    }

    /// Becomes the first `cut` bits of `head` followed by all but the first `cut` bits of `tail`.
    pub(super) fn splice(&mut self, head: &Self, tail: &Self, cut: usize) {
        let (whole, rest) = (cut / WORD, cut % WORD);
        self.words.clear();
        self.words.extend((0..whole).map(|index| head.word(index)));
        let mut from = whole;
        if rest > 0 {
            let heads = first_bits(rest);
            self.words.push(head.word(whole) & heads | tail.word(whole) & !heads);
            from += 1;
        }
        self.words.extend(tail.words.iter().skip(from));
        self.tail = tail.tail;
    }

    /// Flips each of the first `length` bits with the coin's probability.
    pub(super) fn mutate(&mut self, length: usize, coin: Coin, rng: &mut Rng) {
        self.reach(length);
        for (index, word) in self.words.iter_mut().take(length.div_ceil(WORD)).enumerate() {
            let inside = (length - index * WORD).min(WORD);
            *word ^= coin.toss(rng) & first_bits(inside);
        }
    }

    #[cfg(test)]
    fn bit(&self, at: usize) -> bool {
        self.word(at / WORD) & top_bit(at) != 0
    }
}

/// The place of bit `at` in its word.
fn top_bit(at: usize) -> u64 {
    1 << (WORD - 1 - at % WORD)
}

/// The first `count` bits (1 to 64) of a word.
fn first_bits(count: usize) -> u64 {
    u64::MAX << (WORD - count)
}

/// A biased coin, tossed 64 times at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coin {
    /// The probability's binary digits after the point.
    digits: u64,
    always: bool,
}

impl Coin {
    /// A coin that shows heads with this probability, which is rounded down to 64 binary digits.
    pub(super) fn new(probability: f64) -> Self {
        // Scaling by a power of two is exact, and so is the conversion below 1.
        Coin { digits: (probability * 2f64.powi(64)) as u64, always: probability >= 1.0 }
    }

    /// Sixty-four independent tosses, one in each bit.
    ///
    /// Every lane compares a random binary fraction with the probability, digit by digit, and is decided at the first
    /// digit that differs. Half of the lanes are decided by each word drawn: about 7 words do for all 64, where one
    /// draw for each bit would need 64. Whole numbers only, hence the same on every machine, unlike geometric gaps,
    /// which need a logarithm.
    fn toss(self, rng: &mut Rng) -> u64 {
        if self.always {
            return u64::MAX;
        }
        let (mut heads, mut undecided, mut digits) = (0, u64::MAX, self.digits);
        // No digit left that is 1: what is undecided is not below the probability.
        while undecided != 0 && digits != 0 {
            let drawn = rng.next();
            if digits >> 63 == 1 {
                heads |= undecided & !drawn;
                undecided &= drawn;
            } else {
                undecided &= !drawn;
            }
            digits <<= 1;
        }
        heads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bits(text: &str) -> Chromosome {
        let mut chromosome = Chromosome::default();
        chromosome.reach(text.len());
        for (at, c) in text.chars().enumerate() {
            chromosome.write(at, 1, u64::from(c == '1'));
        }
        chromosome
    }

    fn to_bits(chromosome: &Chromosome, count: usize) -> String {
        (0..count).map(|at| if chromosome.bit(at) { '1' } else { '0' }).collect()
    }

    #[test]
    fn as_many_bits_are_read_as_choices_need() {
        let expected = [0, 0, 1, 2, 2, 3, 3, 3, 3, 4];
        for (choices, bits) in expected.into_iter().enumerate() {
            assert_eq!(bits_for(choices), bits, "{choices} choices");
        }
        assert_eq!((bits_for(34), bits_for(64), bits_for(65)), (6, 6, 7));
        let (mut rng, mut chromosome, mut at) = (Rng::new(0), of_bits("1000"), 0);
        assert_eq!(chromosome.decide(&mut at, 1, &mut rng), 0);
        assert_eq!(at, 0, "one choice needs no bit");
    }

    #[test]
    fn the_first_bit_is_the_most_significant() {
        let (mut rng, mut chromosome, mut at) =
            (Rng::new(0), of_bits("1_0_01_110".replace('_', "").as_str()), 0);
        let decided: Vec<usize> =
            [2, 2, 4, 8].map(|choices| chromosome.decide(&mut at, choices, &mut rng)).into();
        assert_eq!(decided, [1, 0, 0b01, 0b110]);
        assert_eq!(at, 7);
    }

    #[test]
    fn numbers_cross_words() {
        let (mut rng, mut chromosome) = (Rng::new(3), Chromosome::default());
        chromosome.reach(256);
        for at in [0, 1, 31, 60, 63, 64, 100, 127, 190] {
            for count in [1, 2, 5, 17, 33, 64] {
                let value = rng.next() >> (64 - count);
                let before = to_bits(&chromosome, 256);
                chromosome.write(at, count, value);
                assert_eq!(chromosome.read(at, count), value, "{count} bits at {at}");
                let after = to_bits(&chromosome, 256);
                assert_eq!(before[..at], after[..at], "bits before are kept");
                assert_eq!(before[at + count..], after[at + count..], "bits after are kept");
            }
        }
    }

    #[test]
    fn replaced_codes_stay_replaced() {
        for seed in 0..200 {
            let (mut rng, mut shape) = (Rng::new(seed), Rng::new(seed + 1000));
            let choices: Vec<usize> = (0..300).map(|_| 1 + shape.index(40)).collect();
            let mut chromosome = Chromosome::random(&mut rng);
            let mut read = |chromosome: &mut Chromosome| {
                let mut at = 0;
                let decided: Vec<usize> =
                    choices.iter().map(|&n| chromosome.decide(&mut at, n, &mut rng)).collect();
                (decided, at)
            };
            let once = read(&mut chromosome);
            let bits = to_bits(&chromosome, once.1);
            assert_eq!(read(&mut chromosome), once, "seed {seed}");
            assert_eq!(to_bits(&chromosome, once.1), bits, "seed {seed}");
        }
    }

    /// Programs decode chromosomes themselves: the same bits must mean the same choices, and be repaired in place.
    #[test]
    fn programs_read_the_same_bits() {
        use turnpike_scheduler::script::{Script, start_only, straight};
        use turnpike_scheduler::{Execution, Executor, Kind, ObjectId, Operation, Plan, Policy, Site};
        let message = Operation::new(Kind::Message, ObjectId::NONE, Site(0));
        let mut script = Script::new(move |_| {
            start_only([9, 30, 11, 5, 17].map(|steps| straight(vec![message; steps])).into())
        });
        let mut rng = Rng::new(21);
        for seed in 0..50 {
            let mut chromosome = Chromosome::random(&mut rng);
            // Some bits are read from the chromosome, the others are drawn by the program.
            chromosome.reach(64 * (seed % 4) as usize);
            let bits = chromosome.written().to_vec();
            let mut out = Execution::default();
            let plan = Plan { policy: Policy::Genes { bits: &bits, seed }, ..Plan::new(&[]) };
            script.run(&plan, &mut out).expect("a script can be executed");
            chromosome.take_over(&out.genes, out.genes_read as usize);
            let (mut at, untouched) = (0, Rng::new(seed));
            let mut repairs = untouched.clone();
            for step in &out.steps {
                let decided = chromosome.decide(&mut at, step.count as usize, &mut repairs);
                assert_eq!(decided, step.taken as usize, "seed {seed}, bit {at}");
            }
            assert_eq!(at, out.genes_read as usize);
            assert_eq!(repairs.next(), untouched.clone().next(), "nothing is left to repair");
            assert!(at > 64, "{at} bits");
        }
    }

    #[test]
    fn spurious_codes_are_replaced_uniformly() {
        // 5 choices take 3 bits; the codes 5, 6 and 7 are spurious. Modulo would make 0, 1 and 2 twice as likely.
        // Chi-square with 4 degrees of freedom: 18.5 is exceeded by chance once in a thousand seeds.
        let chi = |counts: [u32; 5]| -> f64 {
            let mean = f64::from(counts.iter().sum::<u32>()) / 5.0;
            counts.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum()
        };
        let (mut rng, mut repaired, mut all) = (Rng::new(11), [0; 5], [0; 5]);
        for _ in 0..50_000 {
            let mut chromosome = Chromosome::random(&mut rng);
            let spurious = chromosome.read(0, 3) >= 5;
            let decided = chromosome.decide(&mut 0, 5, &mut rng);
            all[decided] += 1;
            repaired[decided] += u32::from(spurious);
        }
        assert!(repaired.iter().sum::<u32>() > 15_000, "three of eight codes are spurious");
        assert!(chi(repaired) < 18.5, "{repaired:?}");
        assert!(chi(all) < 18.5, "{all:?}");
    }

    #[test]
    fn bits_nobody_wrote_do_not_depend_on_when_they_are_read() {
        let mut rng = Rng::new(5);
        let fresh = Chromosome::random(&mut rng);
        let (mut early, mut late) = (fresh.clone(), fresh.clone());
        early.reach(1000);
        let read_late: Vec<u64> = (0..200).map(|at| late.read(at * 5, 5)).collect();
        let read_early: Vec<u64> = (0..200).map(|at| early.read(at * 5, 5)).collect();
        assert_eq!(read_early, read_late);
        assert_eq!(to_bits(&fresh, 1000), to_bits(&early, 1000));
    }

    #[test]
    fn a_splice_is_a_head_and_a_tail() {
        let mut rng = Rng::new(6);
        let mut child = Chromosome::default();
        for (written_a, written_b) in [(0, 0), (300, 0), (0, 300), (70, 200), (200, 70)] {
            let (mut a, mut b) = (Chromosome::random(&mut rng), Chromosome::random(&mut rng));
            a.reach(written_a);
            b.reach(written_b);
            a.mutate(written_a, Coin::new(0.5), &mut rng);
            b.mutate(written_b, Coin::new(0.5), &mut rng);
            let (bits_a, bits_b) = (to_bits(&a, 500), to_bits(&b, 500));
            for cut in [0, 1, 63, 64, 65, 128, 130, 256, 400] {
                child.splice(&a, &b, cut);
                assert_eq!(
                    to_bits(&child, 500),
                    format!("{}{}", &bits_a[..cut], &bits_b[cut..]),
                    "cut at {cut}"
                );
            }
        }
    }

    #[test]
    fn mutation_stays_within_its_length() {
        let mut rng = Rng::new(8);
        for length in [0, 1, 63, 64, 65, 130, 192] {
            let before = Chromosome::random(&mut rng);
            let mut after = before.clone();
            after.mutate(length, Coin::new(1.0), &mut rng);
            for at in 0..300 {
                assert_eq!(before.bit(at) != after.bit(at), at < length, "bit {at} of {length}");
            }
            after.clone_from(&before);
            after.mutate(length, Coin::new(0.0), &mut rng);
            assert_eq!(to_bits(&before, 300), to_bits(&after, 300));
        }
    }

    /// One draw for each bit: slow and plainly right.
    fn toss_one_by_one(probability: f64, rng: &mut Rng) -> u64 {
        (0..64).fold(0, |word, _| word << 1 | u64::from(rng.unit() < probability))
    }

    #[test]
    fn coins_show_heads_as_often_as_they_should() {
        // A relative frequency over n tosses is within 4 standard deviations for all but 6 in 100,000 seeds.
        let mut rng = Rng::new(9);
        for probability in [0.0, 0.001, 0.005, 0.01, 0.02, 0.2, 0.25, 0.5, 0.9, 1.0] {
            let words = 40_000;
            let coin = Coin::new(probability);
            let (mut fast, mut slow, mut lanes) = (0, 0, [0u32; 64]);
            for _ in 0..words {
                let toss = coin.toss(&mut rng);
                fast += toss.count_ones();
                slow += toss_one_by_one(probability, &mut rng).count_ones();
                for (lane, count) in lanes.iter_mut().enumerate() {
                    *count += (toss >> lane & 1) as u32;
                }
            }
            let tosses = f64::from(words) * 64.0;
            let bound = |n: f64| 4.0 * (probability * (1.0 - probability) / n).sqrt();
            for heads in [fast, slow] {
                let difference = (f64::from(heads) / tosses - probability).abs();
                assert!(difference <= bound(tosses), "{heads} heads at {probability}");
            }
            for count in lanes {
                let difference = (f64::from(count) / f64::from(words) - probability).abs();
                assert!(
                    difference <= 1.25 * bound(f64::from(words)),
                    "{count} heads in a lane at {probability}"
                );
            }
        }
    }

    #[test]
    fn lanes_of_a_coin_are_independent() {
        // The number of heads in 64 tosses is binomial: its variance is 64 p (1 - p), here 12.0. The estimate over
        // n words has the relative standard deviation sqrt(2/n), 1 % for 20,000: five of them are allowed.
        let (mut rng, coin, n) = (Rng::new(10), Coin::new(0.25), 20_000);
        let heads: Vec<f64> = (0..n).map(|_| f64::from(coin.toss(&mut rng).count_ones())).collect();
        let mean = heads.iter().sum::<f64>() / f64::from(n);
        let variance = heads.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((variance / 12.0 - 1.0).abs() < 0.05, "variance {variance}");
    }
}
