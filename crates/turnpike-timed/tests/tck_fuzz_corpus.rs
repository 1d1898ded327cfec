//! The inputs of the fuzz target for `.tck` files, without the fuzzer.

use std::path::Path;

use turnpike_timed::tck;

#[test]
fn every_input_is_read_or_refused_and_survives_writing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/tck_parser");
    let entries = std::fs::read_dir(folder).expect("a corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut read = Vec::new();
    for path in &paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = std::fs::read(path).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        let (network, diagnostics) = match tck::read(&text) {
            Ok((network, warnings)) => (Some(network), warnings),
            Err(errors) => (None, errors),
        };
        for diagnostic in &diagnostics {
            let range = diagnostic.span.clone().expect("every error has a place").range;
            assert!(text.get(range).is_some(), "{name}: {diagnostic:?}");
        }
        let Some(network) = network else {
            assert!(!diagnostics.is_empty(), "{name}");
            continue;
        };
        let written = tck::write(&network).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let (again, _) = tck::read(&written).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{written}"));
        assert_eq!(tck::write(&again).as_ref(), Ok(&written), "{name}");
        read.push(name);
    }
    assert_eq!(read, ["crlf.tck", "everything.tck", "odd_but_legal.tck"]);
    assert_eq!(paths.len(), 11);
}
