//! Timers as descriptors (`timerfd_create`), in virtual time.
//!
//! A timer is an event counter that is written to when the timer expires. Time passes only while
//! threads sleep and wait: a thread that waits for a timer waits at most until it expires. Whether
//! a timer expires while another thread is still running is not tried, so nothing is proved.

use alloc::format;
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Kind, Site};

use crate::global::Global;
use crate::hook::{hook, real};
use crate::sys::{EINVAL, Timespec, fail_with};
use crate::{blocking, control, descriptors, memory, shared, sites, time};

const SECOND: u64 = 1_000_000_000;

/// A timer: when it expires, and in which interval after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Timer {
    fd: c_int,
    clock: c_int,
    /// In nanoseconds of virtual time.
    expires: Option<u64>,
    /// 0 = once.
    interval: u64,
}

impl Timer {
    /// Returns how often it has expired by now, and sets it for the next time.
    fn expire(&mut self, now: u64) -> u64 {
        let Some(expires) = self.expires.filter(|&expires| expires <= now) else { return 0 };
        if self.interval == 0 {
            self.expires = None;
            return 1;
        }
        let more = (now - expires) / self.interval;
        self.expires = Some(expires.saturating_add((more + 1).saturating_mul(self.interval)));
        more + 1
    }
}

static TIMERS: Global<Vec<Timer>> = Global::new(Vec::new());
/// Sets of descriptors that contain timers.
static SETS: Global<Vec<c_int>> = Global::new(Vec::new());

/// Whether a descriptor is a timer, or a set with one in it.
pub(crate) fn is_timed(fd: c_int) -> bool {
    TIMERS.with(|timers| timers.iter().any(|timer| timer.fd == fd)) || SETS.with(|sets| sets.contains(&fd))
}

/// Notes that a set watches a descriptor.
pub(crate) fn watched(set: c_int, fd: c_int) {
    if is_timed(fd) {
        SETS.with(|sets| sets.push(set));
    }
}

/// Forgets a descriptor that is closed.
pub(crate) fn forget(fd: c_int) {
    TIMERS.with(|timers| timers.retain(|timer| timer.fd != fd));
    SETS.with(|sets| sets.retain(|&set| set != fd));
}

/// Notes that another descriptor refers to the same thing.
pub(crate) fn copied(from: c_int) {
    if is_timed(from) {
        control::uncontrolled("a second descriptor of a timer, which does not expire,");
    }
}

/// When the next timer expires.
pub(crate) fn next() -> Option<u64> {
    TIMERS.with(|timers| timers.iter().filter_map(|timer| timer.expires).min())
}

/// Lets timers expire whose time has come.
pub(crate) fn expire(site: Site) {
    if TIMERS.with(|timers| timers.is_empty()) {
        return;
    }
    let now = time::passed();
    if next().is_none_or(|expires| expires > now) {
        return;
    }
    let site = sites::user(site);
    control::simple(Kind::Store, blocking::descriptors(site), site);
    // Other threads may have done this during the step.
    let due: Vec<(c_int, u64)> = TIMERS.with(|timers| {
        let due = timers.iter_mut().map(|timer| (timer.fd, timer.expire(now)));
        due.filter(|&(_, times)| times > 0).collect()
    });
    for (fd, times) in due {
        // SAFETY: the descriptor is an event counter.
        descriptors::without_blocking(fd, || unsafe {
            real!(eventfd_write: fn(c_int, u64) -> c_int)(fd, times)
        });
    }
}

/// What a timer is set to: the interval, and the time until it expires.
#[repr(C)]
struct Setting {
    interval: Timespec,
    value: Timespec,
}

const NEVER: Timespec = Timespec { seconds: 0, nanoseconds: 0 };
const STOPPED: Setting = Setting { interval: NEVER, value: NEVER };

/// Whether a thread may wait for a timer of the system, which does not ring here.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Notes that the program set a timer of the system.
pub(crate) fn expect(what: &str) {
    control::uncontrolled(&format!("{what}: timers do not ring"));
    EXPECTED.store(true, Ordering::Relaxed);
}

/// Whether threads that wait for ever may only wait for a timer.
pub(crate) fn is_expected() -> bool {
    EXPECTED.load(Ordering::Relaxed)
}

fn nanoseconds(time: &Timespec) -> Option<u64> {
    let valid = time.seconds >= 0 && (0..SECOND as i64).contains(&time.nanoseconds);
    valid.then(|| (time.seconds as u64).saturating_mul(SECOND).saturating_add(time.nanoseconds as u64))
}

fn timespec(nanoseconds: u64) -> Timespec {
    Timespec { seconds: (nanoseconds / SECOND) as i64, nanoseconds: (nanoseconds % SECOND) as i64 }
}

fn setting(timer: &Timer, now: u64) -> Setting {
    let left = timer.expires.map_or(0, |expires| expires.saturating_sub(now).max(1));
    Setting { interval: timespec(timer.interval), value: timespec(left) }
}

fn find(fd: c_int) -> Option<Timer> {
    TIMERS.with(|timers| timers.iter().find(|timer| timer.fd == fd).copied())
}

hook! {
    fn timer_create(_clock: c_int, _event: *const c_void, into: *mut usize; site) -> c_int {
        expect("timer_create");
        memory::put(into, 1, site);
        0
    }
    fn timer_settime(_timer: usize, _flags: c_int, _new: *const Setting, old: *mut Setting; site) -> c_int {
        memory::put(old, STOPPED, site);
        0
    }
    fn timer_gettime(_timer: usize, into: *mut Setting; site) -> c_int {
        memory::put(into, STOPPED, site);
        0
    }
    fn timer_getoverrun(_timer: usize; site) -> c_int { 0 }
    fn timer_delete(_timer: usize; site) -> c_int { 0 }
    fn timerfd_create(clock: c_int, flags: c_int; site) -> c_int {
        control::uncontrolled("timerfd_create: whether a timer expires while threads do something else");
        shared::files(site);
        let fd = real!(eventfd: fn(u32, c_int) -> c_int)(0, flags);
        if fd >= 0 {
            descriptors::set_inside(fd, true);
            TIMERS.with(|timers| timers.push(Timer { fd, clock, expires: None, interval: 0 }));
        }
        fd
    }
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const Setting, old: *mut Setting; site) -> c_int {
        const ABSOLUTE: c_int = 1;
        shared::files(site);
        memory::tell_operand("timerfd_settime", new as *const c_void, size_of::<Setting>(), false, site);
        memory::tell_operand("timerfd_settime", old as *const c_void, size_of::<Setting>(), true, site);
        expire(site);
        let Some(timer) = find(fd) else {
            return real!(timerfd_settime: fn(c_int, c_int, *const Setting, *mut Setting) -> c_int)(fd, flags, new, old);
        };
        let (Some(interval), Some(value)) = (nanoseconds(&(*new).interval), nanoseconds(&(*new).value)) else {
            return fail_with(EINVAL);
        };
        let now = time::passed();
        if !old.is_null() {
            *old = setting(&timer, now);
        }
        let expires = match value {
            0 => None,
            _ if flags & ABSOLUTE != 0 => Some(time::deadline(timer.clock, &(*new).value, site)),
            _ => Some(now.saturating_add(value)),
        };
        // Earlier expirations are forgotten.
        let mut count = 0u64;
        descriptors::without_blocking(fd, || real!(eventfd_read: fn(c_int, *mut u64) -> c_int)(fd, &mut count));
        TIMERS.with(|timers| {
            if let Some(timer) = timers.iter_mut().find(|timer| timer.fd == fd) {
                (timer.expires, timer.interval) = (expires, interval);
            }
        });
        0
    }
    fn timerfd_gettime(fd: c_int, into: *mut Setting; site) -> c_int {
        shared::files(site);
        memory::tell_operand("timerfd_gettime", into as *const c_void, size_of::<Setting>(), true, site);
        expire(site);
        match find(fd) {
            Some(timer) => {
                *into = setting(&timer, time::passed());
                0
            }
            None => real!(timerfd_gettime: fn(c_int, *mut Setting) -> c_int)(fd, into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_expire_when_their_time_has_come() {
        let mut once = Timer { fd: 3, clock: 1, expires: Some(10), interval: 0 };
        assert_eq!((once.expire(9), once.expire(10), once.expire(11)), (0, 1, 0));
        assert_eq!(once.expires, None);
        let mut often = Timer { fd: 3, clock: 1, expires: Some(10), interval: 5 };
        assert_eq!((often.expire(9), often.expire(21), often.expire(24), often.expire(25)), (0, 3, 0, 1));
        assert_eq!(often.expires, Some(30));
        let never = Timer { fd: 3, clock: 1, expires: None, interval: 5 };
        assert_eq!(setting(&never, 4).value.nanoseconds, 0);
        assert_eq!(setting(&often, 28).value.nanoseconds, 2);
        assert_eq!(setting(&often, 30).value.nanoseconds, 1, "an armed timer never says that it is not");
    }

    #[test]
    fn times_are_nanoseconds() {
        for time in [0, 1, SECOND - 1, SECOND, 12 * SECOND + 34] {
            assert_eq!(nanoseconds(&timespec(time)), Some(time));
        }
        assert_eq!(nanoseconds(&Timespec { seconds: -1, nanoseconds: 0 }), None);
    }
}
