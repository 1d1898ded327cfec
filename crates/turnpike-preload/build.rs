//! Compiles the guest library and the scheduler's kernel for it, so that they can be embedded.
//!
//! The compiler is called directly: the library has no dependencies and must not share any code or
//! setting with the program that embeds it. Where the library does not work, an empty file takes
//! its place.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Both are told by the build script of `turnpike-guest`.
    let guest =
        PathBuf::from(env::var_os("DEP_TURNPIKE_GUEST_SOURCES").expect("turnpike-guest says where it is"));
    let supported = env::var("DEP_TURNPIKE_GUEST_SUPPORTED").is_ok_and(|supported| supported == "true");
    println!("cargo::rerun-if-changed={}", guest.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = out.join("libturnpike_guest.so");
    if !supported {
        fs::write(library, []).expect("the output directory can be written");
        return;
    }
    let kernel = out.join("libturnpike_scheduler.rlib");
    let sources = out.join("kernel");
    for (name, text) in turnpike_scheduler::SOURCES {
        let path = sources.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&sources)).expect("the output directory can be written");
        fs::write(path, text).expect("the output directory can be written");
    }
    compile("turnpike_scheduler", "rlib", &sources.join("lib.rs"), &kernel, &[]);
    let external = format!("--extern=turnpike_scheduler={}", kernel.display());
    compile(
        "turnpike_guest",
        "cdylib",
        &guest.join("lib.rs"),
        &library,
        &[
            &external,
            "--cfg=supported",
            "--cfg=embedded",
            "--check-cfg=cfg(supported, embedded, test)",
            "-Crelocation-model=pic",
            "-Cforce-unwind-tables=yes",
            "-Clink-arg=-Wl,-z,now",
            // Programs linked with `-fsanitize=thread` want the sanitizer's library, and get ours
            // instead: the name is replaced.
            "-Clink-arg=-Wl,-soname,libturnpike_in_place_of_the_sanitizers_library.so",
            "-Cstrip=symbols",
        ],
    );
}

fn compile(name: &str, kind: &str, source: &Path, output: &Path, more: &[&str]) {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // The library is loaded into programs that use the GNU C library, whatever the host is linked with.
    let host_target = env::var("TARGET").expect("cargo sets TARGET");
    let target = host_target.replace("-musl", "-gnu");
    let mut command = Command::new(rustc);
    command
        .args(["--crate-name", name, "--crate-type", kind, "--edition=2024", "--target", &target])
        .args(["-Cpanic=abort", "-Copt-level=3", "-Ccodegen-units=1", "-Coverflow-checks=off", "-o"])
        .arg(output)
        .arg(source)
        .args(more);
    if let Some(linker) = env::var_os("RUSTC_LINKER").filter(|_| target == host_target) {
        let mut argument = std::ffi::OsString::from("-Clinker=");
        argument.push(linker);
        command.arg(argument);
    }
    // Settings for the program that embeds the library (instrumentation, other linkers) are not for
    // the library.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().unwrap_or_else(|error| panic!("rustc could not be started: {error}"));
    if !output.status.success() {
        panic!(
            "the guest library could not be compiled for {target}; `rustup target add {target}` may help:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let warnings = String::from_utf8_lossy(&output.stderr);
    for line in warnings.lines() {
        println!("cargo::warning={line}");
    }
}
