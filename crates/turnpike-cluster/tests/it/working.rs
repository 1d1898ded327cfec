//! Messages between processes that have joined, and what happens when one is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use turnpike_cluster::{Lost, Mesh, Why};

use crate::common::Cluster;

fn others(mesh: &Mesh) -> impl Iterator<Item = usize> + use<> {
    let own = mesh.process();
    (0..mesh.processes()).filter(move |process| *process != own)
}

#[test]
fn messages_of_one_process_arrive_in_order() {
    const ROUNDS: u32 = 300;
    Cluster::new(4).run(|mesh| {
        for round in 0..ROUNDS {
            for to in others(&mesh) {
                mesh.send(to, round.to_le_bytes().to_vec()).expect("all live");
            }
        }
        let mut next = [0; 4];
        for _ in 0..3 * ROUNDS {
            let (from, message) = mesh.wait().expect("all live");
            assert_eq!(message, u32::to_le_bytes(next[from]));
            next[from] += 1;
        }
        assert_eq!(mesh.receive(), Ok(None));
        assert_eq!(mesh.traffic(), (900 * 9, 900 * 9), "four bytes of content, five of the header");
        mesh.close();
    });
}

#[test]
fn a_single_process_is_a_cluster() {
    let alone = Cluster::new(1).run(|mesh| {
        let counts = (mesh.process(), mesh.processes(), mesh.receive());
        mesh.close();
        counts
    });
    assert_eq!(alone, [(0, 1, Ok(None))]);
}

#[test]
fn the_loss_of_a_process_ends_every_wait() {
    let lost = Cluster::new(4).run(|mesh| {
        if mesh.process() == 2 {
            // All processes have joined once all have been heard.
            for _ in 0..3 {
                mesh.wait().expect("all live");
            }
            return None;
        }
        mesh.send(2, vec![1]).expect("all live");
        let lost = mesh.wait().expect_err("process 2 ends without a goodbye");
        assert_eq!((mesh.receive(), mesh.send(2, vec![0])), (Err(lost), Err(lost)));
        Some(lost)
    });
    for lost in [lost[0], lost[1], lost[3]] {
        assert!(matches!(lost, Some(Lost { process: 2, why: Why::Closed | Why::Reported })), "{lost:?}");
    }
}

#[test]
fn an_interrupt_reaches_all() {
    let cluster = Cluster::new(3);
    std::thread::scope(|scope| {
        for process in 0..3 {
            let cluster = &cluster;
            scope.spawn(move || {
                let interrupt = Arc::new(AtomicBool::new(false));
                let mesh = cluster.join_until(process, &interrupt).expect("the process joins");
                interrupt.fetch_or(process == 1, Ordering::Relaxed);
                while !interrupt.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                mesh.close();
            });
        }
    });
}
