//! Source-DPOR under weak memory: every graph once, and no other. That the graphs are the right ones is for the tests
//! of the scheduler.

#[path = "../../../turnpike-scheduler/tests/it/weak/generate.rs"]
mod generate;
#[allow(dead_code)]
#[path = "../../../turnpike-scheduler/tests/it/weak/program.rs"]
mod program;

use std::sync::{Arc, Mutex};

use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::{Detail, End, Execution, Executor, GuestError, Memory, Plan, Site};
use turnpike_search::StopReason;

use crate::scripts::one;
use crate::scripts::outcomes::{exhaustive, quiet};
use generate::random_program;
use program::{Program, Shape, built, script, shape};

/// How many programs are tried.
const PROGRAMS: u64 = 200;

/// Notes the graphs of whole executions.
struct Noting {
    inner: Box<dyn Executor>,
    program: Program,
    shapes: Arc<Mutex<Vec<Shape>>>,
}

impl Executor for Noting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.inner.run(plan, out)?;
        if out.end == End::Finished && plan.detail >= Detail::Full {
            self.shapes.lock().unwrap().push(shape(&self.program, out));
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }
}

/// The graphs of all executions of source-DPOR.
fn followed(program: &Program, memory: Memory) -> Vec<Shape> {
    let shapes: Arc<Mutex<Vec<Shape>>> = Arc::default();
    let (noted, program) = (Arc::clone(&shapes), program.clone());
    let launch = move || {
        let inner: Box<dyn Executor> = Box::new(script(&program));
        let (program, shapes) = (program.clone(), Arc::clone(&noted));
        Ok(Box::new(Noting { inner, program, shapes }) as Box<dyn Executor>)
    };
    let options = ProgramOptions { memory, ..quiet() };
    let model = ProgramModel::new("litmus", 1, Box::new(launch), options).expect("a script can be executed");
    shapes.lock().unwrap().clear();
    let report = one(&model, &exhaustive(true));
    assert_eq!(report.stop, StopReason::Exhausted);
    std::mem::take(&mut *shapes.lock().unwrap())
}

#[test]
fn source_dpor_builds_every_graph_once() {
    for seed in 0..PROGRAMS {
        let program = random_program(1 << 32 | seed, 9);
        for memory in [Memory::Rc11, Memory::Tso] {
            let mut found = followed(&program, memory);
            found.sort();
            let count = found.len();
            found.dedup();
            assert_eq!(found.len(), count, "a graph was built twice: {seed}: {program:?}");
            let all: Vec<Shape> = built(&program, memory).into_iter().collect();
            assert_eq!(found, all, "{memory:?} {seed}: {program:?}");
        }
    }
}
