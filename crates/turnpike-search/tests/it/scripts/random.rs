//! Random programs.

use super::{Op, World};

/// Random numbers for tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// A random program whose locks are released by those who hold them.
pub(crate) fn random_program(seed: u64) -> (World, Vec<Vec<Op>>) {
    let dice = &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        dice.below(2);
    }
    let world = World {
        mutexes: 2,
        rwlocks: 1,
        condvars: 1,
        semaphores: vec![dice.below(2) as u32, 1],
        queues: vec![1 + dice.below(2) as u32],
        barriers: vec![2],
        variables: 2,
    };
    let threads = 2 + dice.below(2);
    let families = [1 + dice.below(7), 1 + dice.below(7)];
    let code = (0..threads).map(|_| random_thread(dice, threads, families)).collect();
    (world, code)
}

/// A random program whose threads start others in the middle of their work; some end the process.
pub(crate) fn random_tree(seed: u64) -> (World, Vec<Vec<Op>>) {
    let dice = &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        dice.below(2);
    }
    let world = World { mutexes: 2, variables: 2, semaphores: vec![1, 1], ..World::default() };
    let families = [1, [3, 7][dice.below(2)]];
    let mut code: Vec<Vec<Op>> = (0..3).map(|_| random_thread(dice, 3, families)).collect();
    let (first, second) = (dice.below(3), dice.below(3));
    code[0].insert(first, Op::Spawn(1));
    if dice.below(2) == 0 {
        code[1].insert(second, Op::Spawn(2));
    } else {
        code[0].push(Op::Spawn(2));
    }
    if dice.below(4) == 0 {
        code[dice.below(3)].push(Op::Exit);
    }
    (world, code)
}

fn random_thread(dice: &mut Dice, threads: usize, families: [usize; 2]) -> Vec<Op> {
    let mut code = Vec::new();
    let length = 2 + dice.below(4);
    while code.len() < length {
        let family = if dice.below(3) == 0 { 0 } else { families[dice.below(2)] };
        match family {
            1 => {
                let m = dice.below(2);
                match dice.below(4) {
                    0 => code.extend([Op::Lock(m), Op::Unlock(m)]),
                    1 => code.extend([Op::Lock(m), Op::Load(0), Op::Unlock(m)]),
                    2 => code.extend([Op::Lock(m), Op::Lock(1 - m), Op::Unlock(1 - m), Op::Unlock(m)]),
                    _ => code.extend([Op::TryLock(m), Op::SkipIfZero(1), Op::Unlock(m)]),
                }
            }
            2 => match dice.below(3) {
                0 => code.extend([Op::Lock(0), Op::Wait(0, 0), Op::Unlock(0)]),
                1 => code.push(Op::NotifyOne(0)),
                _ => code.extend([Op::Lock(0), Op::NotifyAll(0), Op::Unlock(0)]),
            },
            3 => match dice.below(3) {
                0 => code.push(Op::SemWait(dice.below(2))),
                1 => code.push(Op::SemPost(dice.below(2))),
                _ => code.push(Op::SemTryWait(dice.below(2))),
            },
            4 => match dice.below(5) {
                0 | 1 => code.push(Op::Send(0)),
                2 => code.push(Op::Receive(0)),
                3 => code.push(Op::TrySend(0)),
                _ => code.push(Op::TryReceive(0)),
            },
            5 => match dice.below(3) {
                0 => code.extend([Op::ReadLock(0), Op::ReadUnlock(0)]),
                1 => code.extend([Op::ReadLock(0), Op::Load(1), Op::ReadUnlock(0)]),
                _ => code.extend([Op::WriteLock(0), Op::WriteUnlock(0)]),
            },
            6 => match dice.below(4) {
                0 => code.push(Op::TryJoin(dice.below(threads))),
                1 => code.push(Op::Arrive(0)),
                _ => code.push(Op::Toss(1)),
            },
            7 => match dice.below(3) {
                0 => code.extend([Op::Load(0), Op::FailIf(1)]),
                1 => code.extend([Op::Load(0), Op::SkipIfZero(1), Op::Store(1, 1)]),
                _ => code.push(Op::Store(0, 1)),
            },
            _ => match dice.below(4) {
                0 => code.push(Op::Load(dice.below(2))),
                1 => code.push(Op::Store(dice.below(2), 1)),
                2 => code.push(Op::Add(dice.below(2), 1)),
                _ => code.extend([Op::Load(0), Op::StoreSum(0, 1)]),
            },
        }
    }
    code
}
