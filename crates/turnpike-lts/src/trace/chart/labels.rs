//! Who takes part, read out of labels: for traces of timed automata that do not record it.

/// `P@e` for all processes in a label; nothing when it has another form. Commas within brackets
/// belong to names.
pub(super) fn named_parts(label: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i64, 0);
    let ends = label.char_indices().filter_map(|(at, c)| match c {
        '(' | '[' => {
            depth += 1;
            None
        }
        ')' | ']' => {
            depth -= 1;
            None
        }
        ',' => (depth == 0).then_some(at),
        _ => None,
    });
    for end in ends.chain([label.len()]) {
        match label[start..end].split_once('@') {
            Some((name, event)) if !name.is_empty() => parts.push((name, event)),
            _ => return Vec::new(),
        }
        start = end + 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_taken_apart() {
        assert_eq!(named_parts("P(1,2)@go[3,4]!,Q@go?"), [("P(1,2)", "go[3,4]!"), ("Q", "go?")]);
        assert_eq!(named_parts("P@tau"), [("P", "tau")]);
        for other in ["", "send(1)", "@a", "P@a,", "P@a,b"] {
            assert!(named_parts(other).is_empty(), "{other}");
        }
    }
}
