//! Sockets with addresses of this machine, when both ends are in the program.
//!
//! An internet stream socket is created as one of the local domain, and an address of this machine
//! (a loopback address, or the wildcard address) as a name that only this process uses and that
//! contains the port. The system then keeps connections, queues and events as for any socket of the
//! program (`descriptors`), nothing travels through the network, and programs that run at the same
//! time do not interfere. IPv4 and IPv6 share their ports. A socket that leads elsewhere is created
//! as the program asked for it, and is outside control.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use turnpike_scheduler::Site;

use crate::global::Global;
use crate::hook::{hook, real};
use crate::sys::{self, EAGAIN, EINVAL, fail_with};
use crate::{blocking, control, descriptors, memory, shared};

const LOCAL: c_int = 1;
const IPV4: c_int = 2;
const IPV6: c_int = 10;
const STREAM: c_int = 1;
const TCP: c_int = 6;

const EADDRINUSE: c_int = 98;
const ECONNREFUSED: c_int = 111;
const EINPROGRESS: c_int = 115;

/// The first port for sockets that do not ask for one.
const FIRST_FREE: u16 = 40_000;
/// The least length of the queue of connections, so that `connect` never waits for `accept`.
const ROOM_FOR_CONNECTIONS: c_int = 4_096;

/// For each descriptor, by number: the domain that the program asked for, or 0.
static DOMAINS: Global<Vec<c_int>> = Global::new(Vec::new());
static FREE: Global<u16> = Global::new(FIRST_FREE);

/// The domain that the program asked for, if the socket was created as a local one instead.
fn domain_of(fd: c_int) -> Option<c_int> {
    let known = |domains: &mut Vec<c_int>| domains.get(fd as usize).copied().filter(|&domain| domain != 0);
    if fd >= 0 && control::active() { DOMAINS.with(known) } else { None }
}

fn set_domain(fd: c_int, domain: c_int) {
    if fd < 0 {
        return;
    }
    DOMAINS.with(|domains| {
        if fd as usize >= domains.len() {
            if domain == 0 {
                return;
            }
            domains.resize(fd as usize + 1, 0);
        }
        domains[fd as usize] = domain;
    });
}

/// Forgets a descriptor that is closed.
pub(crate) fn forget(fd: c_int) {
    set_domain(fd, 0);
}

/// Notes that `to` refers to the same socket as `from`.
pub(crate) fn copied(from: c_int, to: c_int) {
    set_domain(to, domain_of(from).unwrap_or(0));
}

/// An address of the local domain.
#[repr(C)]
struct Name {
    family: u16,
    bytes: [u8; 108],
}

/// What names begin with: a zero byte, so that nothing is created in the file system, and a word.
const BEGINNING: &[u8] = b"\0turnpike ";
const DIGITS: usize = 16;
const PORT_DIGITS: usize = 4;
/// The family, the beginning, two numbers that tell processes apart, the port.
const NAME_LENGTH: usize = 2 + BEGINNING.len() + 2 * DIGITS + PORT_DIGITS;

fn write_digits(out: &mut [u8], mut number: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 15) as usize];
        number >>= 4;
    }
}

impl Name {
    /// The name for a port in this process. Processes of one machine have different numbers. Those
    /// of containers that share a network may be equal, so the name has the library's address, too.
    fn of_port(port: u16) -> Name {
        let process = sys::syscall(sys::number::GETPID, 0, 0, 0, 0, 0, 0) as u64;
        let place = &raw const DOMAINS as u64;
        let mut bytes = [0; 108];
        let (start, rest) = bytes.split_at_mut(BEGINNING.len());
        start.copy_from_slice(BEGINNING);
        write_digits(&mut rest[..DIGITS], process);
        write_digits(&mut rest[DIGITS..2 * DIGITS], place);
        write_digits(&mut rest[2 * DIGITS..2 * DIGITS + PORT_DIGITS], u64::from(port));
        Name { family: LOCAL as u16, bytes }
    }

    const fn empty() -> Name {
        Name { family: 0, bytes: [0; 108] }
    }

    /// The port that a name of this length stands for; 0 if it is not such a name.
    fn port(&self, length: u32) -> u16 {
        if length as usize != NAME_LENGTH || !self.bytes.starts_with(BEGINNING) {
            return 0;
        }
        let digits = &self.bytes[NAME_LENGTH - 2 - PORT_DIGITS..NAME_LENGTH - 2];
        digits.iter().fold(0, |port, &digit| port << 4 | (digit as char).to_digit(16).unwrap_or(0) as u16)
    }
}

/// The port of an address, and whether it is one of this machine.
///
/// # Safety
/// `address` is null or points to `length` bytes.
unsafe fn read_address(address: *const c_void, length: u32) -> Option<(u16, bool)> {
    if address.is_null() || length < 8 {
        return None;
    }
    // SAFETY: promised by the caller.
    let bytes = unsafe { core::slice::from_raw_parts(address as *const u8, length as usize) };
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    let is_local = |address: &[u8]| address[0] == 127 || address == [0; 4];
    match c_int::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
        IPV4 => Some((port, is_local(&bytes[4..8]))),
        IPV6 if length >= 24 => {
            let (first, last) = bytes[8..24].split_at(12);
            let mapped = first[..10] == [0; 10] && first[10..] == [0xff; 2] && is_local(last);
            Some((port, mapped || first == [0; 12] && (last == [0; 4] || last == [0, 0, 0, 1])))
        }
        _ => None,
    }
}

/// Writes a loopback address.
///
/// # Safety
/// `address` has room for as many bytes as `length` points to, unless one of them is null.
unsafe fn write_address(domain: c_int, port: u16, address: *mut c_void, length: *mut u32) {
    if address.is_null() || length.is_null() {
        return;
    }
    let mut bytes = [0u8; 28];
    bytes[..2].copy_from_slice(&(domain as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    let size = if domain == IPV4 {
        bytes[4..8].copy_from_slice(&[127, 0, 0, 1]);
        16
    } else {
        bytes[23] = 1;
        28
    };
    // SAFETY: promised by the caller.
    unsafe {
        let room = (*length as usize).min(size);
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, room);
        *length = size as u32;
    }
}

fn errno() -> c_int {
    // SAFETY: the C library's own.
    unsafe { *sys::__errno_location() }
}

/// Binds a socket to a port, or to any free one for 0.
fn bind_port(fd: c_int, port: u16) -> c_int {
    let bind = real!(bind: fn(c_int, *const Name, u32) -> c_int);
    loop {
        let wanted = if port == 0 { FREE.with(|free| core::mem::replace(free, *free + 1)) } else { port };
        let name = Name::of_port(wanted);
        // SAFETY: a name of this length.
        let answer = unsafe { bind(fd, &name, NAME_LENGTH as u32) };
        if answer == 0 || port != 0 || errno() != EADDRINUSE || wanted == u16::MAX {
            return answer;
        }
    }
}

/// The port of a socket's address, as a call of the C library returns it.
fn port_by(call: unsafe extern "C" fn(c_int, *mut Name, *mut u32) -> c_int, fd: c_int) -> Option<u16> {
    let (mut name, mut length) = (Name::empty(), size_of::<Name>() as u32);
    // SAFETY: room for a name.
    let answer = unsafe { call(fd, &mut name, &mut length) };
    (answer == 0).then(|| name.port(length))
}

fn own_port(fd: c_int) -> Option<u16> {
    port_by(real!(getsockname: fn(c_int, *mut Name, *mut u32) -> c_int), fd)
}

fn peer_port(fd: c_int) -> Option<u16> {
    port_by(real!(getpeername: fn(c_int, *mut Name, *mut u32) -> c_int), fd)
}

/// Replaces a socket that leads out of the program by one of the kind that the program asked for.
fn go_outside(fd: c_int, domain: c_int) {
    // SAFETY: calls of the C library with descriptors.
    unsafe {
        let real = real!(socket: fn(c_int, c_int, c_int) -> c_int)(domain, STREAM, 0);
        let flags = sys::syscall(sys::number::FCNTL, fd as usize, 3, 0, 0, 0, 0).max(0) as usize;
        sys::syscall(sys::number::FCNTL, real as usize, 4, flags, 0, 0, 0);
        real!(dup2: fn(c_int, c_int) -> c_int)(real, fd);
        real!(close: fn(c_int) -> c_int)(real);
    }
    set_domain(fd, 0);
    descriptors::set_inside(fd, false);
}

/// Connects two ends in the program.
fn connect_inside(fd: c_int, port: u16) -> c_int {
    if own_port(fd) == Some(0) && bind_port(fd, 0) != 0 {
        return -1;
    }
    let name = Name::of_port(port);
    let connect = real!(connect: fn(c_int, *const Name, u32) -> c_int);
    // SAFETY: a name of this length.
    let answer = descriptors::without_blocking(fd, || unsafe { connect(fd, &name, NAME_LENGTH as u32) });
    if answer == 0 && blocking::nonblocking(fd) {
        // As over the network: the socket becomes ready for writing.
        return fail_with(EINPROGRESS);
    }
    if answer != 0 && errno() == ECONNREFUSED {
        control::uncontrolled("connect to a port of this machine at which no thread listens");
        return fail_with(ECONNREFUSED);
    }
    answer
}

/// Reports that a call stores an address, or the value of an option, and its length.
///
/// # Safety
/// Both are null or point to the caller's variables.
unsafe fn tell_address(what: &str, address: *const c_void, length: *const u32, site: Site) {
    if address.is_null() || length.is_null() {
        return;
    }
    memory::tell_operand(what, length as *const c_void, size_of::<u32>(), true, site);
    // SAFETY: promised by the caller.
    memory::tell_operand(what, address, unsafe { *length } as usize, true, site);
}

/// Handles the result of `accept`, and stores the address of the other end.
///
/// # Safety
/// As for `accept`.
unsafe fn accepted(from: c_int, fd: c_int, address: *mut c_void, length: *mut u32) -> c_int {
    if fd < 0 {
        return fd;
    }
    descriptors::set_inside(fd, descriptors::is_inside(from));
    if let Some(domain) = domain_of(from) {
        set_domain(fd, domain);
        // SAFETY: promised by the caller.
        unsafe { write_address(domain, peer_port(fd).unwrap_or(0), address, length) };
    }
    fd
}

hook! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int; site) -> c_int {
        let socket = real!(socket: fn(c_int, c_int, c_int) -> c_int);
        shared::files(site);
        const KIND: c_int = 0xf;
        let stream = kind & KIND == STREAM && (protocol == 0 || protocol == TCP);
        if !matches!(domain, IPV4 | IPV6) || !stream {
            return socket(domain, kind, protocol);
        }
        let fd = socket(LOCAL, kind, 0);
        set_domain(fd, domain);
        descriptors::set_inside(fd, true);
        fd
    }
    fn bind(fd: c_int, address: *const c_void, length: u32; site) -> c_int {
        shared::files(site);
        memory::tell_operand("bind", address, length as usize, false, site);
        if let Some(domain) = domain_of(fd) {
            match read_address(address, length) {
                None => return fail_with(EINVAL),
                Some((port, true)) => return bind_port(fd, port),
                Some(_) => go_outside(fd, domain),
            }
        }
        control::uncontrolled("bind: who else uses the address");
        real!(bind: fn(c_int, *const c_void, u32) -> c_int)(fd, address, length)
    }
    fn listen(fd: c_int, waiting: c_int; site) -> c_int {
        shared::files(site);
        let listen = real!(listen: fn(c_int, c_int) -> c_int);
        if domain_of(fd).is_none() {
            return listen(fd, waiting);
        }
        if own_port(fd) == Some(0) && bind_port(fd, 0) != 0 {
            return -1;
        }
        listen(fd, waiting.max(ROOM_FOR_CONNECTIONS))
    }
    fn connect(fd: c_int, address: *const c_void, length: u32; site) -> c_int {
        shared::files(site);
        memory::tell_operand("connect", address, length as usize, false, site);
        if let Some(domain) = domain_of(fd) {
            match read_address(address, length) {
                None => return fail_with(EINVAL),
                Some((port, true)) => return connect_inside(fd, port),
                Some(_) => go_outside(fd, domain),
            }
        }
        control::uncontrolled("connect: what happens at the other end");
        real!(connect: fn(c_int, *const c_void, u32) -> c_int)(fd, address, length)
    }
    fn accept(fd: c_int, address: *mut c_void, length: *mut u32; site) -> c_int {
        if !blocking::readable("accept", fd, site) {
            return fail_with(EAGAIN);
        }
        tell_address("accept", address, length, site);
        let accept = real!(accept: fn(c_int, *mut c_void, *mut u32) -> c_int);
        if domain_of(fd).is_none() {
            return accepted(fd, accept(fd, address, length), address, length);
        }
        accepted(fd, accept(fd, core::ptr::null_mut(), core::ptr::null_mut()), address, length)
    }
    fn accept4(fd: c_int, address: *mut c_void, length: *mut u32, flags: c_int; site) -> c_int {
        if !blocking::readable("accept4", fd, site) {
            return fail_with(EAGAIN);
        }
        tell_address("accept4", address, length, site);
        let accept = real!(accept4: fn(c_int, *mut c_void, *mut u32, c_int) -> c_int);
        if domain_of(fd).is_none() {
            return accepted(fd, accept(fd, address, length, flags), address, length);
        }
        accepted(fd, accept(fd, core::ptr::null_mut(), core::ptr::null_mut(), flags), address, length)
    }
    fn getsockname(fd: c_int, address: *mut c_void, length: *mut u32; site) -> c_int {
        shared::files(site);
        tell_address("getsockname", address, length, site);
        let Some(domain) = domain_of(fd) else {
            return real!(getsockname: fn(c_int, *mut c_void, *mut u32) -> c_int)(fd, address, length);
        };
        let Some(port) = own_port(fd) else { return -1 };
        write_address(domain, port, address, length);
        0
    }
    fn getpeername(fd: c_int, address: *mut c_void, length: *mut u32; site) -> c_int {
        shared::files(site);
        tell_address("getpeername", address, length, site);
        let Some(domain) = domain_of(fd) else {
            return real!(getpeername: fn(c_int, *mut c_void, *mut u32) -> c_int)(fd, address, length);
        };
        let Some(port) = peer_port(fd) else { return -1 };
        write_address(domain, port, address, length);
        0
    }
}

/// Options of protocols that a socket inside does not have.
fn is_of_protocol(level: c_int, option: c_int) -> bool {
    const IP: c_int = 0;
    const IP6: c_int = 41;
    const SOCKET: c_int = 1;
    const REUSE_PORT: c_int = 15;
    matches!(level, IP | TCP | IP6) || (level, option) == (SOCKET, REUSE_PORT)
}

/// The time limit for receiving.
const RECEIVE_LIMIT: (c_int, c_int) = (1, 20);

/// It takes five arguments, too many for a stub that adds two: it has no site.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: u32,
) -> c_int {
    if control::active() {
        memory::tell_operand("setsockopt", value, length as usize, false, Site::default());
    }
    if domain_of(fd).is_some() && is_of_protocol(level, option) {
        return 0;
    }
    if (level, option) == RECEIVE_LIMIT && length as usize >= size_of::<sys::Timeval>() {
        // SAFETY: the caller's limit.
        let limit = unsafe { &*(value as *const sys::Timeval) };
        let limit = limit.seconds.saturating_mul(1_000_000).saturating_add(limit.microseconds).max(0);
        descriptors::limit_receiving(fd, limit as u64 * 1_000);
    }
    // SAFETY: the caller's arguments.
    unsafe {
        real!(setsockopt: fn(c_int, c_int, c_int, *const c_void, u32) -> c_int)(
            fd, level, option, value, length,
        )
    }
}

/// It has no site, for the same reason.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut u32,
) -> c_int {
    // SAFETY: the caller's arguments; the value of a protocol's option is a number.
    unsafe {
        if control::active() {
            tell_address("getsockopt", value, length, Site::default());
        }
        if domain_of(fd).is_some() && is_of_protocol(level, option) {
            let room = (*length as usize).min(size_of::<c_int>());
            core::ptr::write_bytes(value as *mut u8, 0, room);
            *length = room as u32;
            return 0;
        }
        real!(getsockopt: fn(c_int, c_int, c_int, *mut c_void, *mut u32) -> c_int)(
            fd, level, option, value, length,
        )
    }
}

/// It takes six arguments, and has no site.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    size: usize,
    flags: c_int,
    address: *mut c_void,
    length: *mut u32,
) -> isize {
    let receive = real!(recvfrom: fn(c_int, *mut c_void, usize, c_int, *mut c_void, *mut u32) -> isize);
    // SAFETY: the caller's arguments.
    unsafe {
        if !control::active() {
            return receive(fd, buffer, size, flags, address, length);
        }
        let site = Site::default();
        if flags & blocking::DONT_WAIT != 0 {
            blocking::reads_stream(site);
        } else if !blocking::readable("recvfrom", fd, site) {
            return fail_with(EAGAIN) as isize;
        }
        memory::tell_bytes(buffer, size, true, site);
        tell_address("recvfrom", address, length, site);
        if domain_of(fd).is_none() {
            return receive(fd, buffer, size, flags, address, length);
        }
        if !address.is_null() && !length.is_null() {
            *length = 0;
        }
        receive(fd, buffer, size, flags, core::ptr::null_mut(), core::ptr::null_mut())
    }
}

/// It has no site, for the same reason.
#[cfg_attr(embedded, unsafe(no_mangle))]
unsafe extern "C" fn sendto(
    fd: c_int,
    bytes: *const c_void,
    size: usize,
    flags: c_int,
    address: *const c_void,
    length: u32,
) -> isize {
    let send = real!(sendto: fn(c_int, *const c_void, usize, c_int, *const c_void, u32) -> isize);
    // SAFETY: the caller's arguments.
    unsafe {
        if !control::active() {
            return send(fd, bytes, size, flags, address, length);
        }
        let site = Site::default();
        if domain_of(fd).is_some() || address.is_null() {
            return blocking::send_bytes(fd, bytes, size, flags, site);
        }
        control::uncontrolled("sendto: who receives it");
        memory::tell_operand("sendto", address, length as usize, false, site);
        memory::tell_bytes(bytes, size, false, site);
        blocking::writes(fd, site);
        send(fd, bytes, size, flags, address, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_ports() {
        for port in [1, 80, 8080, 40_000, u16::MAX] {
            let name = Name::of_port(port);
            assert_eq!(name.port(NAME_LENGTH as u32), port);
            assert_eq!(name.port(NAME_LENGTH as u32 - 1), 0, "another name");
        }
        assert_eq!(Name::empty().port(2), 0);
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        let four = |address: [u8; 4]| {
            let mut bytes = [0u8; 16];
            bytes[..2].copy_from_slice(&(IPV4 as u16).to_ne_bytes());
            bytes[2..4].copy_from_slice(&8080u16.to_be_bytes());
            bytes[4..8].copy_from_slice(&address);
            // SAFETY: the array is as long as that.
            unsafe { read_address(bytes.as_ptr() as *const c_void, 16) }
        };
        assert_eq!(four([127, 0, 0, 1]), Some((8080, true)));
        assert_eq!(four([0; 4]), Some((8080, true)));
        assert_eq!(four([10, 0, 0, 1]), Some((8080, false)));
        let six = |address: [u8; 16]| {
            let mut bytes = [0u8; 28];
            bytes[..2].copy_from_slice(&(IPV6 as u16).to_ne_bytes());
            bytes[8..24].copy_from_slice(&address);
            // SAFETY: the array is as long as that.
            unsafe { read_address(bytes.as_ptr() as *const c_void, 28) }
        };
        let one = |at: usize, value: u8| core::array::from_fn(|i| if i == at { value } else { 0 });
        assert_eq!(six([0; 16]), Some((0, true)));
        assert_eq!(six(one(15, 1)), Some((0, true)));
        assert_eq!(six(one(15, 2)), Some((0, false)));
        assert_eq!(six([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1]), Some((0, true)));
        // SAFETY: nothing is read.
        assert_eq!(unsafe { read_address(core::ptr::null(), 16) }, None);
    }

    #[test]
    fn addresses_that_are_written_can_be_read() {
        for (domain, size) in [(IPV4, 16), (IPV6, 28)] {
            let (mut bytes, mut length) = ([0u8; 28], 28);
            // SAFETY: the array is as long as that.
            unsafe {
                write_address(domain, 1234, bytes.as_mut_ptr() as *mut c_void, &mut length);
                assert_eq!(length, size);
                let read = read_address(bytes.as_ptr() as *const c_void, length);
                assert_eq!(read, Some((1234, true)));
            }
        }
    }
}
