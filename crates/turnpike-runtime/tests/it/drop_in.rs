//! The same code compiles and behaves equally with the standard library and with this crate.

/// Uses the interface of `$root`, in a separate module.
macro_rules! with {
    ($name:ident, $root:ident) => {
        mod $name {
            use std::cell::{Cell, RefCell};
            use std::fmt::{Debug, Display};
            use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
            use std::time::Duration;

            use $root::collections::hash_map::Entry;
            use $root::collections::{HashMap, HashSet, VecDeque};
            use $root::hint;
            use $root::sync::atomic::{self, AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
            use $root::sync::mpsc::{self, Receiver, Sender, SyncSender};
            use $root::sync::{
                Arc, Barrier, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once, OnceLock, PoisonError, RwLock,
                RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, Weak,
            };
            use $root::thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle, Thread, ThreadId};
            use $root::time::{Instant, SystemTime, UNIX_EPOCH};

            // Constructors are constant.
            static MUTEX: Mutex<Vec<u32>> = Mutex::new(Vec::new());
            static RWLOCK: RwLock<u32> = RwLock::new(1);
            static CONDVAR: Condvar = Condvar::new();
            static BARRIER: Barrier = Barrier::new(1);
            static ONCE: Once = Once::new();
            static CELL: OnceLock<String> = OnceLock::new();
            static LAZY: LazyLock<Mutex<u32>> = LazyLock::new(|| Mutex::new(7));
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            static FLAG: AtomicBool = AtomicBool::new(false);
            static POINTER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

            $root::thread_local! {
                static NUMBER: Cell<u32> = const { Cell::new(3) };
                /// Documented, and visible elsewhere.
                pub(super) static LIST: RefCell<Vec<u32>> = RefCell::new(Vec::new());
            }
            $root::thread_local!(static LAST: u8 = 1);

            fn shared<T: Send + Sync>() {}
            fn sent<T: Send>() {}
            fn safe<T: UnwindSafe + RefUnwindSafe>() {}
            fn shown<T: Debug>(_: &T) {}
            fn told<T: Display>(_: &T) {}

            #[allow(dead_code)]
            fn traits() {
                shared::<Mutex<u32>>();
                shared::<Mutex<Cell<u32>>>();
                shared::<RwLock<u32>>();
                shared::<Condvar>();
                shared::<Barrier>();
                shared::<Once>();
                shared::<OnceLock<u32>>();
                shared::<LazyLock<u32>>();
                shared::<AtomicPtr<Cell<u8>>>();
                shared::<Sender<Cell<u32>>>();
                shared::<SyncSender<u32>>();
                shared::<JoinHandle<Cell<u32>>>();
                shared::<Thread>();
                shared::<ThreadId>();
                sent::<Receiver<Cell<u32>>>();
                safe::<Mutex<u32>>();
                safe::<RwLock<u32>>();
                safe::<Condvar>();
                safe::<Once>();
                safe::<AtomicU64>();
                safe::<Sender<Cell<u32>>>();
                safe::<Receiver<Cell<u32>>>();
                safe::<OnceLock<u32>>();
                safe::<LazyLock<u32>>();
                safe::<Thread>();
            }

            fn locks() -> String {
                let mutex: Arc<Mutex<u32>> = Arc::new(Mutex::from(1));
                let weak: Weak<Mutex<u32>> = Arc::downgrade(&mutex);
                let guard: LockResult<MutexGuard<'_, u32>> = mutex.lock();
                let busy: TryLockResult<MutexGuard<'_, u32>> = mutex.try_lock();
                assert!(matches!(busy, Err(TryLockError::WouldBlock)));
                drop(busy);
                drop(guard);
                let poison = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = mutex.lock().unwrap();
                    std::panic::resume_unwind(Box::new(()));
                }));
                assert!(poison.is_err() && mutex.is_poisoned());
                let value = *mutex.lock().unwrap_or_else(PoisonError::into_inner);
                mutex.clear_poison();
                drop(weak.upgrade());
                // Unsized contents.
                let boxed: Box<Mutex<dyn Debug + Send>> = Box::new(Mutex::new(5_u8));
                let unsized_lock: Arc<Mutex<dyn Debug + Send>> = Arc::from(boxed);
                let text = format!("{value} {:?} {:?}", unsized_lock.lock().unwrap(), Mutex::new(2));
                let lock: RwLock<[u32; 2]> = RwLock::default();
                {
                    let mut write: RwLockWriteGuard<'_, [u32; 2]> = lock.write().unwrap();
                    write[1] = 4;
                }
                let read: RwLockReadGuard<'_, [u32; 2]> = RwLockWriteGuard::downgrade(lock.write().unwrap());
                let together = lock.try_read().is_ok() && lock.try_write().is_err();
                let sum = read.iter().sum::<u32>();
                shown(&read);
                drop(read);
                MUTEX.lock().unwrap().push(sum);
                told(&RWLOCK.read().unwrap());
                let pair = (Mutex::new(true), Condvar::default());
                let guard = pair.1.wait_while(pair.0.lock().unwrap(), |held| !*held).unwrap();
                pair.1.notify_one();
                let (guard, result) = pair.1.wait_timeout(guard, Duration::from_millis(1)).unwrap();
                let timed_out: bool = result.timed_out();
                let (guard, _) =
                    pair.1.wait_timeout_while(guard, Duration::from_millis(1), |held| !*held).unwrap();
                drop(guard);
                CONDVAR.notify_all();
                let leader = BARRIER.wait().is_leader();
                let (length, inner) = (MUTEX.lock().unwrap().len(), pair.0.into_inner().unwrap());
                MUTEX.lock().unwrap().clear();
                format!("{text} {sum} {together} {timed_out} {leader} {length} {inner} {:?}", lock.into_inner().unwrap())
            }

            fn once() -> String {
                let mut calls = 0;
                let once = Once::new();
                once.call_once(|| calls += 1);
                once.call_once_force(|state| assert!(state.is_poisoned()));
                ONCE.call_once(|| {});
                ONCE.wait();
                ONCE.wait_force();
                let mut lazy: LazyLock<u32> = LazyLock::new(|| 4);
                let made = (LazyLock::get(&lazy).copied(), LazyLock::get_mut(&mut lazy).copied());
                *LazyLock::force_mut(&mut lazy) += 1;
                *lazy += 1;
                let made = (made, LazyLock::get(&lazy).copied(), LazyLock::get_mut(&mut lazy).copied());
                let broken: LazyLock<u32> = LazyLock::new(|| std::panic::resume_unwind(Box::new(())));
                let poisoned = (0..2).map(|_| {
                    let panic = catch_unwind(AssertUnwindSafe(|| *broken)).unwrap_err();
                    panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or(panic.downcast_ref::<String>().cloned())
                });
                let poisoned: Vec<Option<String>> = poisoned.collect();
                let mut cell = OnceLock::from(1);
                *cell.get_mut().unwrap() += 1;
                let taken = cell.take();
                let first = CELL.get_or_init(|| "made".to_owned());
                *LAZY.lock().unwrap() += 1;
                let lazy_lock = LazyLock::force(&LAZY);
                format!(
                    "{calls} {} {taken:?} {:?} {first} {:?} {cell:?} {:?}",
                    once.is_completed(),
                    cell.get(),
                    CELL.set(String::new()),
                    OnceLock::from(3).into_inner()
                ) + &format!(" {} {made:?} {poisoned:?}", *lazy_lock.lock().unwrap() > 7)
            }

            fn channels() -> String {
                let (sender, receiver): (Sender<u32>, Receiver<u32>) = mpsc::channel();
                let (bounded, other): (SyncSender<u32>, Receiver<u32>) = mpsc::sync_channel(1);
                sender.clone().send(1).unwrap();
                bounded.try_send(5).unwrap();
                let full = bounded.try_send(6);
                let empty = (receiver.try_recv(), receiver.try_recv());
                let late = receiver.recv_timeout(Duration::from_millis(1));
                sender.send(2).unwrap();
                let here: Vec<u32> = receiver.try_iter().collect();
                drop(sender);
                let gone = (receiver.recv(), other.recv());
                drop(other);
                let lost = bounded.send(9);
                let mut sum = 0;
                for value in &receiver {
                    sum += value;
                }
                shown(&receiver);
                format!("{full:?} {empty:?} {late:?} {here:?} {gone:?} {lost:?} {sum} {:?}", receiver.into_iter().next())
            }

            fn threads() -> String {
                let handle: JoinHandle<u32> =
                    Builder::new().name("named".to_owned()).stack_size(1 << 20).spawn(|| 4).unwrap();
                let name = handle.thread().name().map(str::to_owned);
                let value: thread::Result<u32> = handle.join();
                let mut data = [1, 2];
                let doubled = thread::scope(|scope: &Scope<'_, '_>| {
                    let handle: ScopedJoinHandle<'_, usize> = scope.spawn(|| data.len() * 2);
                    let inner = Builder::new().spawn_scoped(scope, || 1).unwrap();
                    handle.join().unwrap() + inner.join().unwrap()
                });
                data[0] = 5;
                let current: Thread = thread::current();
                current.unpark();
                thread::park();
                thread::park_timeout(Duration::from_millis(1));
                thread::yield_now();
                hint::spin_loop();
                thread::sleep(Duration::from_millis(1));
                let same = current.id() == thread::current().id();
                NUMBER.set(NUMBER.get() + 1);
                LIST.with_borrow_mut(|list| list.push(1));
                let missing = LAST.try_with(|last| *last).is_err();
                let parallel = thread::available_parallelism().is_ok();
                let list = LIST.take();
                format!(
                    "{name:?} {} {doubled} {data:?} {same} {} {list:?} {missing} {parallel} {}",
                    value.unwrap(),
                    NUMBER.replace(3),
                    thread::panicking()
                )
            }

            fn atomics() -> String {
                let number = AtomicI32::new(1);
                let exchanged = number.compare_exchange(1, 2, Ordering::AcqRel, Ordering::Acquire);
                let failed = number.compare_exchange_weak(1, 3, Ordering::SeqCst, Ordering::Relaxed);
                let updated = number.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |value| value.checked_add(5));
                let last = number.update(Ordering::SeqCst, Ordering::SeqCst, |value| value * 2);
                let refused = number.try_update(Ordering::SeqCst, Ordering::SeqCst, |_| None);
                let array = [1_u16, 2, 3];
                let pointer = AtomicPtr::new(array.as_ptr().cast_mut());
                pointer.fetch_ptr_add(2, Ordering::AcqRel);
                pointer.fetch_ptr_sub(1, Ordering::AcqRel);
                pointer.fetch_byte_add(2, Ordering::Relaxed);
                pointer.fetch_byte_sub(2, Ordering::Relaxed);
                pointer.fetch_or(1, Ordering::SeqCst);
                pointer.fetch_xor(1, Ordering::SeqCst);
                pointer.fetch_and(!1, Ordering::SeqCst);
                pointer.update(Ordering::SeqCst, Ordering::SeqCst, |pointer| pointer.wrapping_add(1));
                let moved = pointer.load(Ordering::SeqCst).addr() - array.as_ptr().addr();
                atomic::fence(Ordering::SeqCst);
                COUNT.fetch_add(1, Ordering::Relaxed);
                FLAG.store(true, Ordering::Release);
                POINTER.store(std::ptr::null_mut(), Ordering::Relaxed);
                let text = format!("{number:?} {:?} {:?}", FLAG, AtomicBool::from(true));
                format!("{exchanged:?} {failed:?} {updated:?} {last} {refused:?} {moved} {text} {}", number.into_inner())
            }

            #[allow(unsafe_code)]
            fn borrowing() -> String {
                let mut data = vec![1];
                // SAFETY: the thread is joined before what it borrows ends.
                let handle = unsafe { Builder::new().spawn_unchecked(|| data.push(2)) };
                handle.unwrap().join().unwrap();
                let chosen = hint::select_unpredictable(data.len() == 2, "two", "other");
                hint::cold_path();
                format!("{data:?} {chosen}")
            }

            fn maps() -> String {
                let mut map: HashMap<String, Vec<u32>> = HashMap::default();
                map.entry("one".to_owned()).or_default().push(1);
                for (_, list) in &mut map {
                    list.push(2);
                }
                let replaced = matches!(map.entry("one".to_owned()), Entry::Occupied(_));
                let (few, more) = (HashSet::from([1, 2, 3]), [2, 3, 4].into_iter().collect::<HashSet<_>>());
                let mut both: Vec<i32> = (&few & &more).into_iter().collect();
                both.sort_unstable();
                let sizes = [&few | &more, &few - &more, &few ^ &more].map(|set| set.len());
                let equal = map.clone() == map && map["one"] == [1, 2];
                let queue: VecDeque<Vec<u32>> = map.into_values().collect();
                format!("{replaced} {both:?} {sizes:?} {equal} {queue:?}")
            }

            fn time() -> String {
                let (begin, wall) = (Instant::now(), SystemTime::now());
                let later = begin + Duration::from_secs(1);
                assert!(later > begin && later.duration_since(begin) == Duration::from_secs(1));
                assert!(begin.checked_sub(Duration::from_secs(u64::MAX)).is_none());
                assert!(wall.duration_since(UNIX_EPOCH).is_ok() && wall.elapsed().is_ok());
                format!("{:?}", (later - begin, begin.checked_duration_since(later)))
            }

            pub(super) fn all() -> Vec<String> {
                vec![locks(), once(), channels(), threads(), atomics(), borrowing(), maps(), time()]
            }
        }
    };
}

with!(standard, std);
with!(ours, turnpike_runtime);

use std::sync::{Arc, Mutex};

use turnpike_runtime::{Guest, GuestOptions};
use turnpike_scheduler::{End, Execution, Executor, Plan, Policy};

#[test]
fn outside_and_inside_a_check_as_with_the_standard_library() {
    let expected = standard::all();
    assert_eq!(ours::all(), expected);
    let results = Arc::new(Mutex::new(Vec::new()));
    let seen = results.clone();
    let body = move || *seen.lock().unwrap() = ours::all();
    let mut guest = Guest::new(body, GuestOptions::default());
    let mut execution = Execution::default();
    for seed in 0..20 {
        guest.run(&Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) }, &mut execution).unwrap();
        assert_eq!(execution.end, End::Finished);
        assert_eq!(*results.lock().unwrap(), expected);
    }
}
