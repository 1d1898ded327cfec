//! What is said about libraries that cannot be looked into.

/// The reason why nothing is proved while these libraries are loaded; `None` without any.
pub(super) fn tell(libraries: &[String]) -> Option<String> {
    let (last, others) = libraries.split_last()?;
    Some(if others.is_empty() {
        format!("what threads share in {last} is not visible (it was not compiled with -fsanitize=thread)")
    } else {
        format!(
            "what threads share in {} and {last} is not visible (they were not compiled with -fsanitize=thread)",
            others.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_listed() {
        let told = |names: &[&str]| tell(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(told(&[]), None);
        assert!(told(&["a.so"]).is_some_and(|text| text.starts_with("what threads share in a.so is")));
        assert!(told(&["a", "b", "c"]).is_some_and(|text| text.contains("in a, b and c is")));
    }
}
