//! The record of an execution as bytes, for the shared memory. Compiled into host and guest.
//!
//! The guest writes it when the execution ends, whatever the reason. Executions that die without a
//! record (killed, out of memory, hung) leave only the number of steps taken. Plans are
//! deterministic, so the host executes the same plan once more up to that step to get the record.

use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use turnpike_scheduler::{
    Choice, End, Execution, Failure, FailureKind, Finding, Kind, Object, ObjectId, ObjectRecord, Site, Step,
    StepValue, ThreadId, ThreadRecord,
};

/// Writes the record, and what threads declared that they may touch. Returns the number of bytes,
/// or `None` if they do not fit.
pub fn write(
    execution: &Execution,
    declared: &[(u64, u64, bool)],
    full: bool,
    out: &mut [u8],
) -> Option<usize> {
    let mut w = Writer { out, at: 0, fits: true };
    w.byte(full.into());
    w.long(execution.fingerprint as u64);
    w.long((execution.fingerprint >> 64) as u64);
    w.long(execution.enabled_sum);
    w.word(execution.messages);
    w.word(execution.assertions);
    w.word(execution.branches);
    w.byte(execution.incomplete.into());
    w.byte(execution.timeouts_left_out.into());
    w.byte(execution.bounded.into());
    w.byte(execution.entered.into());
    w.end(&execution.end);
    w.word(execution.genes_read);
    w.word(execution.genes.len() as u32);
    for bits in &execution.genes {
        w.long(*bits);
    }
    w.word(execution.steps.len() as u32);
    for step in &execution.steps {
        w.step(step, full);
    }
    w.word(execution.last_choices as u32);
    w.word(execution.choices.len() as u32);
    for choice in &execution.choices {
        w.choice(choice);
    }
    w.word(execution.predicted.len() as u32);
    for fingerprint in &execution.predicted {
        w.long(*fingerprint as u64);
        w.long((*fingerprint >> 64) as u64);
    }
    w.word(execution.findings.len() as u32);
    for finding in &execution.findings {
        w.finding(finding);
    }
    w.word(execution.threads.len() as u32);
    for thread in &execution.threads {
        w.thread(thread);
    }
    w.word(execution.objects.len() as u32);
    for object in &execution.objects {
        w.text(&object.name);
        w.long(object.name_hash);
        w.object(&object.object);
        w.long(object.site.0);
        w.byte(object.created.into());
    }
    w.word(execution.values.len() as u32);
    for seen in &execution.values {
        w.word(seen.step);
        w.long(seen.value);
        w.byte(seen.bytes);
    }
    w.word(declared.len() as u32);
    for (thread, object, writes) in declared {
        w.long(*thread);
        w.long(*object);
        w.byte((*writes).into());
    }
    w.fits.then_some(w.at)
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    fits: bool,
}

impl Writer<'_> {
    #[inline]
    fn step(&mut self, step: &Step, full: bool) {
        self.word(step.taken);
        self.word(step.count);
        if full {
            self.word(step.first_choice);
            self.choice(&step.choice);
            self.long(step.fingerprint as u64);
            self.long((step.fingerprint >> 64) as u64);
        } else {
            self.word(step.choice.thread.0);
            self.word(step.choice.alternative);
        }
    }

    fn thread(&mut self, thread: &ThreadRecord) {
        self.text(&thread.name);
        self.long(thread.name_hash);
        match &thread.waits {
            None => self.byte(0),
            Some((choice, holder)) => {
                self.byte(1);
                self.choice(choice);
                self.word(holder.map_or(u32::MAX, |thread| thread.0));
            }
        }
        self.word(thread.holds.len() as u32);
        for (object, site) in &thread.holds {
            self.word(object.0);
            self.long(site.0);
        }
        self.byte(thread.ended.into());
        self.word(thread.born);
        self.long(thread.site.0);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self.out.get_mut(self.at..self.at + bytes.len()) {
            Some(room) => room.copy_from_slice(bytes),
            None => self.fits = false,
        }
        self.at += bytes.len();
    }
    fn byte(&mut self, value: u8) {
        self.bytes(&[value]);
    }
    fn word(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }
    fn long(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }
    fn text(&mut self, text: &str) {
        self.word(text.len() as u32);
        self.bytes(text.as_bytes());
    }
    fn choice(&mut self, choice: &Choice) {
        self.word(choice.thread.0);
        self.word(choice.alternative);
        self.byte(choice.kind as u8);
        self.word(choice.object.0);
        self.word(choice.second.0);
        for region in choice.within {
            self.word(region.0);
        }
        self.byte(u8::from(choice.exclusive) | u8::from(choice.gives_up) << 1);
        self.long(choice.argument);
        self.long(choice.site.0);
    }
    fn end(&mut self, end: &End) {
        match end {
            End::Finished => self.byte(0),
            End::Deadlock => self.byte(1),
            End::Livelock => self.byte(2),
            End::Failed(failure) => {
                self.byte(3);
                self.byte(match failure.kind {
                    FailureKind::Assertion => 0,
                    FailureKind::Panic => 1,
                    FailureKind::Crash => 2,
                    FailureKind::Heap => 3,
                    FailureKind::Misuse => 4,
                });
                self.text(&failure.message);
                self.word(failure.thread.0);
                self.long(failure.site.0);
            }
            End::StepLimit => self.byte(4),
            End::Stopped => self.byte(5),
            End::Asleep => self.byte(6),
            End::Diverged(at) => {
                self.byte(7);
                self.word(*at);
            }
            End::Hung => self.byte(8),
        }
    }
    fn finding(&mut self, finding: &Finding) {
        match finding {
            Finding::Race { first, second, message } => {
                self.byte(0);
                self.long(first.0);
                self.long(second.0);
                self.text(message);
            }
            Finding::Leak(thread) => {
                self.byte(1);
                self.word(thread.0);
            }
            Finding::Uncontrolled(what) => {
                self.byte(2);
                self.text(what);
            }
            Finding::Reuse { freed, allocated } => {
                self.byte(3);
                self.long(freed.0);
                self.long(allocated.0);
            }
        }
    }
    fn object(&mut self, object: &Object) {
        let (tag, value) = match object {
            Object::Mutex { recursive } => (0, u32::from(*recursive)),
            Object::RwLock => (1, 0),
            Object::Condvar => (2, 0),
            Object::Semaphore { value } => (3, *value),
            Object::Barrier { count } => (4, *count),
            Object::Once => (5, 0),
            Object::Queue { capacity } => (6, *capacity),
            Object::Memory => (7, 0),
            Object::Futex => (8, 0),
            Object::Region => (9, 0),
        };
        self.byte(tag);
        self.word(value);
    }
}

/// Reads the record into `out`, whose buffers are reused, and passes what threads declared that
/// they may touch to `declared`. Returns the bytes after the record; `None` if it is not a record.
pub fn read<'a>(
    bytes: &'a [u8],
    kinds: &[Kind],
    out: &mut Execution,
    mut declared: impl FnMut(u64, u64, bool),
) -> Option<&'a [u8]> {
    out.stacks.clear();
    let mut r = Reader { bytes, kinds };
    let full = r.byte()? != 0;
    out.fingerprint = r.wide()?;
    out.enabled_sum = r.long()?;
    out.messages = r.word()?;
    out.assertions = r.word()?;
    out.branches = r.word()?;
    out.incomplete = r.byte()? != 0;
    out.timeouts_left_out = r.byte()? != 0;
    out.bounded = r.byte()? != 0;
    out.entered = r.byte()? != 0;
    out.end = r.end()?;
    out.genes_read = r.word()?;
    r.many(&mut out.genes, Reader::long)?;
    r.many(&mut out.steps, |r| {
        let (taken, count) = (r.word()?, r.word()?);
        Some(if full {
            Step { taken, count, first_choice: r.word()?, choice: r.choice()?, fingerprint: r.wide()? }
        } else {
            let choice = Choice {
                thread: ThreadId(r.word()?),
                alternative: r.word()?,
                kind: Kind::Yield,
                object: ObjectId::NONE,
                second: ObjectId::NONE,
                within: [ObjectId::NONE; 2],
                gives_up: false,
                exclusive: false,
                argument: 0,
                site: Site(0),
            };
            Step { taken, count, first_choice: 0, choice, fingerprint: 0 }
        })
    })?;
    out.last_choices = r.word()? as usize;
    r.many(&mut out.choices, Reader::choice)?;
    r.many(&mut out.predicted, Reader::wide)?;
    r.many(&mut out.findings, Reader::finding)?;
    r.many(&mut out.threads, |r| {
        Some(ThreadRecord {
            name: r.text()?,
            name_hash: r.long()?,
            waits: if r.byte()? == 0 {
                None
            } else {
                let choice = r.choice()?;
                let holder = r.word()?;
                Some((choice, (holder != u32::MAX).then_some(ThreadId(holder))))
            },
            holds: {
                let mut holds = Vec::new();
                r.many(&mut holds, |r| Some((ObjectId(r.word()?), Site(r.long()?))))?;
                holds
            },
            ended: r.byte()? != 0,
            born: r.word()?,
            site: Site(r.long()?),
        })
    })?;
    r.many(&mut out.objects, Reader::object_record)?;
    r.many(&mut out.values, Reader::value)?;
    for _ in 0..r.word()? {
        declared(r.long()?, r.long()?, r.byte()? != 0);
    }
    Some(r.bytes)
}

struct Reader<'a, 'k> {
    bytes: &'a [u8],
    kinds: &'k [Kind],
}

impl Reader<'_, '_> {
    fn object_record(&mut self) -> Option<ObjectRecord> {
        Some(ObjectRecord {
            name: self.text()?,
            name_hash: self.long()?,
            object: self.object()?,
            site: Site(self.long()?),
            created: self.byte()? != 0,
        })
    }

    fn value(&mut self) -> Option<StepValue> {
        Some(StepValue { step: self.word()?, value: self.long()?, bytes: self.byte()? })
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }
    fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first_chunk::<4>()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*first))
    }
    fn long(&mut self) -> Option<u64> {
        let (first, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*first))
    }
    fn wide(&mut self) -> Option<u128> {
        Some(u128::from(self.long()?) | u128::from(self.long()?) << 64)
    }
    fn text(&mut self) -> Option<String> {
        let length = self.word()? as usize;
        let text = self.bytes.get(..length)?;
        self.bytes = &self.bytes[length..];
        Some(String::from_utf8_lossy(text).into_owned())
    }
    fn many<T>(&mut self, out: &mut Vec<T>, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<()> {
        out.clear();
        for _ in 0..self.word()? {
            out.push(one(self)?);
        }
        Some(())
    }
    fn choice(&mut self) -> Option<Choice> {
        let (thread, alternative) = (ThreadId(self.word()?), self.word()?);
        let kind = self.byte()?;
        let kind = *self.kinds.get(kind as usize)?;
        let (object, second) = (ObjectId(self.word()?), ObjectId(self.word()?));
        let within = [ObjectId(self.word()?), ObjectId(self.word()?)];
        let flags = self.byte()?;
        Some(Choice {
            thread,
            alternative,
            kind,
            object,
            second,
            within,
            gives_up: flags & 2 != 0,
            exclusive: flags & 1 != 0,
            argument: self.long()?,
            site: Site(self.long()?),
        })
    }
    fn end(&mut self) -> Option<End> {
        Some(match self.byte()? {
            0 => End::Finished,
            1 => End::Deadlock,
            2 => End::Livelock,
            3 => End::Failed(Failure {
                kind: match self.byte()? {
                    0 => FailureKind::Assertion,
                    1 => FailureKind::Panic,
                    2 => FailureKind::Crash,
                    3 => FailureKind::Heap,
                    _ => FailureKind::Misuse,
                },
                message: self.text()?,
                thread: ThreadId(self.word()?),
                site: Site(self.long()?),
            }),
            4 => End::StepLimit,
            5 => End::Stopped,
            6 => End::Asleep,
            7 => End::Diverged(self.word()?),
            8 => End::Hung,
            _ => return None,
        })
    }
    fn finding(&mut self) -> Option<Finding> {
        Some(match self.byte()? {
            0 => {
                Finding::Race { first: Site(self.long()?), second: Site(self.long()?), message: self.text()? }
            }
            1 => Finding::Leak(ThreadId(self.word()?)),
            2 => Finding::Uncontrolled(self.text()?),
            3 => Finding::Reuse { freed: Site(self.long()?), allocated: Site(self.long()?) },
            _ => return None,
        })
    }
    fn object(&mut self) -> Option<Object> {
        let (tag, value) = (self.byte()?, self.word()?);
        Some(match tag {
            0 => Object::Mutex { recursive: value != 0 },
            1 => Object::RwLock,
            2 => Object::Condvar,
            3 => Object::Semaphore { value },
            4 => Object::Barrier { count: value },
            5 => Object::Once,
            6 => Object::Queue { capacity: value },
            7 => Object::Memory,
            8 => Object::Futex,
            9 => Object::Region,
            _ => return None,
        })
    }
}

/// All kinds of operations, by their number.
pub fn kinds() -> Vec<Kind> {
    Kind::ALL.to_vec()
}

/// A note of the last step, which the guest keeps up to date in the shared memory.
#[derive(Clone, Copy)]
pub struct Note([u64; 9]);

impl Note {
    /// The note that the guest makes after each announcement.
    pub fn new(step: Option<&Step>, thread: ThreadId, fingerprint: u128) -> Note {
        let mut words = [0; 9];
        words[0] = u64::from(thread.0) << 1;
        words[1] = fingerprint as u64;
        words[2] = (fingerprint >> 64) as u64;
        if let Some(step) = step {
            let choice = &step.choice;
            words[0] |= 1;
            words[3] = u64::from(step.taken) | u64::from(step.count) << 32;
            words[4] = u64::from(choice.thread.0) | u64::from(choice.alternative) << 32;
            words[5] = u64::from(choice.object.0) | u64::from(choice.second.0) << 32;
            words[6] = choice.argument;
            words[7] = choice.site.0;
            words[8] =
                choice.kind as u64 | u64::from(choice.exclusive) << 8 | u64::from(step.fingerprint != 0) << 9;
        }
        Note(words)
    }

    /// Writes the note.
    pub fn store(&self, place: &[AtomicU64; 9]) {
        for (word, place) in self.0.iter().zip(place) {
            place.store(*word, Ordering::Relaxed);
        }
    }

    /// Reads the note.
    pub fn load(place: &[AtomicU64; 9]) -> Note {
        Note(core::array::from_fn(|at| place[at].load(Ordering::Relaxed)))
    }

    /// The thread that went on after the step.
    pub fn thread(&self) -> u32 {
        (self.0[0] >> 1) as u32
    }

    /// The fingerprint of the state after the step.
    pub fn fingerprint(&self) -> u128 {
        u128::from(self.0[1]) | u128::from(self.0[2]) << 64
    }

    /// The step.
    pub fn step(&self, kinds: &[Kind]) -> Option<Step> {
        let words = &self.0;
        if words[0] & 1 == 0 {
            return None;
        }
        let (low, high) = (|word: u64| word as u32, |word: u64| (word >> 32) as u32);
        Some(Step {
            taken: low(words[3]),
            count: high(words[3]),
            first_choice: 0,
            choice: Choice {
                thread: ThreadId(low(words[4])),
                alternative: high(words[4]),
                kind: *kinds.get((words[8] & 0xff) as usize)?,
                object: ObjectId(low(words[5])),
                second: ObjectId(high(words[5])),
                within: [ObjectId::NONE; 2],
                gives_up: false,
                exclusive: words[8] >> 8 & 1 != 0,
                argument: words[6],
                site: Site(words[7]),
            },
            fingerprint: if words[8] >> 9 & 1 != 0 { self.fingerprint() } else { 0 },
        })
    }
}

#[cfg(test)]
mod tests;
