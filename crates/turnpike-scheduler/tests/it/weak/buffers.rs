//! Total store order by its abstract machine: every thread has a store buffer. Tries all orders of
//! steps and of stores reaching memory.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::program::{Code, Name, Program, Shape, locations};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    at: Vec<usize>,
    /// Variable, value, and the instruction that wrote it.
    buffers: Vec<VecDeque<(usize, u64, Name)>>,
    memory: Vec<(u64, Name)>,
    shape: Shape,
}

/// All graphs of executions of the machine, once all buffers are empty.
pub(super) fn reachable(program: &Program) -> BTreeSet<Shape> {
    let places = locations(program);
    let start = Machine {
        at: vec![0; program.len()],
        buffers: vec![VecDeque::new(); program.len()],
        memory: vec![(0, None); places],
        shape: Shape { reads: BTreeMap::new(), order: vec![vec![None]; places] },
    };
    let (mut seen, mut shapes, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![start]);
    while let Some(machine) = open.pop() {
        let mut stuck = true;
        for t in 0..program.len() {
            for next in [machine.flush(t), machine.step(program, t)].into_iter().flatten() {
                stuck = false;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        if stuck {
            shapes.insert(machine.shape);
        }
    }
    shapes
}

impl Machine {
    /// The oldest store of a buffer reaches memory.
    fn flush(&self, t: usize) -> Option<Machine> {
        let mut next = self.clone();
        let (location, value, name) = next.buffers[t].pop_front()?;
        next.write(location, value, name);
        Some(next)
    }

    fn write(&mut self, location: usize, value: u64, name: Name) {
        self.memory[location] = (value, name);
        self.shape.order[location].push(name);
    }

    fn step(&self, program: &Program, t: usize) -> Option<Machine> {
        let code = *program[t].get(self.at[t])?;
        let name = (t, self.at[t]);
        let drained = self.buffers[t].is_empty();
        let mut next = self.clone();
        next.at[t] += 1;
        match code {
            Code::Fence(5) if !drained => return None,
            Code::Fence(_) => {}
            Code::Load(location, _) => {
                let own = self.buffers[t].iter().rev().find(|(at, ..)| *at == location);
                let source = own.map_or(self.memory[location].1, |&(_, _, name)| name);
                next.shape.reads.insert(name, source);
            }
            // A sequentially consistent store completes when it has reached memory.
            Code::Store(location, value, 5) => {
                if !drained {
                    return None;
                }
                next.write(location, value, Some(name));
            }
            Code::Store(location, value, _) => next.buffers[t].push_back((location, value, Some(name))),
            Code::Add(location, _, _) | Code::Exchange(location, ..) => {
                if !drained {
                    return None;
                }
                let (old, source) = self.memory[location];
                next.shape.reads.insert(name, source);
                match code {
                    Code::Add(_, value, _) => next.write(location, old + value, Some(name)),
                    Code::Exchange(_, expected, new, ..) if expected == old => {
                        next.write(location, new, Some(name))
                    }
                    _ => {}
                }
            }
        }
        Some(next)
    }
}
