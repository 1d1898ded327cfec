//! Compiles the programs of experiments, as `models/programs/build.sh` does.

use std::path::{Path, PathBuf};
use std::process::Command;

use turnpike_model::Diagnostic;
use turnpike_session::HEADER;

use crate::experiment::Setting;

/// The flags of the compiler that change what a program does.
pub(super) fn flags(setting: &Setting) -> Vec<String> {
    let usual = ["-g", "-O1"].map(str::to_owned);
    let hooks = setting.hooks.then(|| "-fsanitize=thread".to_owned());
    usual.into_iter().chain(hooks).chain(setting.compile.iter().cloned()).collect()
}

/// Compiles the program at `source` into the folder.
pub(super) fn program(setting: &Setting, source: &str, folder: &Path) -> Result<PathBuf, Diagnostic> {
    let header = folder.join("turnpike.h");
    std::fs::write(&header, HEADER)
        .map_err(|error| Diagnostic::error(format!("cannot write {}: {error}", header.display())))?;
    let name = if source.ends_with(".c") { compiler("CC", "gcc") } else { compiler("CXX", "g++") };
    let object = folder.join("program.o");
    let binary = folder.join(setting.program());
    let mut compile = Command::new(&name);
    compile.args(flags(setting)).arg("-I").arg(folder).arg("-c").arg(source).arg("-o").arg(&object);
    let mut link = Command::new(&name);
    link.arg(&object).args(["-pthread", "-o"]).arg(&binary);
    if setting.hooks {
        // turnpike answers the calls that the sanitiser's flag puts in: they stay open until then.
        link.args(["-rdynamic", "-Wl,--unresolved-symbols=ignore-in-object-files"]);
    }
    for command in [&mut compile, &mut link] {
        let failed = |why: String| Diagnostic::error(format!("cannot compile {source}: {why}"));
        let output = command.output().map_err(|error| {
            failed(format!("{name}: {error}")).help("install a C compiler, or name one with CC and CXX")
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(said.lines().find(|line| line.contains("error")).unwrap_or(&said).to_owned()));
        }
    }
    Ok(binary)
}

fn compiler(variable: &str, usual: &str) -> String {
    std::env::var(variable).ok().filter(|name| !name.is_empty()).unwrap_or_else(|| usual.to_owned())
}
