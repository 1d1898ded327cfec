//! Decides whether the library works on the target, and tells `turnpike-preload` where the sources
//! are, which compiles them a second time as the library to preload.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(supported)");
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    let setting = |name: &str| env::var(name).unwrap_or_default();
    let libc = setting("CARGO_CFG_TARGET_ENV");
    let linux = setting("CARGO_CFG_TARGET_OS") == "linux"
        && matches!(setting("CARGO_CFG_TARGET_ARCH").as_str(), "x86_64" | "aarch64");
    if linux && libc == "gnu" {
        println!("cargo::rustc-cfg=supported");
    }
    // A host that is linked with musl embeds the library as well, built for the GNU C library.
    println!("cargo::metadata=supported={}", linux && matches!(libc.as_str(), "gnu" | "musl"));
    println!("cargo::metadata=sources={}/src", setting("CARGO_MANIFEST_DIR"));
}
