//! The heap of a program under test: where blocks are, which threads allocated and freed them, and
//! what an address belongs to.
//!
//! A bump allocator in an address range of its own, with lists of blocks to use again. All
//! bookkeeping is outside that range, so that the program cannot destroy it, and every address
//! finds its block in constant time: pages of small blocks hold blocks of one size. Each block has
//! at least one byte more than was asked for, which nothing may touch. Addresses depend only on the
//! sequence of calls. A block has a name that is stable between executions: its thread and how many
//! that thread had allocated before.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::quarantine::Quarantine;
use super::sizes::{CLASSES, PAGE, class_of, pages_of};

/// What a block is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing (yet, or any more).
    #[default]
    Unused,
    /// The program has it.
    Live,
    /// The program freed it; its memory is not reused yet.
    Freed,
}

/// A block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    /// First byte.
    pub start: u64,
    /// The requested size.
    pub size: u64,
    /// Program counter of the allocation.
    pub allocated: u64,
    /// Program counter of the release.
    pub freed: u64,
    /// The thread that allocated it.
    pub thread: u32,
    /// The thread that freed it.
    pub freed_by: u32,
    /// How many blocks its thread had allocated before, in the execution or, with [`EARLY`], before
    /// it.
    pub index: u32,
    /// What it is used for.
    pub state: State,
    /// Whether its memory was used for another block before.
    pub used: bool,
    /// The scheduler's region for it, plus one; 0 = none yet.
    pub region: u32,
    /// The first step after that of the thread that freed it.
    pub epoch: u32,
    /// When it was allocated, counted in calls.
    pub born: u32,
    /// When it was freed.
    pub died: u32,
}

/// Marks numbers of blocks from before the execution.
pub(crate) const EARLY: u32 = 1 << 31;

/// A page of the heap.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// Its first block, or the block that it is part of.
    block: u32,
    class: u8,
}

/// Class of pages without blocks.
const EMPTY: u8 = u8::MAX;
/// Class of pages that belong to one large block.
const LARGE: u8 = u8::MAX - 1;

/// What is wrong with a call of `free`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misuse {
    /// The block was freed before.
    Double(Block),
    /// The address is inside a block, not its first byte.
    Inside(Block),
    /// The address is not in a block.
    Unknown,
}

/// What an access to some bytes touches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Touch {
    /// Memory outside the heap, or a live block.
    Fine,
    /// A block that was freed.
    Freed(Block),
    /// Bytes after the end of a block.
    Beyond(Block),
}

/// The heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    base: u64,
    /// How many pages there may be.
    limit: u64,
    pages: Vec<Page>,
    blocks: Vec<Block>,
    /// Unused blocks by class.
    free: [Vec<u32>; CLASSES.len()],
    /// First page of unused runs, by their number of pages.
    runs: BTreeMap<u64, Vec<u64>>,
    quarantine: Quarantine,
    /// Blocks allocated, by thread.
    counts: Vec<u32>,
    /// [`EARLY`] until the execution begins.
    early: u32,
    /// Calls so far.
    calls: u32,
    /// Blocks in quarantine by class, large ones last.
    resting: [u32; CLASSES.len() + 1],
    /// Bytes in live blocks.
    live: u64,
    /// How many bytes there may be in live blocks.
    most: u64,
}

impl Heap {
    /// An empty heap without memory.
    pub(crate) const fn new() -> Self {
        Heap {
            base: 0,
            limit: 0,
            pages: Vec::new(),
            blocks: Vec::new(),
            free: [const { Vec::new() }; CLASSES.len()],
            runs: BTreeMap::new(),
            quarantine: Quarantine::new(),
            counts: Vec::new(),
            early: EARLY,
            calls: 0,
            resting: [0; CLASSES.len() + 1],
            live: 0,
            most: u64::MAX,
        }
    }

    /// Whether it has its memory.
    pub(crate) fn is_open(&self) -> bool {
        self.limit > 0
    }

    /// From here on, blocks are the program's. What the loader and libraries allocated before
    /// differs between machines, and must not change the names of the program's blocks.
    pub(crate) fn begin(&mut self) {
        self.counts.clear();
        self.early = 0;
    }

    /// Live blocks may have `bytes` bytes more than now.
    pub(crate) fn limit_to(&mut self, bytes: u64) {
        self.most = self.live.saturating_add(bytes);
    }

    /// Gives it its memory, which must be all zero. Call it before anything else.
    pub(crate) fn open(&mut self, base: u64, bytes: u64) {
        self.base = base;
        self.limit = bytes / PAGE;
        // Room that is only touched when it is used.
        self.pages.reserve(1 << 12);
        self.blocks.reserve(1 << 13);
    }

    /// A block of `size` bytes at a multiple of `align`, a power of two. `None` when there is no
    /// room. [`Block::used`] says whether the memory may hold something other than zeros.
    pub(crate) fn allocate(&mut self, size: u64, align: u64, thread: u32, site: u64) -> Option<Block> {
        // One byte more, so that the byte after a block never belongs to another one.
        let room = size.checked_add(1)?;
        if size > self.most.saturating_sub(self.live) {
            return None;
        }
        let number = match class_of(room, align) {
            Some(class) => self.small(class)?,
            None => self.large(room, align)?,
        };
        Some(self.hand_out(number, size, thread, site))
    }

    /// Allocates a freed block again, for `size` bytes. `None` if it is not in quarantine, or if
    /// that exceeds the limit. The caller makes sure that the block is large enough.
    pub(crate) fn allocate_again(
        &mut self,
        address: u64,
        size: u64,
        thread: u32,
        site: u64,
    ) -> Option<Block> {
        let number = self.number(address)?;
        if size > self.most.saturating_sub(self.live) || !self.quarantine.remove(number) {
            return None;
        }
        let class = self.class_at(address);
        self.resting[class] -= 1;
        self.blocks[number as usize].used = true;
        Some(self.hand_out(number, size, thread, site))
    }

    fn hand_out(&mut self, number: u32, size: u64, thread: u32, site: u64) -> Block {
        let count = self.early | self.count(thread);
        self.live += size;
        self.calls += 1;
        let block = &mut self.blocks[number as usize];
        block.size = size;
        block.thread = thread;
        block.allocated = site;
        block.index = count;
        block.state = State::Live;
        block.region = 0;
        block.born = self.calls;
        *block
    }

    /// The class of an address: only blocks of one class can be there one after the other.
    pub(crate) fn class_at(&self, address: u64) -> usize {
        let class = address
            .checked_sub(self.base)
            .and_then(|offset| self.pages.get((offset / PAGE) as usize))
            .map_or(LARGE, |page| page.class);
        usize::from(class).min(CLASSES.len())
    }

    /// Whether a block of the same class as the one at this address is in quarantine.
    pub(crate) fn rests_like(&self, address: u64) -> bool {
        self.resting[self.class_at(address)] > 0
    }

    /// Live and freed blocks of the class that were allocated after the call of this number.
    pub(crate) fn born_after(&self, class: usize, call: u32) -> impl Iterator<Item = Block> + '_ {
        let like = move |block: &&Block| {
            block.state != State::Unused && block.born > call && self.class_at(block.start) == class
        };
        self.blocks.iter().filter(like).copied()
    }

    /// Notes which region of the scheduler the live block around an address is.
    pub(crate) fn set_region(&mut self, address: u64, region: u32) {
        if let Some(number) = self.number(address) {
            self.blocks[number as usize].region = region.wrapping_add(1);
        }
    }

    /// Frees a block, before the step `epoch` of the thread. Call [`Heap::release`] afterwards.
    pub(crate) fn free(&mut self, address: u64, thread: u32, site: u64, epoch: u32) -> Result<Block, Misuse> {
        let number = self.number(address).ok_or(Misuse::Unknown)?;
        let block = &mut self.blocks[number as usize];
        match block.state {
            State::Unused => Err(Misuse::Unknown),
            State::Freed => Err(Misuse::Double(*block)),
            State::Live if block.start != address => Err(Misuse::Inside(*block)),
            State::Live => {
                block.state = State::Freed;
                block.freed = site;
                block.freed_by = thread;
                block.epoch = epoch;
                self.calls += 1;
                block.died = self.calls;
                let block = *block;
                self.live -= block.size;
                let class = self.class_at(address);
                self.resting[class] += 1;
                self.quarantine.push(number, block.size);
                Ok(block)
            }
        }
    }

    /// Releases a block whose quarantine is over: its memory may be used again. Call it until there
    /// is none.
    pub(crate) fn release(&mut self) -> Option<Block> {
        let number = self.quarantine.release()?;
        let block = &mut self.blocks[number as usize];
        block.state = State::Unused;
        block.used = true;
        let block = *block;
        let class = self.class_at(block.start);
        self.resting[class] -= 1;
        let first = ((block.start - self.base) / PAGE) as usize;
        match self.pages[first].class {
            LARGE => {
                let count = pages_of(block.size + 1);
                for page in &mut self.pages[first..first + count as usize] {
                    page.class = EMPTY;
                }
                self.runs.entry(count).or_default().push(first as u64);
            }
            class => self.free[usize::from(class)].push(number),
        }
        Some(block)
    }

    /// Whether an address is in the heap's range.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address >= self.base && address - self.base < self.limit * PAGE
    }

    /// The block around an address, live or freed.
    pub(crate) fn find(&self, address: u64) -> Option<Block> {
        let block = self.blocks[self.number(address)? as usize];
        (block.state != State::Unused).then_some(block)
    }

    /// What an access to some bytes touches. Only an access that begins in a block can be wrong.
    pub(crate) fn touch(&self, address: u64, size: u64) -> Touch {
        match self.find(address) {
            Some(block) if block.state == State::Freed => Touch::Freed(block),
            Some(block) if address.saturating_add(size) > block.start + block.size => Touch::Beyond(block),
            _ => Touch::Fine,
        }
    }

    /// The live blocks.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.state == State::Live)
    }

    /// Blocks in quarantine, the oldest first.
    pub(crate) fn quarantined(&self) -> impl Iterator<Item = Block> + '_ {
        self.quarantine.blocks().map(|number| self.blocks[number as usize])
    }

    fn number(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.base)?;
        let page = self.pages.get(usize::try_from(offset / PAGE).ok()?)?;
        match page.class {
            EMPTY => None,
            LARGE => Some(page.block),
            class => {
                let size = u64::from(CLASSES[usize::from(class)]);
                let within = offset % PAGE / size;
                (within < PAGE / size).then(|| page.block + within as u32)
            }
        }
    }

    fn count(&mut self, thread: u32) -> u32 {
        let at = thread as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.counts[at] - 1
    }

    fn small(&mut self, class: usize) -> Option<u32> {
        if let Some(number) = self.free[class].pop() {
            return Some(number);
        }
        let size = u64::from(CLASSES[class]);
        let (page, used) = self.run(1)?;
        let first = self.blocks.len() as u32;
        let start = self.base + page * PAGE;
        self.pages[page as usize] = Page { block: first, class: class as u8 };
        let count = PAGE / size;
        self.blocks.extend((0..count).map(|i| Block { start: start + i * size, used, ..Block::default() }));
        // The lowest address is allocated first.
        self.free[class].extend((first..first + count as u32).rev());
        self.free[class].pop()
    }

    fn large(&mut self, room: u64, align: u64) -> Option<u32> {
        let count = pages_of(room);
        // A run that surely has an aligned place. The pages before and after it remain unused.
        let spare = (align / PAGE).saturating_sub(1);
        let (mut page, used) = self.run(count.checked_add(spare)?)?;
        if spare > 0 {
            let aligned = (self.base + page * PAGE).next_multiple_of(align);
            let before = (aligned - self.base) / PAGE - page;
            self.give_back(page, before);
            page += before;
            self.give_back(page + count, spare - before);
        }
        let number = self.blocks.len() as u32;
        for at in &mut self.pages[page as usize..(page + count) as usize] {
            *at = Page { block: number, class: LARGE };
        }
        self.blocks.push(Block { start: self.base + page * PAGE, used, ..Block::default() });
        Some(number)
    }

    /// `count` consecutive pages, and whether they were used before: the smallest unused run that
    /// is long enough, else new pages.
    fn run(&mut self, count: u64) -> Option<(u64, bool)> {
        if let Some((&length, starts)) = self.runs.range_mut(count..).next() {
            let page = starts.pop()?;
            if starts.is_empty() {
                self.runs.remove(&length);
            }
            self.give_back(page + count, length - count);
            return Some((page, true));
        }
        let page = self.pages.len() as u64;
        if count > self.limit.saturating_sub(page) {
            return None;
        }
        self.pages.resize((page + count) as usize, Page { block: 0, class: EMPTY });
        Some((page, false))
    }

    fn give_back(&mut self, page: u64, count: u64) {
        if count > 0 {
            self.runs.entry(count).or_default().push(page);
        }
    }
}

#[cfg(test)]
mod tests;
