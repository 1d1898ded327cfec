//! Which processes may join, and the errors of those that may not.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::common::{Cluster, SECRET};

/// Longer than anything takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(500);

/// Sends `words` to process 0 before process 1 joins. Returns the connections that process 0
/// refused.
fn strange_words(words: &[u8]) -> Vec<String> {
    let cluster = Cluster::new(2);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| cluster.join(0));
        let mut stranger = TcpStream::connect(cluster.hosts.address(0)).expect("process 0 listens");
        stranger.write_all(words).expect("process 0 reads");
        stranger.shutdown(Shutdown::Write).expect("the connection is open");
        let mut answer = Vec::new();
        // Closed or reset: only the end of the connection matters.
        let _ = stranger.read_to_end(&mut answer);
        let other = cluster.join(1).0.expect("the true process 1 joins");
        let (mesh, notes) = waiting.join().expect("no panic");
        let mesh = mesh.expect("a stranger does no harm");
        scope.spawn(|| other.close());
        mesh.close();
        notes
    })
}

/// A greeting with these numbers and without randomness.
fn greeting(protocol: u32, from: u32, to: u32, processes: u32) -> Vec<u8> {
    let numbers = [protocol, from, to, processes].into_iter().flat_map(u32::to_le_bytes);
    b"TURNPIKE".iter().copied().chain(numbers).chain([7; 32]).collect()
}

#[test]
fn garbage_is_refused_and_does_no_harm() {
    let notes = strange_words(b"GET / HTTP/1.0\r\n\r\n");
    assert!(notes[0].ends_with("it does not speak turnpike's protocol"), "{notes:?}");
}

#[test]
fn a_greeting_that_is_cut_is_refused() {
    let notes = strange_words(&greeting(1, 1, 0, 2)[..20]);
    assert!(notes[0].contains("the connection was cut"), "{notes:?}");
}

#[test]
fn another_version_of_the_protocol_is_refused() {
    let notes = strange_words(&greeting(2, 1, 0, 2));
    let expected = "it speaks version 2 of the protocol between processes, this process version 1";
    assert!(notes[0].ends_with(expected), "{notes:?}");
}

#[test]
fn another_list_of_hosts_is_refused() {
    let notes = strange_words(&greeting(1, 1, 0, 3));
    assert!(notes[0].ends_with("its list of hosts differs: 3 processes there, 2 here"), "{notes:?}");
    let notes = strange_words(&greeting(1, 1, 5, 2));
    assert!(notes[0].contains("it calls this process 5, which is process 0 here"), "{notes:?}");
    let notes = strange_words(&greeting(1, 0, 0, 2));
    assert!(notes[0].contains("process 0 has no reason to call this one"), "{notes:?}");
}

#[test]
fn a_proof_without_the_secret_is_refused() {
    let mut words = greeting(1, 1, 0, 2);
    words.extend([1, 32, 0, 0, 0]);
    words.extend([0; 32]);
    let notes = strange_words(&words);
    assert!(notes[0].ends_with("it has a different secret"), "{notes:?}");
}

#[test]
fn a_silent_stranger_keeps_nobody_waiting() {
    let cluster = Cluster::new(2);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| cluster.join(0));
        let silent = TcpStream::connect(cluster.hosts.address(0)).expect("process 0 listens");
        let other = cluster.join(1).0.expect("process 1 joins beside it");
        drop(silent);
        let mesh = waiting.join().expect("no panic").0.expect("process 0 joins");
        scope.spawn(|| other.close());
        mesh.close();
    });
}

#[test]
fn the_caller_learns_that_the_other_end_is_not_turnpike() {
    let cluster = Cluster::new(2);
    // In place of process 0: a peer with another protocol, or a later version.
    for (answer, expected) in [
        (b"220 mail.example.com ready\r\n".to_vec(), "it does not speak turnpike's protocol"),
        (
            greeting(9, 0, 1, 2),
            "it speaks version 9 of the protocol between processes, this process version 1",
        ),
    ] {
        let impostor = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = impostor.local_addr().expect("an address");
        let text = format!("{address}\n{}", cluster.hosts.address(1));
        let strange = Cluster::posing_as(turnpike_cluster::Hosts::parse(&text).expect("addresses"));
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = impostor.accept().expect("a call");
                stream.write_all(&answer).expect("the caller reads");
                let _ = stream.read_to_end(&mut Vec::new());
            });
            let error = strange.join(1).0.expect_err("not a process");
            assert_eq!(error.to_string(), format!("process 0 ({address}) does not match: {expected}"));
        });
    }
}

/// Process 0 and a process 1 that differs from it: the errors of both, and the notes of process 0.
/// Once process 1 has ended, process 0 does not wait for another one.
fn misfits(secret: &str, model: &str) -> (String, String, Vec<String>) {
    let cluster = Cluster::new(2);
    let interrupt = Arc::default();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| cluster.join_as(0, SECRET, "philosophers", LONG, &interrupt));
        let other = cluster.join_with(1, secret, model, LONG).0.expect_err("process 1 does not fit");
        // Both ends of a connection learn the reason; process 0 gets the time to do so.
        let learnt = || waiting.is_finished() || cluster.has_notes();
        while !learnt() {
            thread::yield_now();
        }
        interrupt.store(true, Ordering::Relaxed);
        let (mesh, notes) = waiting.join().expect("no panic");
        (mesh.expect_err("process 1 is missing").to_string(), other.to_string(), notes)
    })
}

#[test]
fn another_model_is_an_error_on_both_sides() {
    let (zero, one, _) = misfits(SECRET, "sliding window");
    assert!(zero.ends_with("its model differs: sliding window there, philosophers here"), "{zero}");
    assert!(one.ends_with("its model differs: philosophers there, sliding window here"), "{one}");
}

#[test]
fn another_secret_is_an_error_on_both_sides() {
    let (zero, one, notes) = misfits("another secret of good length", "philosophers");
    assert!(one.ends_with("it refused the secret of this process"), "{one}");
    assert!(notes[0].ends_with("it has a different secret"), "{notes:?}");
    assert_eq!(zero, "interrupted while waiting for the other processes");
}

#[test]
fn a_second_process_of_the_same_number_is_refused() {
    let cluster = Cluster::new(3);
    thread::scope(|scope| {
        let zero = scope.spawn(|| cluster.join(0));
        // Process 2 has not joined: all others wait, and process 0 still listens.
        let first = scope.spawn(|| cluster.join(1));
        let address = cluster.hosts.address(0);
        let second = loop {
            let twin = Cluster::posing_as(cluster.hosts.clone());
            let patience = Duration::from_millis(300);
            let error =
                twin.join_with(1, SECRET, "philosophers", patience).0.expect_err("nobody is complete");
            if matches!(error, turnpike_cluster::JoinError::Refused { .. }) {
                break error.to_string();
            }
            thread::yield_now();
        };
        let expected = "it is already connected to a process with the number of this one";
        assert_eq!(second, format!("process 0 ({address}) does not match: {expected}"));
        drop((first, zero));
        // In either order, process 2 completes the cluster or finds it broken: both end.
        let _ = cluster.join_with(2, SECRET, "philosophers", SHORT);
    });
}

#[test]
fn a_process_that_never_comes_is_named() {
    // On a busy machine even processes that join take longer.
    let mut patience = SHORT;
    loop {
        let cluster = Cluster::new(3);
        let (zero, two) = thread::scope(|scope| {
            let zero = scope.spawn(|| cluster.join_with(0, SECRET, "philosophers", patience).0);
            let two = cluster.join_with(2, SECRET, "philosophers", patience).0;
            (zero.join().expect("no panic"), two)
        });
        let zero = zero.expect_err("process 1 is missing").to_string();
        let two = two.expect_err("process 1 is missing").to_string();
        if zero.contains("process 2") || two.contains("process 0") {
            assert!(patience < LONG, "{zero}; {two}");
            patience *= 2;
            continue;
        }
        let named = format!("process 1 ({}) did not join within {patience:?}", cluster.hosts.address(1));
        assert!(zero.contains(&named), "{zero}");
        assert!(two.contains(&named), "{two}");
        return;
    }
}

#[test]
fn an_address_of_another_machine_is_not_listened_on() {
    // TEST-NET-1: reserved for documentation, never the address of this machine.
    let hosts = turnpike_cluster::Hosts::parse("192.0.2.1:7000\n127.0.0.1:7001").expect("addresses");
    let strange = Cluster::not_listening(hosts);
    let error = strange.join(0).0.expect_err("not an address of this machine");
    assert!(error.to_string().starts_with("cannot listen on 192.0.2.1:7000: "), "{error}");
    let error = strange.join(5).0.expect_err("there are two");
    assert_eq!(error.to_string(), "there is no process 5: the list of hosts has 2, numbered from 0");
}
