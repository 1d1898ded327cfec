//! The first words on a connection. The process with the higher number calls the other one.
//!
//! ```text
//! caller                                        called
//! greeting: numbers, random bytes         ->
//!                                         <-    greeting: numbers, random bytes
//! proof of the secret                     ->
//!                                         <-    proof of the secret
//! identity: version, model, options       ->
//!                                         <-    identity
//!                                         <-    welcome
//! ```
//!
//! Both ends compare what they received, so both know why a connection is refused. Before the proof
//! is verified, a peer can make this process read only a few bytes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use crate::frame::{self, Hurried, Kind};
use crate::identity::Identity;
use crate::secret::{NONCE, PROOF, Role, Secret, random_bytes};

/// The protocol version, incremented when anything after the greeting changes. The greeting itself
/// never changes.
const PROTOCOL: u32 = 1;
const MAGIC: [u8; 8] = *b"TURNPIKE";
const GREETING: usize = MAGIC.len() + 4 * 4 + NONCE;
/// Limit on the bytes of an identity.
const LONGEST_IDENTITY: usize = 1 << 20;

/// The data of a process for a handshake.
#[derive(Clone, Copy)]
pub(crate) struct Party<'a> {
    pub(crate) process: usize,
    pub(crate) processes: usize,
    pub(crate) secret: &'a Secret,
    pub(crate) identity: &'a Identity,
}

/// Why a connection is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the connection was cut: {0}")]
    Cut(io::Error),
    #[error("it does not speak turnpike's protocol")]
    NotTurnpike,
    #[error("it speaks version {there} of the protocol between processes, this process version {here}")]
    Protocol { here: u32, there: u32 },
    #[error("its list of hosts differs: {0}")]
    Numbers(String),
    #[error("it has a different secret")]
    Secret,
    #[error("it refused the secret of this process")]
    SecretRefused,
    #[error("its {name} differs: {there} there, {here} here")]
    Differs { name: String, here: String, there: String },
    #[error("a process with its number is already connected")]
    Twice,
    #[error("it is already connected to a process with the number of this one")]
    TwiceRefused,
    #[error("it violated the protocol")]
    Garbled,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Refusal::Garbled,
            _ => Refusal::Cut(error),
        }
    }
}

const OTHER_SECRET: u8 = 1;
const CONNECTED_ALREADY: u8 = 2;

struct Greeting {
    protocol: u32,
    from: u32,
    to: u32,
    processes: u32,
    nonce: [u8; NONCE],
}

impl Greeting {
    fn new(party: &Party<'_>, to: usize) -> Result<Self, Refusal> {
        Ok(Greeting {
            protocol: PROTOCOL,
            from: party.process as u32,
            to: to as u32,
            processes: party.processes as u32,
            nonce: random_bytes()?,
        })
    }

    fn encode(&self) -> [u8; GREETING] {
        let mut out = [0; GREETING];
        out[..8].copy_from_slice(&MAGIC);
        let numbers = [self.protocol, self.from, self.to, self.processes];
        for (place, number) in out[8..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        out[24..].copy_from_slice(&self.nonce);
        out
    }

    fn read(input: &mut impl Read) -> Result<Self, Refusal> {
        let mut bytes = [0; GREETING];
        input.read_exact(&mut bytes[..8])?;
        // A peer of another protocol may never send a whole greeting.
        if bytes[..8] != MAGIC {
            return Err(Refusal::NotTurnpike);
        }
        input.read_exact(&mut bytes[8..])?;
        let mut numbers = bytes[8..24].chunks_exact(4).map(|four| {
            let four: [u8; 4] = four.try_into().expect("chunks of four");
            u32::from_le_bytes(four)
        });
        let mut next = || numbers.next().expect("four numbers");
        let (protocol, from, to, processes) = (next(), next(), next(), next());
        let nonce = bytes[24..].try_into().expect("the rest of the greeting");
        Ok(Greeting { protocol, from, to, processes, nonce })
    }
}

/// Rejects a process with a different protocol or numbering.
fn check_numbers(party: &Party<'_>, greeting: &Greeting) -> Result<(), Refusal> {
    if greeting.protocol != PROTOCOL {
        return Err(Refusal::Protocol { here: PROTOCOL, there: greeting.protocol });
    }
    let (own, all) = (party.process as u32, party.processes as u32);
    if greeting.processes != all {
        let message = format!("{} processes there, {all} here", greeting.processes);
        return Err(Refusal::Numbers(message));
    }
    if greeting.to != own {
        let message = format!("it calls this process {}, which is process {own} here", greeting.to);
        return Err(Refusal::Numbers(message));
    }
    Ok(())
}

/// The greetings of both ends, which proofs authenticate.
fn transcript(caller: &Greeting, called: &Greeting) -> Vec<u8> {
    [caller.encode(), called.encode()].concat()
}

/// Reads a frame that must be of this kind, and returns its content.
fn expect(input: &mut impl Read, kind: Kind, longest: usize) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    // A refusal has one byte, even where an empty frame is expected.
    match frame::read(input, longest.max(1), &mut bytes)? {
        found if found == kind => Ok(bytes),
        Kind::Refusal => Err(match bytes.first() {
            Some(&OTHER_SECRET) => Refusal::SecretRefused,
            Some(&CONNECTED_ALREADY) => Refusal::TwiceRefused,
            _ => Refusal::Garbled,
        }),
        _ => Err(Refusal::Garbled),
    }
}

fn refuse(out: &mut impl Write, why: u8) {
    // The peer may have disconnected: the error on this side is what matters.
    let _ = frame::write(out, Kind::Refusal, &[why]);
}

fn check_proof(
    connection: &mut Hurried<'_>,
    secret: &Secret,
    role: Role,
    transcript: &[u8],
) -> Result<(), Refusal> {
    let proof = expect(connection, Kind::Proof, PROOF)?;
    if secret.verify(role, transcript, &proof) {
        return Ok(());
    }
    refuse(connection, OTHER_SECRET);
    Err(Refusal::Secret)
}

fn check_identity(connection: &mut Hurried<'_>, own: &Identity) -> Result<(), Refusal> {
    let bytes = expect(connection, Kind::Identity, LONGEST_IDENTITY)?;
    let other = Identity::decode(&bytes).ok_or(Refusal::Garbled)?;
    match own.first_difference(&other) {
        Some((name, here, there)) => Err(Refusal::Differs { name, here, there }),
        None => Ok(()),
    }
}

/// Performs the handshake with the process `to` on an outgoing connection.
pub(crate) fn call(
    party: &Party<'_>,
    to: usize,
    stream: &TcpStream,
    deadline: Instant,
) -> Result<(), Refusal> {
    let connection = &mut Hurried { stream, deadline };
    let own = Greeting::new(party, to)?;
    connection.write_all(&own.encode())?;
    let other = Greeting::read(connection)?;
    check_numbers(party, &other)?;
    if other.from as usize != to {
        let message = format!("it is process {} there, {to} here", other.from);
        return Err(Refusal::Numbers(message));
    }
    let said = transcript(&own, &other);
    frame::write(connection, Kind::Proof, &party.secret.prove(Role::Caller, &said))?;
    check_proof(connection, party.secret, Role::Called, &said)?;
    frame::write(connection, Kind::Identity, &party.identity.encode())?;
    check_identity(connection, party.identity)?;
    expect(connection, Kind::Welcome, 0)?;
    Ok(())
}

/// Why a call was refused, and which process made it, if authenticated.
pub(crate) struct Refused {
    pub(crate) process: Option<usize>,
    pub(crate) why: Refusal,
}

impl From<Refusal> for Refused {
    fn from(why: Refusal) -> Self {
        Refused { process: None, why }
    }
}

/// Performs the handshake on an incoming connection, and returns the process that called. `claim`
/// reserves the slot of that process, if it is free; `release` frees it again.
pub(crate) fn answer(
    party: &Party<'_>,
    stream: &TcpStream,
    deadline: Instant,
    claim: impl FnOnce(usize) -> bool,
    release: impl FnOnce(usize),
) -> Result<usize, Refused> {
    let connection = &mut Hurried { stream, deadline };
    let other = Greeting::read(connection)?;
    let process = other.from as usize;
    let own = Greeting::new(party, process)?;
    // Also sent to a process that is refused, so that it learns the reason.
    connection.write_all(&own.encode()).map_err(Refusal::from)?;
    check_numbers(party, &other)?;
    if process <= party.process || process >= party.processes {
        return Err(Refusal::Numbers(format!("process {process} has no reason to call this one")).into());
    }
    let said = transcript(&other, &own);
    check_proof(connection, party.secret, Role::Caller, &said)?;
    let proved = |why: Refusal| Refused { process: Some(process), why };
    let proof = party.secret.prove(Role::Called, &said);
    let sent = frame::write(connection, Kind::Proof, &proof);
    sent.map_err(|error| proved(error.into()))?;
    // Send the own identity before judging the other one, so that both ends see the difference.
    let compared = check_identity(connection, party.identity);
    let sent = frame::write(connection, Kind::Identity, &party.identity.encode());
    compared.map_err(proved)?;
    sent.map_err(|error| proved(error.into()))?;
    if !claim(process) {
        refuse(connection, CONNECTED_ALREADY);
        return Err(proved(Refusal::Twice));
    }
    if let Err(error) = frame::write(connection, Kind::Welcome, &[]) {
        // It has not received the welcome, and will call again.
        release(process);
        return Err(proved(error.into()));
    }
    Ok(process)
}
