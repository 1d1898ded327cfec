//! The hosts file of a cluster: one `host:port` per line, in the order of process numbers.
//! Everything after `#` is a comment.

use turnpike_model::Diagnostic;

/// Far more processes than any search can use; a longer file is most likely not a list of hosts.
const MOST: usize = 4096;

/// The addresses of all processes, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    addresses: Vec<String>,
}

impl Hosts {
    /// Parses the file, or returns all errors.
    pub fn parse(text: &str) -> Result<Hosts, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut addresses: Vec<String> = Vec::new();
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            let address = content.trim();
            let begin = start + (content.len() - content.trim_start().len());
            start += line.len();
            if address.is_empty() {
                continue;
            }
            let place = begin..begin + address.len();
            let problem = check_address(address).err().or_else(|| {
                let earlier = addresses.iter().position(|known| known == address)?;
                Some(Diagnostic::error(format!("`{address}` is process {earlier} already")))
            });
            match problem {
                Some(problem) => errors.push(problem.at(place, "").on_line(number as u64 + 1)),
                None => addresses.push(address.to_owned()),
            }
        }
        if errors.is_empty() && addresses.is_empty() {
            let help = "write one address a line, such as alpha:7000";
            errors.push(Diagnostic::error("the file names no processes").at(0..0, "").help(help));
        }
        if addresses.len() > MOST {
            let message = format!("{} processes are too many; the limit is {MOST}", addresses.len());
            errors.push(Diagnostic::error(message).at(0..0, ""));
        }
        if errors.is_empty() { Ok(Hosts { addresses }) } else { Err(errors) }
    }

    /// The number of processes.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are no processes: never true for a parsed file.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The address of a process, as written.
    pub fn address(&self, process: usize) -> &str {
        &self.addresses[process]
    }

    /// All addresses, in order.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.addresses.iter().map(String::as_str)
    }
}

/// Rejects what cannot be an address. Whether the host exists is determined on connecting.
fn check_address(address: &str) -> Result<(), Diagnostic> {
    let example = "an address is a host and a port, such as alpha:7000 or [::1]:7000";
    let Some((host, port)) = address.rsplit_once(':') else {
        return Err(Diagnostic::error(format!("`{address}` has no port")).help(example));
    };
    if !port.bytes().all(|byte| byte.is_ascii_digit()) || !matches!(port.parse::<u16>(), Ok(1..)) {
        return Err(Diagnostic::error(format!("`{port}` is not a port")).help("a port is from 1 to 65535"));
    }
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = match bracketed {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
            !host.is_empty() && host.len() <= 253 && host.bytes().all(is_letter)
        }
    };
    if is_host {
        return Ok(());
    }
    Err(Diagnostic::error(format!("`{host}` is not the name or the address of a host")).help(example))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors of a text, each with the line and the bytes that it points at.
    fn errors(text: &str) -> Vec<(Option<u64>, String, String)> {
        let errors = Hosts::parse(text).expect_err("the text is refused");
        let describe = |error: Diagnostic| {
            let range = error.span.expect("every error has a place").range;
            (error.line, text[range].to_owned(), error.message)
        };
        errors.into_iter().map(describe).collect()
    }

    #[test]
    fn reads_addresses_comments_and_empty_lines() {
        let text = "# machines\n\n  alpha:7000 # the first\r\n10.0.0.2:7001\n[::1]:7002";
        let hosts = Hosts::parse(text).expect("a list of hosts");
        assert_eq!(hosts.addresses().collect::<Vec<_>>(), ["alpha:7000", "10.0.0.2:7001", "[::1]:7002"]);
        assert_eq!((hosts.len(), hosts.is_empty(), hosts.address(2)), (3, false, "[::1]:7002"));
    }

    #[test]
    fn every_mistake_has_its_line_and_place() {
        let text = "alpha:7000\n beta\nalpha:7000\ngamma:0\n:70\n[::g]:1\nde lta:2\nx:+5\n";
        let found = errors(text);
        let expect = |line: u64, place: &str, message: &str| (Some(line), place.into(), message.into());
        assert_eq!(found[0], expect(2, "beta", "`beta` has no port"));
        assert_eq!(found[1], expect(3, "alpha:7000", "`alpha:7000` is process 0 already"));
        assert_eq!(found[2], expect(4, "gamma:0", "`0` is not a port"));
        assert_eq!(found[3], expect(5, ":70", "`` is not the name or the address of a host"));
        assert_eq!(found[4].0, Some(6));
        assert_eq!(found[5], expect(7, "de lta:2", "`de lta` is not the name or the address of a host"));
        assert_eq!(found[6], expect(8, "x:+5", "`+5` is not a port"));
    }

    #[test]
    fn an_empty_list_is_an_error() {
        assert_eq!(errors("# nobody\n")[0].2, "the file names no processes");
    }
}
