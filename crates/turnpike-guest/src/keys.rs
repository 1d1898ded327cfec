//! Thread-specific data, and what runs when a thread ends.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use turnpike_scheduler::{Kind, Site};

use crate::control;
use crate::global::Global;
use crate::hook::hook;
use crate::sys::EINVAL;

type Destructor = unsafe extern "C" fn(usize);

#[derive(Clone, Copy)]
struct Key {
    used: bool,
    destructor: Option<Destructor>,
}

static KEYS: Global<Vec<Key>> = Global::new(Vec::new());

/// Keys that were created before control started are the C library's, and lie below this.
const FIRST: u32 = 0x1000;

/// Rounds of destructors, as in the C library.
const ROUNDS: usize = 4;

/// Whether the program deletes keys. Then it depends on the order of calls whether a key exists, so
/// each call is a step. Otherwise the values of one thread do not concern others.
static DELETES: AtomicBool = AtomicBool::new(false);

/// Finds out whether the program deletes keys, before control starts.
pub(crate) fn prepare() {
    let deletes = crate::modules::any_mentions(&[b"\0pthread_key_delete\0", b"\0tss_delete\0"]);
    DELETES.store(deletes, Ordering::Relaxed);
}

fn step(kind: Kind, site: Site) {
    if DELETES.load(Ordering::Relaxed) {
        crate::shared::keys(kind, site);
    }
}

pub(crate) fn create(destructor: Option<Destructor>, site: Site) -> u32 {
    step(Kind::Update, site);
    let free = KEYS.with(|keys| {
        let free = keys.iter().position(|key| !key.used).unwrap_or(keys.len());
        if free == keys.len() {
            keys.push(Key { used: false, destructor: None });
        }
        keys[free] = Key { used: true, destructor };
        free
    });
    control::threads(|threads| {
        for value in threads.iter_mut().filter_map(|thread| thread.keys.get_mut(free)) {
            *value = 0;
        }
    });
    FIRST + free as u32
}

pub(crate) fn delete(key: u32, site: Site) -> c_int {
    step(Kind::Update, site);
    KEYS.with(|keys| match keys.get_mut(key.wrapping_sub(FIRST) as usize) {
        Some(key) if key.used => {
            key.used = false;
            0
        }
        _ => EINVAL,
    })
}

pub(crate) fn get(key: u32, site: Site) -> usize {
    step(Kind::Load, site);
    let index = key.wrapping_sub(FIRST) as usize;
    control::thread(|thread| thread.keys.get(index).copied().unwrap_or(0))
}

pub(crate) fn set(key: u32, value: usize, site: Site) -> c_int {
    step(Kind::Load, site);
    let index = key.wrapping_sub(FIRST) as usize;
    if !KEYS.with(|keys| keys.get(index).is_some_and(|key| key.used)) {
        return EINVAL;
    }
    control::thread(|thread| {
        if index >= thread.keys.len() {
            thread.keys.resize(index + 1, 0);
        }
        thread.keys[index] = value;
    });
    0
}

/// Destructors of the running thread's thread-local objects, last one first.
pub(crate) fn destroy_objects() {
    while let Some((destructor, object)) = control::thread(|thread| thread.destructors.pop()) {
        // SAFETY: registered by the program for this.
        unsafe { destructor(object as *mut c_void) };
    }
}

/// Runs the destructors of the running thread's thread-local objects and thread-specific data.
pub(crate) fn destroy_thread_locals() {
    destroy_objects();
    if control::thread(|thread| thread.keys.iter().any(|&value| value != 0)) {
        step(Kind::Load, Site::default());
    }
    for _ in 0..ROUNDS {
        let mut any = false;
        for index in 0..control::thread(|thread| thread.keys.len()) {
            let value = control::thread(|thread| core::mem::take(&mut thread.keys[index]));
            let key = KEYS.with(|keys| keys[index]);
            if let (true, true, Some(destructor)) = (value != 0, key.used, key.destructor) {
                any = true;
                // SAFETY: registered by the program for this.
                unsafe { destructor(value) };
            }
        }
        if !any {
            break;
        }
    }
    destroy_objects();
}

hook! {
    fn pthread_key_create(out: *mut u32, destructor: Option<Destructor>; site) -> c_int {
        crate::memory::put(out, create(destructor, site), site);
        0
    }
    fn pthread_key_delete(key: u32; site) -> c_int {
        if key < FIRST {
            return crate::hook::real!(pthread_key_delete: fn(u32) -> c_int)(key);
        }
        delete(key, site)
    }
    fn pthread_getspecific(key: u32; site) -> usize {
        if key < FIRST {
            return crate::hook::real!(pthread_getspecific: fn(u32) -> usize)(key);
        }
        get(key, site)
    }
    fn pthread_setspecific(key: u32, value: usize; site) -> c_int {
        if key < FIRST {
            return crate::hook::real!(pthread_setspecific: fn(u32, usize) -> c_int)(key, value);
        }
        set(key, value, site)
    }
    fn __cxa_thread_atexit_impl(destructor: unsafe extern "C" fn(*mut c_void), object: usize, _module: *mut c_void; site) -> c_int {
        control::thread(|thread| thread.destructors.push((destructor, object)));
        0
    }
}
