//! The memory that the process uses and that the machine has.

use std::sync::OnceLock;

/// Resident memory of this process in bytes; 0 where the system does not report it.
pub fn resident_bytes() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    let pages = text.split_whitespace().nth(1).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    pages * 4096
}

/// Largest resident memory of this process so far in bytes; 0 where the system does not report it.
pub fn peak_bytes() -> u64 {
    kilobytes("/proc/self/status", "VmHWM:").unwrap_or(0)
}

/// Memory this process may use in bytes: the machine's, or its control group's if that is less. Asked once: small
/// systems are searched by the million.
pub fn machine_bytes() -> Option<u64> {
    static BYTES: OnceLock<Option<u64>> = OnceLock::new();
    *BYTES.get_or_init(ask_machine_bytes)
}

fn ask_machine_bytes() -> Option<u64> {
    let machine = kilobytes("/proc/meminfo", "MemTotal:")?;
    let group =
        std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(group.map_or(machine, |limit: u64| limit.min(machine)))
}

fn kilobytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn linux_tells() {
        assert!(super::resident_bytes() > 100_000);
        assert!(super::peak_bytes() >= super::resident_bytes() / 2);
        assert!(super::machine_bytes().is_some_and(|bytes| bytes > 100_000_000));
    }
}
