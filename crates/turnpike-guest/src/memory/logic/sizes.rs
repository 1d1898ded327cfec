//! Sizes of blocks: small ones share a page with others of the same size, large ones have pages of
//! their own.

/// Unit of the address space that the heap manages.
pub(crate) const PAGE: u64 = 4096;
/// Sizes of small blocks.
pub(crate) const CLASSES: [u16; 20] =
    [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024];

/// The smallest class for `size` bytes at a multiple of `align` (a power of two); `None` = whole
/// pages.
pub(crate) fn class_of(size: u64, align: u64) -> Option<usize> {
    let largest = u64::from(CLASSES[CLASSES.len() - 1]);
    if size > largest || align > largest {
        return None;
    }
    let first = CLASSES.partition_point(|&class| u64::from(class) < size);
    (first..CLASSES.len()).find(|&class| u64::from(CLASSES[class]).is_multiple_of(align))
}

/// How many pages hold `size` bytes.
pub(crate) fn pages_of(size: u64) -> u64 {
    size.div_ceil(PAGE).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_for() {
        for size in 1..=1024 {
            for align in [1, 8, 16, 32, 64, 128, 256, 512, 1024] {
                let class = u64::from(CLASSES[class_of(size, align).expect("a small block")]);
                assert!(class >= size && class % align == 0, "{size} {align} {class}");
                assert!(align > 16 || class <= 16.max(size + size / 4 + 16), "{size} wastes {class}");
            }
        }
        assert_eq!(class_of(1025, 16), None);
        assert_eq!(class_of(1, 4096), None);
        assert_eq!((pages_of(0), pages_of(4096), pages_of(4097)), (1, 1, 2));
    }
}
