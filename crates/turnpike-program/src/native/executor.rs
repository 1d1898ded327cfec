//! One program, started and ready: requests executions from its fork server and reads their
//! records.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use turnpike_preload::{dump, protocol, tape, wire};
use turnpike_scheduler::{
    Detail, End, Execution, Executor, Failure, FailureKind, Finding, Frame, GuestError, Kind, Plan, Site,
    ThreadId, ThreadStack,
};

use super::launch::{self, Descriptors};
use super::prefixes::Copies;
use super::symbols::Symbols;
use super::system::{self, Shared};
use super::{
    Isolation, NativeProgram, RacySites, Threads, Visibility, error, headers, hidden, library, names, opaque,
    runtime,
};
use crate::discover::tell_unreported;
use crate::guard::{ended, same};
use crate::stack::{called_by_user, user_part};

/// Bytes for plans; a step takes four.
const PLAN: usize = 64 << 20;
/// Bytes for records. Only those that are used take memory.
const TAPE: usize = 1 << 30;
const SIZE: usize = protocol::PLAN_AT + PLAN + TAPE;

/// Threads that are parked at the start.
const POOL: u32 = 4;

/// How long a program may take to load.
const START: Duration = Duration::from_secs(30);

/// How long an execution that hangs may take to say where.
const PATIENCE: Duration = Duration::from_millis(200);

/// A program that was started and waits before its `main`.
pub struct NativeExecutor {
    program: NativeProgram,
    guest: Guest,
    kinds: Vec<Kind>,
    plan: Vec<u8>,
    /// Code locations that were found to race.
    racy: Vec<u64>,
    /// What threads declared that they may touch.
    declared: BTreeSet<(u64, u64, bool)>,
    /// Executions so far, not counting those that repeat another.
    executions: u64,
    /// Whether the next execution must have a process of its own.
    fresh: bool,
    copies: Copies,
    /// A message about writes that trial executions found and that nothing reports.
    unreported: Option<String>,
}

/// One of this many executions is executed again in a process of its own.
const FRESH_EVERY: u64 = 1000;

/// The process and its connections.
struct Guest {
    child: Child,
    shared: Shared,
    request: Option<OwnedFd>,
    answer: OwnedFd,
    output: OwnedFd,
    symbols: Symbols,
    /// Messages about code whose accesses cannot be seen.
    unseen: Vec<String>,
}

/// An execution that is stopped for a debugger.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Its process.
    pub process: i32,
    /// The system's number of the thread that ended it.
    pub thread: i32,
}

/// How an execution ended for the host.
enum Came {
    /// With a record.
    Recorded,
    /// Without one: ended by a signal, or by an exit that was not seen.
    Died(i32),
    /// It hung and was ended.
    Hung,
    /// The fork server is gone.
    Gone,
}

impl NativeExecutor {
    pub(super) fn new(program: &NativeProgram) -> Result<Self, GuestError> {
        let guest = Guest::start(program)?;
        Ok(NativeExecutor {
            program: program.clone(),
            guest,
            kinds: tape::kinds(),
            plan: Vec::new(),
            racy: Vec::new(),
            declared: BTreeSet::new(),
            executions: 0,
            fresh: false,
            copies: Copies::new(program.prefixes),
            unreported: None,
        })
    }

    /// Whether threads are fibers, switched in user space.
    pub fn fibers(&self) -> bool {
        self.guest.shared.header().threads.load(Ordering::Relaxed) == protocol::THREADS_FIBERS
    }

    /// Whether some of the program's code reports its memory accesses (it was compiled with
    /// `-fsanitize=thread`).
    pub fn instrumented(&self) -> bool {
        self.guest.shared.header().instrumented.load(Ordering::Relaxed) != 0
    }

    /// Makes accesses at these code locations steps from now on (with [`Visibility::Racy`]).
    pub fn set_racy_sites(&mut self, sites: &[Site]) {
        self.racy = sites.iter().map(|site| site.0).collect();
        self.copies.forget();
    }

    /// Sets whether executions look for writes that nothing reports.
    pub(super) fn set_audit(&mut self, audit: bool) {
        self.guest.shared.header_mut().audit = audit.into();
        self.copies.forget();
    }

    /// Notes the messages about writes that nothing reports.
    pub(super) fn note_unreported(&mut self, places: &BTreeSet<String>) {
        self.unreported = tell_unreported(places);
    }

    /// What threads declared that they may touch (`tp_may_access`), in the executions so far; empty
    /// if none did.
    pub fn declared(&self) -> Vec<(u64, u64, bool)> {
        // A thread that declared an object without a stable name may do anything.
        let anything: BTreeSet<u64> =
            self.declared.iter().filter(|(_, object, _)| *object == 0).map(|(thread, ..)| *thread).collect();
        self.declared.iter().filter(|(thread, ..)| !anything.contains(thread)).copied().collect()
    }

    /// How many processes executed the program, up to now.
    pub fn processes(&self) -> u32 {
        self.guest.shared.header().children.load(Ordering::Relaxed)
    }

    /// How many executions went on from a copy of an earlier one, and how many steps that saved.
    pub fn resumed(&self) -> (u64, u64) {
        (self.copies.resumed, self.copies.steps_spared)
    }

    /// The process id of the fork server.
    pub fn process(&self) -> u32 {
        self.guest.child.id()
    }

    /// Runs one execution that stops where it ends, or where it hangs, while `look` inspects the
    /// process.
    pub fn hold(&mut self, plan: &Plan<'_>, look: impl FnOnce(Held)) -> Result<(), GuestError> {
        self.guest.shared.header_mut().hold = 1;
        self.start_anew();
        let began = self.begin(plan);
        let held = began.and_then(|()| self.guest.wait_until_held(self.program.limits.hang));
        if let Ok(held) = &held {
            look(*held);
            system::kill(held.process);
            let _ = system::read_byte(&self.guest.answer);
        }
        self.guest.shared.header_mut().hold = 0;
        held.map(|_| ())
    }

    /// Requests an execution.
    fn begin(&mut self, plan: &Plan<'_>) -> Result<(), GuestError> {
        self.plan.clear();
        wire::encode(plan, &mut self.plan);
        let length = self.plan.len();
        if !self.racy.is_empty() {
            self.plan.resize(length.next_multiple_of(8), 0);
            for site in &self.racy {
                self.plan.extend_from_slice(&site.to_le_bytes());
            }
        }
        if self.plan.len() > PLAN {
            return Err(error("the schedule is too long"));
        }
        self.guest.shared.write(protocol::PLAN_AT, &self.plan);
        let header = self.guest.shared.header_mut();
        header.plan_length = length as u32;
        header.racy_sites = self.racy.len() as u64;
        header.fresh = self.fresh.into();
        header.progress.store(0, Ordering::Relaxed);
        header.hangs.store(0, Ordering::Relaxed);
        header.steps.store(0, Ordering::Relaxed);
        header.tape_used.store(0, Ordering::Relaxed);
        header.end.store(protocol::END_NONE, Ordering::Relaxed);
        if let Some(request) = &self.guest.request {
            // If the fork server is gone, waiting for its answer fails.
            system::write_byte(request, b'X');
        }
        Ok(())
    }

    /// Makes the next execution begin at the start, and leave no copies.
    fn start_anew(&mut self) {
        self.copies.forget();
        let header = self.guest.shared.header_mut();
        (header.copies, header.keep) = (0, 0);
    }

    /// Requests an execution, and waits until it ends.
    fn execute(&mut self, plan: &Plan<'_>) -> Result<Came, GuestError> {
        self.begin(plan)?;
        let Some(hung) = self.guest.wait(self.program.limits.hang, &self.program.racy) else {
            return Ok(Came::Gone);
        };
        let header = self.guest.shared.header();
        let text = text(header);
        match header.end.load(Ordering::Acquire) {
            protocol::END_TAPE => Ok(Came::Recorded),
            protocol::END_REFUSED => {
                let site = Site(header.site.load(Ordering::Relaxed));
                let place = if site.0 == 0 { String::new() } else { format!(", at {}", self.site(site)) };
                Err(error(format!("{text}{place}")))
            }
            protocol::END_MORE_THREADS => Err(error(format!(
                "the program has more than {} threads at the same time, or the system does not allow as many",
                self.program.limits.threads
            ))),
            _ if hung => Ok(Came::Hung),
            _ if header.status.load(Ordering::Relaxed) == -1 => {
                Err(error("the system does not allow another process"))
            }
            _ => Ok(Came::Died(header.status.load(Ordering::Relaxed))),
        }
    }

    fn read_record(&mut self, out: &mut Execution) -> Result<(), GuestError> {
        let header = self.guest.shared.header();
        let (at, length) = (header.tape_at as usize, header.tape_used.load(Ordering::Acquire) as usize);
        let bytes = self.guest.shared.bytes(at, length).filter(|bytes| !bytes.is_empty());
        let Some(bytes) = bytes else { return Err(error("the record of the execution is too long")) };
        let behind = tape::read(bytes, &self.kinds, out, |thread, object, writes| {
            self.declared.insert((thread, object, writes));
        })
        .ok_or_else(|| error("the record of the execution cannot be read"))?;
        for dump in dump::read(behind) {
            let addresses = self.guest.symbols.unwind(&dump);
            out.stacks.push(ThreadStack { thread: ThreadId(dump.thread), addresses });
        }
        if out.end == End::Hung {
            self.explain_hang(out);
        }
        Ok(())
    }

    /// Adds in which call an execution hangs, and its callers.
    fn explain_hang(&mut self, out: &mut Execution) {
        let [stack] = out.stacks.as_slice() else { return };
        let symbols = &mut self.guest.symbols;
        let frames: Vec<Frame> =
            stack.addresses.iter().flat_map(|&address| symbols.frames(address).to_vec()).collect();
        let Some(call) = called_by_user(&frames) else { return };
        let call = call.function.clone().unwrap_or_else(|| call.position());
        let callers: Vec<String> = user_part(&frames).iter().map(Frame::to_string).collect();
        let text = format!("`{call}`, which does not return ({}),", callers.join(" <- "));
        // This replaces the guest's message, which does not name the function.
        if let Some(Finding::Uncontrolled(what)) = out.findings.last_mut() {
            *what = text;
        }
    }

    /// Reconstructs an execution that left no record: executes the same plan again up to its last
    /// step, which the guest's note describes.
    fn reconstruct(&mut self, plan: &Plan<'_>, end: End, out: &mut Execution) -> Result<(), GuestError> {
        let header = self.guest.shared.header();
        let steps = header.steps.load(Ordering::Relaxed);
        let note = tape::Note::load(&header.note);
        self.start_anew();
        clear(out);
        if steps > 0 {
            let shorter = Plan { max_steps: steps - 1, ..*plan };
            match self.execute(&shorter)? {
                Came::Recorded => self.read_record(out)?,
                _ => {
                    return Err(error(
                        "the program does not do the same in the same schedule: it ended early once more",
                    ));
                }
            }
            if let Some(mut last) = note.step(&self.kinds) {
                if plan.detail >= Detail::Full {
                    last.first_choice = out.last_choices as u32;
                    out.last_choices = out.choices.len();
                } else {
                    out.choices.clear();
                    out.last_choices = 0;
                }
                out.steps.push(last);
            }
            out.fingerprint = note.fingerprint();
            out.predicted.clear();
        }
        let thread = ThreadId(note.thread());
        out.end = match end {
            End::Failed(failure) => End::Failed(Failure { thread, ..failure }),
            other => other,
        };
        Ok(())
    }

    fn run_once(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<bool, GuestError> {
        if self.fresh {
            self.start_anew();
        } else {
            self.copies.prepare(plan, self.guest.shared.header_mut());
        }
        match self.execute(plan)? {
            Came::Recorded => {
                self.read_record(out)?;
                self.copies.note(plan, out, self.guest.shared.header());
            }
            Came::Gone => return Ok(false),
            Came::Hung => self.reconstruct(plan, End::Hung, out)?,
            Came::Died(status) => {
                let message = match (libc::WIFSIGNALED(status), libc::WTERMSIG(status)) {
                    (true, libc::SIGKILL) => "killed, perhaps because memory ran out".into(),
                    (true, signal) => format!("ended by signal {signal}"),
                    _ => format!("left with status {}, unseen by the scheduler", libc::WEXITSTATUS(status)),
                };
                let failure = Failure {
                    kind: FailureKind::Crash,
                    message: message.clone(),
                    thread: ThreadId(0),
                    site: Site(0),
                };
                let clean = status == 0;
                let end = if clean { End::Finished } else { End::Failed(failure) };
                self.reconstruct(plan, end, out)?;
                if clean {
                    out.findings.push(Finding::Uncontrolled(message));
                    out.incomplete = true;
                }
            }
        }
        self.guest.take_output(self.program.output, &mut out.output);
        names::tell(out, &mut self.guest.symbols);
        if out.end == End::Hung && self.program.racy.ended() >= MOST_HUNG {
            return Err(too_many_hung(out));
        }
        if plan.detail >= Detail::Full {
            names::apply(out, &mut self.guest.symbols);
        }
        Ok(true)
    }
}

/// The number of hanging executions after which the search ends: each takes as long as thousands of
/// others.
const MOST_HUNG: u32 = 30;

/// The error for a search that mostly waits for the watchdog.
fn too_many_hung(last: &Execution) -> GuestError {
    let calls = last.findings.iter().filter_map(|finding| match finding {
        Finding::Uncontrolled(what) => Some(format!("; {what} is not under control")),
        _ => None,
    });
    error(format!("{MOST_HUNG} executions hung{}", calls.collect::<String>()))
}

/// The guest's message for the user.
fn text(header: &protocol::Header) -> String {
    let length = header.text_length.load(Ordering::Relaxed) as usize;
    String::from_utf8_lossy(header.text.get(..length).unwrap_or_default()).into_owned()
}

/// Messages about what is not instrumented: parts of the program without the flag, libraries that
/// the guest reports, functions of the C library, and system calls that are not reported.
fn unseen(program: &[u8], told: &str, symbols: &Symbols) -> Vec<String> {
    let mut parts = opaque::sources(program);
    // The sources without the flag stand for their functions.
    let hidden = if parts.is_empty() { hidden::functions(program) } else { Vec::new() };
    let mut callers = Vec::new();
    for line in told.lines() {
        match line.strip_prefix(protocol::CALLER) {
            Some(caller) => callers.push(caller.to_owned()),
            None => parts.push(line.to_owned()),
        }
    }
    let functions = library::unknown(program, &symbols.files());
    let reasons = [
        opaque::tell(&parts),
        opaque::tell_rust(program),
        hidden::tell(&hidden),
        library::tell(&functions),
        runtime::tell(program),
        opaque::tell_callers(&callers),
    ];
    reasons.into_iter().flatten().collect()
}

/// Empties a record.
fn clear(out: &mut Execution) {
    *out = Execution::default();
}

impl NativeExecutor {
    /// Runs one execution, in an old or a new process.
    fn run_anywhere(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        if self.run_once(plan, out)? {
            return Ok(());
        }
        // The fork server is gone: killed from outside, or out of memory. Try again once.
        let _ = self.guest.child.kill();
        let status = self.guest.child.wait().map_or_else(|_| String::new(), |status| format!(" ({status})"));
        self.guest = Guest::start(&self.program)?;
        self.copies.forget();
        if self.run_once(plan, out)? {
            return Ok(());
        }
        Err(error(format!("the program's first process ended{status}, and its successor too")))
    }

    /// Executes a plan again in a process of its own, which must make no difference.
    fn check_isolation(&mut self, plan: &Plan<'_>, out: &Execution) -> Result<(), GuestError> {
        let mut again = Execution::default();
        self.fresh = true;
        let done = self.run_anywhere(plan, &mut again);
        self.fresh = false;
        done?;
        if same(out, &again) {
            return Ok(());
        }
        Err(GuestError::nondeterministic(format!(
            "with the same schedule, {} in a process that was used before and {} in a new one \
             (the option isolation with the value fork gives each execution its own process)",
            ended(out),
            ended(&again)
        )))
    }
}

impl Executor for NativeExecutor {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.run_anywhere(plan, out)?;
        self.executions += 1;
        if self.program.isolation == Isolation::Reset
            && self.executions.is_multiple_of(FRESH_EVERY)
            && out.end != End::Hung
        {
            self.check_isolation(plan, out)?;
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.guest.symbols.site(site.0)
    }

    fn frames(&mut self, address: u64) -> Option<Vec<Frame>> {
        Some(self.guest.symbols.frames(address).to_vec())
    }

    fn unseen(&self) -> Vec<String> {
        self.guest.unseen.iter().chain(&self.unreported).cloned().collect()
    }

    fn asks_for_weaker_orders(&self) -> bool {
        self.guest.shared.header().weaker_orders.load(Ordering::Relaxed) != 0
    }
}

impl Guest {
    fn start(program: &NativeProgram) -> Result<Guest, GuestError> {
        Guest::connect(program)
            .map_err(|why| error(format!("cannot start {}: {why}", program.path.display())))
    }

    fn connect(program: &NativeProgram) -> io::Result<Guest> {
        let memory = system::memory_file(c"turnpike-shared", SIZE)?;
        let output = system::memory_file(c"turnpike-output", 0)?;
        let (request_out, request) = system::pipe()?;
        let (answer, answer_in) = system::pipe()?;
        let mut shared = Shared::new(&memory, SIZE)?;
        let header = shared.header_mut();
        header.version = protocol::VERSION;
        header.threads_wanted = match program.threads {
            Threads::Auto => 0,
            Threads::Fibers => protocol::THREADS_FIBERS,
            Threads::System => protocol::THREADS_SYSTEM,
        };
        header.pool = POOL.min(program.limits.threads);
        header.pool_limit = program.limits.threads;
        header.stack = program.limits.stack;
        header.memory = program.limits.memory;
        header.seconds = program.limits.seconds;
        header.reuse = (program.isolation == Isolation::Reset).into();
        header.output = program.output.into();
        header.tape_at = (protocol::PLAN_AT + PLAN) as u64;
        header.tape_length = TAPE as u64;
        header.memory_level = match program.visibility {
            Visibility::Sync => 0,
            Visibility::Racy => 1,
            Visibility::All => 2,
        };
        let bytes = std::fs::read(&program.path)?;
        let library_code = headers::ranges(&bytes);
        header.library_code = library_code.len() as u64;
        header.around = program.around.unwrap_or_default();
        let tape = header.tape_at as usize;
        shared.write(
            tape,
            &library_code.concat().iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>(),
        );
        let descriptors = Descriptors {
            shared: memory,
            request: request_out,
            answer: answer_in,
            output: output.try_clone()?,
            size: SIZE,
        };
        let mut child = launch::start(program, descriptors)?;
        let ready = system::readable(&answer, START) && system::read_byte(&answer) == Some(b'R');
        if !ready {
            let status = match child.try_wait()? {
                Some(status) => status.to_string(),
                None => {
                    child.kill()?;
                    child.wait()?;
                    "it did not get to its start".into()
                }
            };
            let mut said = Vec::new();
            read_all(&output, &mut said);
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            return Err(io::Error::other(format!("it ended before it could be controlled ({status}){said}")));
        }
        let symbols = Symbols::of_process(child.id());
        let unseen = unseen(&bytes, &text(shared.header()), &symbols);
        Ok(Guest { child, shared, request: Some(request), answer, output, symbols, unseen })
    }

    /// Waits for an execution that stops at its end.
    fn wait_until_held(&self, limit: Duration) -> Result<Held, GuestError> {
        let (mut seen, mut since) = (u64::MAX, Instant::now());
        loop {
            if system::readable(&self.answer, Duration::from_millis(5)) {
                let _ = system::read_byte(&self.answer);
                return Err(error("the execution ended before it could be looked at"));
            }
            let header = self.shared.header();
            let (process, thread) =
                (header.child.load(Ordering::Acquire), header.ended_by.load(Ordering::Relaxed));
            if header.end.load(Ordering::Acquire) != protocol::END_NONE && process != 0 {
                return Ok(Held { process, thread });
            }
            let progress = header.progress.load(Ordering::Relaxed);
            if progress != seen {
                (seen, since) = (progress, Instant::now());
            } else if since.elapsed() >= limit && process != 0 {
                return Ok(Held { process, thread: process });
            }
        }
    }

    /// Waits for the end of an execution. Returns whether it hung, or `None` if the fork server is
    /// gone.
    fn wait(&self, limit: Duration, known: &RacySites) -> Option<bool> {
        let slice = (limit / 16).clamp(Duration::from_millis(5), Duration::from_millis(100));
        let mut seen = u64::MAX;
        let mut since = Instant::now();
        let mut used = Duration::ZERO;
        loop {
            if system::readable(&self.answer, slice) {
                return (system::read_byte(&self.answer)? == b'D').then_some(false);
            }
            let header = self.shared.header();
            let progress = header.progress.load(Ordering::Relaxed);
            let child = header.child.load(Ordering::Acquire);
            let now = system::processor_time(child).unwrap_or_default();
            let fingerprint = if progress == 0 { 0 } else { tape::Note::load(&header.note).fingerprint() };
            // A hang that was seen before is recognised sooner.
            let limit = if known.hung((progress, fingerprint)) { limit / 8 } else { limit };
            if progress != seen {
                (seen, since, used) = (progress, Instant::now(), now);
            } else if since.elapsed() >= limit
                && (now.saturating_sub(used) >= limit * 3 / 4 || !running(child))
            {
                // It computes without end, or sleeps outside control. The processor time tells that
                // from a machine that is merely busy.
                known.note_hang((progress, fingerprint));
                header.hangs.store(1, Ordering::Relaxed);
                system::ask(child);
                if !system::readable(&self.answer, PATIENCE) {
                    system::kill(child);
                }
                if !system::readable(&self.answer, START) {
                    return None;
                }
                return (system::read_byte(&self.answer)? == b'D').then_some(true);
            }
        }
    }

    fn take_output(&self, wanted: bool, out: &mut Vec<u8>) {
        out.clear();
        let file = std::fs::File::from(match self.output.try_clone() {
            Ok(file) => file,
            Err(_) => return,
        });
        let size = file.metadata().map_or(0, |status| status.len());
        if size == 0 {
            return;
        }
        if wanted {
            read_all(&self.output, out);
        }
        let _ = system::truncate(&self.output, 0);
    }
}

fn read_all(file: &OwnedFd, out: &mut Vec<u8>) {
    use std::os::unix::fs::FileExt;
    let Ok(file) = file.try_clone() else { return };
    let file = std::fs::File::from(file);
    let size = file.metadata().map_or(0, |status| status.len()) as usize;
    out.resize(size, 0);
    let got = file.read_at(out, 0).unwrap_or(0);
    out.truncate(got);
}

/// Whether a process runs or could, as opposed to one that sleeps.
fn running(process: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().next());
    // A process that waits for its memory or a file goes on by itself.
    matches!(state, Some("R" | "D"))
}

impl Drop for Guest {
    fn drop(&mut self) {
        // The child first, so that its parent can reap it.
        system::kill(self.shared.header().child.load(Ordering::Acquire));
        self.request = None;
        let patience = Instant::now();
        while patience.elapsed() < Duration::from_secs(1) {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_micros(200)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
