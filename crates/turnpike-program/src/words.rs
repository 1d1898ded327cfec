//! Texts for what threads do and wait for.

use crate::steps::verb;
use turnpike_scheduler::Kind;

/// What a thread that cannot take the step waits for, as in "main.0 waits to lock mutex 2".
pub(crate) fn waiting(kind: Kind) -> &'static str {
    match kind {
        Kind::Lock | Kind::WriteLock => "to lock",
        Kind::ReadLock => "to lock for reading",
        Kind::Wait | Kind::Reacquire => "for a notification of",
        Kind::SemWait => "for a post to",
        Kind::Arrive | Kind::Leave => "for the others at",
        Kind::OnceBegin => "for the initialisation of",
        Kind::Send => "for room in",
        Kind::Receive => "for a message in",
        Kind::Join => "for the end of",
        Kind::Park => "to be unparked",
        Kind::FutexWait => "to be woken at",
        Kind::Yield => "for a change of what it reads, spinning",
        Kind::Sleep => "for time to pass",
        other => verb(other),
    }
}

/// Whether `argument` is a thread.
pub(crate) fn names_thread(kind: Kind) -> bool {
    matches!(kind, Kind::Join | Kind::TryJoin | Kind::Unpark)
}

/// A duration in the largest unit in which it is a whole number.
pub(crate) fn duration(nanoseconds: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.into_iter().find(|&(size, _)| nanoseconds >= size && nanoseconds.is_multiple_of(size));
    match unit {
        Some((size, unit)) => format!("{}{unit}", nanoseconds / size),
        None => format!("{nanoseconds}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        let mut words: Vec<&str> = Kind::ALL.iter().map(|&kind| verb(kind)).collect();
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Kind::ALL.len());
    }

    #[test]
    fn durations_are_short() {
        for (nanoseconds, text) in
            [(0, "0ns"), (5_000_000, "5ms"), (1_500, "1500ns"), (2_000_000_000, "2s"), (7_000, "7us")]
        {
            assert_eq!(duration(nanoseconds), text);
        }
    }
}
