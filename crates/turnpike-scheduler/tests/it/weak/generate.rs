//! Random programs over two variables.

use super::program::{Code, Program};

pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Numbers {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            numbers.below(2);
        }
        numbers
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

fn random_code(numbers: &mut Numbers) -> Code {
    let location = numbers.below(2) as usize;
    let value = 1 + numbers.below(2);
    match numbers.below(10) {
        0..4 => Code::Load(location, numbers.pick(&[0, 2, 5])),
        4..7 => Code::Store(location, value, numbers.pick(&[0, 3, 5])),
        7 => Code::Add(location, value, numbers.pick(&[0, 2, 3, 4, 5])),
        8 => Code::Exchange(
            location,
            numbers.below(2),
            value,
            numbers.pick(&[0, 2, 3, 4, 5]),
            numbers.pick(&[0, 2, 5]),
        ),
        _ => Code::Fence(numbers.pick(&[2, 3, 4, 5, 5])),
    }
}

/// Two to four threads with about `size` instructions together.
pub(super) fn random_program(seed: u64, size: u64) -> Program {
    let mut numbers = Numbers::new(seed);
    let threads = 2 + numbers.below(3);
    let most = size / threads;
    (0..threads).map(|_| (0..1 + numbers.below(most)).map(|_| random_code(&mut numbers)).collect()).collect()
}
