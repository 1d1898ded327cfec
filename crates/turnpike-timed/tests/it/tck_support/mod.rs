//! Comparison of networks without places.

use turnpike_timed::network::Network;

/// Everything of a network but places: in its debug text those are the only ranges.
pub(crate) fn shape(network: &Network) -> String {
    let text = format!("{network:?}");
    let mut shape = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(dots) = rest.find("..") {
        let (before, after) = rest.split_at(dots);
        let start = before.trim_end_matches(|c: char| c.is_ascii_digit());
        let end = after[2..].trim_start_matches(|c: char| c.is_ascii_digit());
        if start.len() < before.len() && end.len() < after.len() - 2 {
            shape.push_str(start);
            shape.push('_');
            rest = end;
        } else {
            shape.push_str(before);
            shape.push_str("..");
            rest = &after[2..];
        }
    }
    shape.push_str(rest);
    shape
}
