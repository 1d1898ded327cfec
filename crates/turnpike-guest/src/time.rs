//! Time is virtual: it passes while threads sleep, and a little whenever one reads a clock.

use core::ffi::{c_int, c_long, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use turnpike_scheduler::{Kind, ObjectId, Operation, Site};

use crate::hook::hook;
use crate::sys::{EINVAL, Timespec, Timeval, fail_with};
use crate::{cancel, control, memory, sites, state};

/// When executions begin, in seconds since 1970.
const EPOCH: u64 = 1_700_000_000;
/// How long the machine has been up when executions begin, in seconds.
const UPTIME: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;

/// Virtual nanoseconds since the execution began.
pub(crate) fn passed() -> u64 {
    control::kernel(|kernel| kernel.now())
}

/// Nanoseconds since the execution began. Each call takes a microsecond, so that a loop that waits
/// for a time ends.
fn now() -> u64 {
    let reads = control::thread(|thread| {
        thread.clock_reads += 1;
        thread.clock_reads
    });
    passed() + reads * 1_000
}

/// The processor's counter, which counts nanoseconds.
#[cfg(target_arch = "x86_64")]
pub(crate) fn ticks() -> u64 {
    UPTIME * SECOND + now()
}

/// The clock that most time limits are measured by.
pub(crate) const REALTIME: c_int = 0;

/// What a clock shows when executions begin, in seconds.
fn start(clock: c_int) -> u64 {
    const REALTIME_COARSE: c_int = 5;
    const TAI: c_int = 11;
    if matches!(clock, REALTIME | REALTIME_COARSE | TAI) { EPOCH } else { UPTIME }
}

fn clock_value(clock: c_int) -> Timespec {
    let now = now();
    Timespec { seconds: (start(clock) + now / SECOND) as i64, nanoseconds: (now % SECOND) as i64 }
}

/// Sleeps in virtual time.
pub(crate) fn sleep(nanoseconds: u64, site: Site) {
    let operation = Operation::new(Kind::Sleep, ObjectId::NONE, sites::user(site));
    cancel::step(Operation { argument: nanoseconds, ..operation });
    cancel::point();
    ring();
}

static ALARM: AtomicU64 = AtomicU64::new(u64::MAX);
const SIGALRM: c_int = 14;

/// Sets the process's alarm, in seconds from now; 0 = none. Returns how many seconds were left of
/// the one before.
fn set_alarm(seconds: u32) -> u32 {
    let now = passed();
    let new = if seconds == 0 { u64::MAX } else { now.saturating_add(u64::from(seconds) * SECOND) };
    let old = ALARM.swap(new, Ordering::Relaxed);
    if old == u64::MAX { 0 } else { old.saturating_sub(now).div_ceil(SECOND).max(1) as u32 }
}

/// Lets the alarm ring if it is due.
fn ring() {
    if ALARM.load(Ordering::Relaxed) <= passed() {
        ALARM.store(u64::MAX, Ordering::Relaxed);
        crate::signals::raise(SIGALRM);
    }
}

/// If an alarm is set, lets time pass until it rings. Returns whether one was set.
pub(crate) fn wait_for_alarm(site: Site) -> bool {
    let alarm = ALARM.load(Ordering::Relaxed);
    if alarm == u64::MAX {
        return false;
    }
    sleep(alarm.saturating_sub(passed()), site);
    true
}

fn duration(time: &Timespec) -> Option<u64> {
    if time.seconds < 0 || !(0..SECOND as i64).contains(&time.nanoseconds) {
        return None;
    }
    Some((time.seconds as u64).saturating_mul(SECOND).saturating_add(time.nanoseconds as u64))
}

/// Reads a time that is passed to a call by its address.
///
/// # Safety
/// `time` is null or points to a time.
pub(crate) unsafe fn read(time: *const Timespec, site: Site) -> Option<u64> {
    memory::tell_operand("a time limit", time as *const c_void, size_of::<Timespec>(), false, site);
    // SAFETY: the caller promises null or a time.
    (unsafe { time.as_ref() }).and_then(duration)
}

/// The virtual time of an absolute limit; 0 if there is none.
///
/// # Safety
/// `limit` is null or a time.
pub(crate) unsafe fn deadline(clock: c_int, limit: *const Timespec, site: Site) -> u64 {
    // SAFETY: the caller promises null or a time.
    let Some(limit) = (unsafe { read(limit, site) }) else { return 0 };
    limit.saturating_sub(start(clock) * SECOND)
}

/// The virtual time after a duration.
///
/// # Safety
/// `length` is null or a duration.
pub(crate) unsafe fn after(length: *const Timespec, site: Site) -> u64 {
    // SAFETY: the caller promises null or a duration.
    let length = unsafe { read(length, site) }.unwrap_or(0);
    passed().saturating_add(length)
}

hook! {
    fn clock_gettime(clock: c_int, out: *mut Timespec; site) -> c_int {
        if clock < 0 {
            return fail_with(EINVAL);
        }
        memory::put(out, clock_value(clock), site);
        0
    }
    fn timespec_get(out: *mut Timespec, base: c_int; site) -> c_int {
        memory::put(out, clock_value(0), site);
        base
    }
    fn gettimeofday(out: *mut Timeval, _zone: *mut c_void; site) -> c_int {
        let now = clock_value(0);
        memory::put(out, Timeval { seconds: now.seconds, microseconds: now.nanoseconds / 1_000 }, site);
        0
    }
    fn time(out: *mut i64; site) -> i64 {
        let now = clock_value(0).seconds;
        memory::put(out, now, site);
        now
    }
    fn clock(; site) -> c_long {
        (now() / 1_000) as c_long
    }
    fn sched_yield(; site) -> c_int {
        control::with(Kind::Yield, state::own(), sites::user(site));
        0
    }
    fn pthread_yield(; site) -> c_int {
        control::with(Kind::Yield, state::own(), sites::user(site));
        0
    }
    fn thrd_yield(; site) {
        control::with(Kind::Yield, state::own(), sites::user(site));
    }
    fn alarm(seconds: u32; site) -> u32 {
        control::uncontrolled("the moment at which an alarm rings");
        set_alarm(seconds)
    }
    fn sleep(seconds: u32; site) -> u32 {
        crate::time::sleep(u64::from(seconds) * SECOND, site);
        0
    }
    fn usleep(microseconds: u32; site) -> c_int {
        crate::time::sleep(u64::from(microseconds) * 1_000, site);
        0
    }
    fn nanosleep(time: *const Timespec, _rest: *mut Timespec; site) -> c_int {
        let Some(length) = read(time, site) else { return fail_with(EINVAL) };
        crate::time::sleep(length, site);
        0
    }
    fn thrd_sleep(time: *const Timespec, _rest: *mut Timespec; site) -> c_int {
        let Some(length) = read(time, site) else { return -2 };
        crate::time::sleep(length, site);
        0
    }
    fn clock_nanosleep(clock: c_int, flags: c_int, time: *const Timespec, _rest: *mut Timespec; site) -> c_int {
        let Some(mut length) = read(time, site) else { return EINVAL };
        const ABSOLUTE: c_int = 1;
        if flags & ABSOLUTE != 0 {
            let now = clock_value(clock);
            length = length.saturating_sub(duration(&now).unwrap_or(0));
        }
        crate::time::sleep(length, site);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_nanoseconds_and_never_negative() {
        let duration = |seconds, nanoseconds| duration(&Timespec { seconds, nanoseconds });
        assert_eq!(duration(2, 5), Some(2 * SECOND + 5));
        assert_eq!(duration(0, 999_999_999), Some(SECOND - 1));
        assert_eq!(duration(i64::MAX, 0), Some(u64::MAX));
        for (seconds, nanoseconds) in [(-1, 0), (0, -1), (0, 1_000_000_000)] {
            assert_eq!(duration(seconds, nanoseconds), None);
        }
    }

    #[test]
    fn limits_are_measured_from_where_their_clock_begins() {
        let limit = |seconds: u64| Timespec { seconds: seconds as i64, nanoseconds: 7 };
        // SAFETY: times, or null.
        let deadline = |clock, limit: *const Timespec| unsafe { deadline(clock, limit, Site::default()) };
        assert_eq!(deadline(REALTIME, &limit(EPOCH + 3)), 3 * SECOND + 7);
        assert_eq!(deadline(1, &limit(UPTIME + 3)), 3 * SECOND + 7);
        assert_eq!(deadline(REALTIME, &limit(1)), 0, "in the past");
        assert_eq!(deadline(REALTIME, core::ptr::null()), 0);
    }
}
