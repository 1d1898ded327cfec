//! Values of atomic variables as words, for the scheduler.

/// A value that fits into a word.
pub(super) trait Word: Copy {
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

macro_rules! integers {
    ($($value:ty)*) => { $(
        impl Word for $value {
            fn to_word(self) -> u64 {
                self as u64
            }

            fn from_word(word: u64) -> Self {
                word as $value
            }
        }
    )* };
}

integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl Word for bool {
    fn to_word(self) -> u64 {
        self.into()
    }

    fn from_word(word: u64) -> Self {
        word != 0
    }
}

impl<T> Word for *mut T {
    fn to_word(self) -> u64 {
        self.expose_provenance() as u64
    }

    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
}
