//! Which executables can be put under control, and why others cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use turnpike_scheduler::GuestError;

use super::error;

/// The executable's bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, GuestError> {
    let shown = path.display();
    let status = fs::metadata(path).map_err(|why| error(format!("cannot read {shown}: {why}")))?;
    if status.is_dir() {
        return Err(error(format!("{shown} is a directory, not a program")));
    }
    fs::read(path).map_err(|why| error(format!("cannot read {shown}: {why}")))
}

/// Checks the executable, and returns its bytes.
pub(super) fn program(path: &Path) -> Result<Vec<u8>, GuestError> {
    let shown = path.display();
    if !turnpike_preload::SUPPORTED {
        return Err(error(
            "C and C++ programs can be tested on Linux with the GNU C library, on x86-64 and AArch64 processors only",
        ));
    }
    let bytes = read(path)?;
    let mode =
        fs::metadata(path).map_err(|why| error(format!("cannot read {shown}: {why}")))?.permissions().mode();
    if mode & 0o111 == 0 {
        return Err(error(format!("{shown} is not executable (its permissions are {:o})", mode & 0o7777)));
    }
    if mode & 0o6000 != 0 {
        return Err(error(format!(
            "{shown} is setuid or setgid: the system does not let libraries be preloaded into it"
        )));
    }
    if bytes.starts_with(b"#!") {
        return Err(error(format!("{shown} is a script: give the program that it starts")));
    }
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err(error(format!("{shown} is not an ELF executable")));
    }
    if bytes.get(4) != Some(&elf::ELFCLASS64.0) {
        return Err(error(format!("{shown} is a 32-bit program; only 64-bit programs can be tested")));
    }
    let header = elf::FileHeader64::<Endianness>::parse(&*bytes)
        .map_err(|why| error(format!("{shown} is a damaged ELF file: {why}")))?;
    let endian = header.endian().map_err(|why| error(format!("{shown} is a damaged ELF file: {why}")))?;
    let machine = header.e_machine(endian);
    let own = if cfg!(target_arch = "x86_64") { elf::EM_X86_64 } else { elf::EM_AARCH64 };
    if machine != own {
        return Err(error(format!(
            "{shown} is for another processor ({}) than this one ({})",
            processor(machine),
            processor(own)
        )));
    }
    if !matches!(header.e_type(endian), elf::ET_EXEC | elf::ET_DYN) {
        return Err(error(format!("{shown} is an object file or a core file, not a program: link it first")));
    }
    let headers = header
        .program_headers(endian, &*bytes)
        .map_err(|why| error(format!("{shown} is a damaged ELF file: {why}")))?;
    let interpreter = headers.iter().find_map(|header| header.interpreter(endian, &*bytes).ok().flatten());
    match interpreter {
        None => Err(error(format!(
            "{shown} is linked statically (or is a library): nothing can be preloaded into it; link it without -static"
        ))),
        Some(loader) if loader.windows(4).any(|part| part == b"musl") => Err(error(format!(
            "{shown} uses the musl C library; only programs of the GNU C library can be tested"
        ))),
        Some(_) => Ok(bytes),
    }
}

fn processor(machine: elf::Machine) -> String {
    match machine.0 {
        3 => "x86, 32 bits".into(),
        40 => "ARM, 32 bits".into(),
        62 => "x86-64".into(),
        183 => "AArch64".into(),
        243 => "RISC-V".into(),
        other => format!("number {other}"),
    }
}
