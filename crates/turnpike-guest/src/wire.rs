//! A plan as bytes, for the shared memory. Compiled into host and guest.

use alloc::vec::Vec;

use turnpike_scheduler::{Bounds, Detail, MayAccess, Memory, Plan, Policy, Reduction, ThreadId, Timeouts};

/// Appends the plan's bytes.
pub fn encode(plan: &Plan<'_>, out: &mut Vec<u8>) {
    let mut w = Writer(out);
    w.words(plan.prefix);
    encode_policy(plan.policy, &mut w);
    w.word(plan.max_steps);
    w.byte(match plan.detail {
        Detail::Positions => 0,
        Detail::Steps => 1,
        Detail::Full => 2,
        Detail::Stacks => 3,
    });
    w.byte(plan.predict.into());
    w.byte(plan.reduction.sleep.into());
    match plan.reduction.persistent {
        None => w.byte(0),
        Some(table) => {
            w.byte(1);
            w.byte(table.proved.into());
            w.word(table.entries.len() as u32);
            for (thread, object, writes) in &table.entries {
                w.long(*thread);
                w.long(*object);
                w.byte((*writes).into());
            }
        }
    }
    w.byte(match plan.timeouts {
        Timeouts::Never => 0,
        Timeouts::WhenStuck => 1,
        Timeouts::Always => 2,
    });
    w.word(plan.spurious);
    w.byte(match plan.memory {
        Memory::Sc => 0,
        Memory::Tso => 1,
        Memory::Rc11 => 2,
    });
    w.bound(plan.bounds.preemptions);
    w.bound(plan.bounds.delays);
    w.byte(plan.bounds.around.into());
}

fn encode_policy(policy: Policy<'_>, w: &mut Writer<'_>) {
    match policy {
        Policy::Stop => w.byte(0),
        Policy::First => w.byte(1),
        Policy::Continue => w.byte(2),
        Policy::Uniform { seed } => {
            w.byte(3);
            w.long(seed);
        }
        Policy::Pct { seed, depth, length } => {
            w.byte(4);
            w.long(seed);
            w.word(depth);
            w.word(length);
        }
        Policy::Pos { seed } => {
            w.byte(5);
            w.long(seed);
        }
        Policy::Sketch { seed } => {
            w.byte(10);
            w.long(seed);
        }
        Policy::Few { seed } => {
            w.byte(11);
            w.long(seed);
        }
        Policy::Turns => w.byte(12),
        Policy::Weighted { seed, events } => {
            w.byte(6);
            w.long(seed);
            w.words(events);
        }
        Policy::Genes { bits, seed } => {
            w.byte(7);
            w.long(seed);
            w.word(bits.len() as u32);
            for bit in bits {
                w.long(*bit);
            }
        }
        Policy::Awake { sleep, order } => {
            w.byte(8);
            w.pairs(order);
            w.pairs(sleep);
        }
        Policy::Follow { order } => {
            w.byte(9);
            w.pairs(order);
        }
    }
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn byte(&mut self, value: u8) {
        self.0.push(value);
    }
    fn word(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn bound(&mut self, value: Option<u32>) {
        self.byte(value.is_some().into());
        self.word(value.unwrap_or(0));
    }
    fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    fn words(&mut self, values: &[u32]) {
        self.word(values.len() as u32);
        for value in values {
            self.word(*value);
        }
    }
    fn pairs(&mut self, values: &[(ThreadId, u32)]) {
        self.word(values.len() as u32);
        for (thread, alternative) in values {
            self.word(thread.0);
            self.word(*alternative);
        }
    }
}

/// A plan that owns its parts.
#[derive(Default)]
pub struct OwnedPlan {
    prefix: Vec<u32>,
    tag: u8,
    seed: u64,
    depth: u32,
    length: u32,
    events: Vec<u32>,
    bits: Vec<u64>,
    order: Vec<(ThreadId, u32)>,
    sleepers: Vec<(ThreadId, u32)>,
    max_steps: u32,
    detail: u8,
    predict: bool,
    sleep: bool,
    persistent: Option<MayAccess>,
    timeouts: u8,
    spurious: u32,
    memory: u8,
    bounds: Bounds,
}

impl OwnedPlan {
    /// The plan that [`encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Option<OwnedPlan> {
        let mut r = Reader(bytes);
        let mut plan = OwnedPlan { prefix: r.words()?, tag: r.byte()?, ..OwnedPlan::default() };
        match plan.tag {
            0..=2 | 12 => {}
            3 | 5 | 10 | 11 => plan.seed = r.long()?,
            4 => {
                plan.seed = r.long()?;
                plan.depth = r.word()?;
                plan.length = r.word()?;
            }
            6 => {
                plan.seed = r.long()?;
                plan.events = r.words()?;
            }
            7 => {
                plan.seed = r.long()?;
                for _ in 0..r.word()? {
                    plan.bits.push(r.long()?);
                }
            }
            8 => (plan.order, plan.sleepers) = (r.pairs()?, r.pairs()?),
            9 => plan.order = r.pairs()?,
            _ => return None,
        }
        plan.max_steps = r.word()?;
        plan.detail = r.byte()?;
        plan.predict = r.byte()? != 0;
        plan.sleep = r.byte()? != 0;
        if r.byte()? != 0 {
            let mut table = MayAccess { proved: r.byte()? != 0, ..MayAccess::default() };
            for _ in 0..r.word()? {
                table.entries.push((r.long()?, r.long()?, r.byte()? != 0));
            }
            plan.persistent = Some(table);
        }
        plan.timeouts = r.byte()?;
        plan.spurious = r.word()?;
        plan.memory = r.byte()?;
        plan.bounds = Bounds { preemptions: r.bound()?, delays: r.bound()?, around: r.byte()? != 0 };
        Some(plan)
    }

    /// The plan.
    pub fn plan(&self) -> Plan<'_> {
        let seed = self.seed;
        Plan {
            prefix: &self.prefix,
            policy: match self.tag {
                0 => Policy::Stop,
                1 => Policy::First,
                2 => Policy::Continue,
                3 => Policy::Uniform { seed },
                4 => Policy::Pct { seed, depth: self.depth, length: self.length },
                5 => Policy::Pos { seed },
                6 => Policy::Weighted { seed, events: &self.events },
                7 => Policy::Genes { bits: &self.bits, seed },
                8 => Policy::Awake { sleep: &self.sleepers, order: &self.order },
                9 => Policy::Follow { order: &self.order },
                11 => Policy::Few { seed },
                12 => Policy::Turns,
                _ => Policy::Sketch { seed },
            },
            max_steps: self.max_steps,
            detail: match self.detail {
                0 => Detail::Positions,
                1 => Detail::Steps,
                2 => Detail::Full,
                _ => Detail::Stacks,
            },
            predict: self.predict,
            reduction: Reduction { sleep: self.sleep, persistent: self.persistent.as_ref() },
            timeouts: match self.timeouts {
                0 => Timeouts::Never,
                1 => Timeouts::WhenStuck,
                _ => Timeouts::Always,
            },
            spurious: self.spurious,
            memory: match self.memory {
                0 => Memory::Sc,
                1 => Memory::Tso,
                _ => Memory::Rc11,
            },
            bounds: self.bounds,
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
    fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }
    fn bound(&mut self) -> Option<Option<u32>> {
        let some = self.byte()? != 0;
        let value = self.word()?;
        Some(some.then_some(value))
    }
    fn long(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }
    fn pairs(&mut self) -> Option<Vec<(ThreadId, u32)>> {
        let count = self.word()?;
        (0..count).map(|_| Some((ThreadId(self.word()?), self.word()?))).collect()
    }
    fn words(&mut self) -> Option<Vec<u32>> {
        let count = self.word()? as usize;
        let bytes = self.0.get(..count.checked_mul(4)?)?;
        self.0 = &self.0[bytes.len()..];
        Some(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use proptest::prelude::*;

    use super::*;

    fn bytes_of(plan: &Plan<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(plan, &mut bytes);
        bytes
    }

    /// The guest must see the very plan that the host made, whichever policy it has.
    fn survives(plan: &Plan<'_>) {
        let bytes = bytes_of(plan);
        let Some(read) = OwnedPlan::decode(&bytes) else { panic!("not read: {:?}", plan.policy) };
        let again = read.plan();
        assert_eq!(bytes_of(&again), bytes);
        assert_eq!(again.prefix, plan.prefix);
        assert_eq!(format!("{:?}", again.policy), format!("{:?}", plan.policy));
        assert_eq!((again.max_steps, again.spurious), (plan.max_steps, plan.spurious));
        assert_eq!(again.memory, plan.memory);
        for length in 0..bytes.len() {
            assert!(OwnedPlan::decode(&bytes[..length]).is_none(), "{length} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn every_policy_survives() {
        let pairs = [(ThreadId(0), 3), (ThreadId(2), u32::MAX)];
        let policies = [
            Policy::Stop,
            Policy::First,
            Policy::Continue,
            Policy::Uniform { seed: 7 },
            Policy::Pct { seed: 7, depth: 3, length: 99 },
            Policy::Pos { seed: u64::MAX },
            Policy::Sketch { seed: 9 },
            Policy::Few { seed: 8 },
            Policy::Turns,
            Policy::Weighted { seed: 1, events: &[5, 0, 6] },
            Policy::Genes { bits: &[1 << 63, 0], seed: 8 },
            Policy::Awake { sleep: &pairs, order: &pairs[1..] },
            Policy::Follow { order: &pairs },
        ];
        for (policy, memory) in
            policies.into_iter().zip([Memory::Sc, Memory::Tso, Memory::Rc11].into_iter().cycle())
        {
            survives(&Plan { policy, memory, ..Plan::new(&[0, 2, 1]) });
        }
    }

    #[test]
    fn every_setting_survives() {
        let entries = [(1, 2, true), (u64::MAX, 0, false)].to_vec();
        let table = MayAccess { proved: true, entries };
        for detail in [Detail::Positions, Detail::Steps, Detail::Full, Detail::Stacks] {
            for timeouts in [Timeouts::Never, Timeouts::WhenStuck, Timeouts::Always] {
                let reduction = Reduction { sleep: true, persistent: Some(&table) };
                let bounds = Bounds { preemptions: Some(0), delays: Some(u32::MAX), around: true };
                let plan = Plan { detail, timeouts, reduction, bounds, ..Plan::new(&[]) };
                let plan = Plan { predict: true, spurious: 2, ..plan };
                survives(&plan);
                let bytes = bytes_of(&plan);
                let read = OwnedPlan::decode(&bytes).expect("it survives");
                let again = read.plan();
                assert!(again.detail == detail && again.predict && again.reduction.sleep);
                assert_eq!(again.bounds, bounds);
                let persistent = again.reduction.persistent.expect("there is a table");
                assert_eq!((persistent.proved, &persistent.entries), (true, &table.entries));
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(plan) = OwnedPlan::decode(&bytes) {
                prop_assert!(plan.plan().prefix.len() * 4 <= bytes.len());
            }
        }
    }
}
