//! The crate's own source text, for users that compile it without cargo: the library that is
//! preloaded into foreign programs. It is a feature, because nothing else needs it.

/// Every file of the crate except this one: its path below `src`, and its text.
pub const SOURCES: &[(&str, &str)] = &[
    ("bits.rs", include_str!("bits.rs")),
    ("dependence.rs", include_str!("dependence.rs")),
    ("execution.rs", include_str!("execution.rs")),
    ("executor.rs", include_str!("executor.rs")),
    ("fingerprint.rs", include_str!("fingerprint.rs")),
    ("frame.rs", include_str!("frame.rs")),
    ("kernel/access.rs", include_str!("kernel/access.rs")),
    ("kernel/bounds.rs", include_str!("kernel/bounds.rs")),
    ("kernel/choices.rs", include_str!("kernel/choices.rs")),
    ("kernel/clocks.rs", include_str!("kernel/clocks.rs")),
    ("kernel/knowledge.rs", include_str!("kernel/knowledge.rs")),
    ("kernel/lifetimes.rs", include_str!("kernel/lifetimes.rs")),
    ("kernel/mod.rs", include_str!("kernel/mod.rs")),
    ("kernel/nature.rs", include_str!("kernel/nature.rs")),
    ("kernel/objects.rs", include_str!("kernel/objects.rs")),
    ("kernel/pending.rs", include_str!("kernel/pending.rs")),
    ("kernel/perform.rs", include_str!("kernel/perform.rs")),
    ("kernel/queues.rs", include_str!("kernel/queues.rs")),
    ("kernel/record.rs", include_str!("kernel/record.rs")),
    ("kernel/reduce.rs", include_str!("kernel/reduce.rs")),
    ("kernel/sketch.rs", include_str!("kernel/sketch.rs")),
    ("kernel/spin.rs", include_str!("kernel/spin.rs")),
    ("kernel/threads.rs", include_str!("kernel/threads.rs")),
    ("kernel/time.rs", include_str!("kernel/time.rs")),
    ("kernel/wake.rs", include_str!("kernel/wake.rs")),
    ("kernel/weak/calm.rs", include_str!("kernel/weak/calm.rs")),
    ("kernel/weak/graph.rs", include_str!("kernel/weak/graph.rs")),
    ("kernel/weak/location.rs", include_str!("kernel/weak/location.rs")),
    ("kernel/weak/mod.rs", include_str!("kernel/weak/mod.rs")),
    ("kernel/weak/psc.rs", include_str!("kernel/weak/psc.rs")),
    ("kernel/weak/pure.rs", include_str!("kernel/weak/pure.rs")),
    ("kernel/weak/tso.rs", include_str!("kernel/weak/tso.rs")),
    ("lib.rs", include_str!("lib.rs")),
    ("operation.rs", include_str!("operation.rs")),
    ("plan.rs", include_str!("plan.rs")),
    ("policy/few.rs", include_str!("policy/few.rs")),
    ("policy/genes.rs", include_str!("policy/genes.rs")),
    ("policy/mod.rs", include_str!("policy/mod.rs")),
    ("policy/priorities.rs", include_str!("policy/priorities.rs")),
    ("policy/weighted.rs", include_str!("policy/weighted.rs")),
    ("random.rs", include_str!("random.rs")),
    ("script.rs", include_str!("script.rs")),
];

#[cfg(test)]
mod tests {
    extern crate std;

    use alloc::string::String;
    use alloc::vec::Vec;
    use std::path::Path;

    /// All files below a folder, by their paths relative to `root`.
    fn files(root: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(root, &path, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn no_file_is_missing() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut expected = Vec::new();
        files(&root, &root, &mut expected);
        expected.retain(|name| name != "sources.rs");
        expected.sort();
        let listed: Vec<String> = super::SOURCES.iter().map(|(name, _)| String::from(*name)).collect();
        assert_eq!(listed, expected);
    }
}
