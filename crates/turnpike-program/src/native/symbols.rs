//! Resolves addresses to source positions and variables, by the symbols and debugging information
//! of the program and its libraries. Addresses are the same in all executions, so results are
//! cached.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ObjectSymbol, SymbolKind};
use turnpike_preload::dump::Dump;
use turnpike_scheduler::{Frame, Origin, SourceLine};

use super::types::Types;
use super::unwind::{self, Tables};
use crate::stack::origin;

/// A part of the address space that a file is loaded into.
struct Module {
    path: PathBuf,
    start: u64,
    end: u64,
    /// What to subtract from addresses to get the file's own.
    bias: u64,
    /// Loaded when it is first needed; the inner `None` after a failure.
    loader: Option<Option<Loader>>,
    /// Static variables: address, size, name; sorted.
    variables: Option<Vec<(u64, u64, String)>>,
    /// The types of static variables.
    types: Option<Types>,
    /// How to find callers.
    tables: Option<Tables>,
}

/// The program and its libraries.
#[derive(Default)]
pub(crate) struct Symbols {
    modules: Vec<Module>,
    frames: BTreeMap<u64, Vec<Frame>>,
}

impl Symbols {
    /// What a process has loaded.
    pub(crate) fn of_process(process: u32) -> Symbols {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let mut modules: Vec<Module> = Vec::new();
        for line in maps.lines() {
            let Some((start, end, offset, path)) = mapping(line) else { continue };
            match modules.iter_mut().find(|module| module.path == path) {
                Some(module) => module.end = module.end.max(end),
                None => {
                    let fixed = is_fixed(&path);
                    let bias = if fixed { 0 } else { start.wrapping_sub(offset) };
                    modules.push(Module {
                        path,
                        start,
                        end,
                        bias,
                        loader: None,
                        variables: None,
                        types: None,
                        tables: None,
                    });
                }
            }
        }
        Symbols { modules, frames: BTreeMap::new() }
    }

    /// The files of what is loaded.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.modules.iter().map(|module| module.path.clone()).collect()
    }

    /// `file.c:31`, or `module+0x1234`, or the bare address: of the functions that the compiler
    /// inlined there, the innermost that is the user's. The address is the one after a call.
    pub(super) fn site(&mut self, address: u64) -> String {
        if address == 0 {
            return "?".into();
        }
        let frames = self.frames(address);
        let frame = frames.iter().find(|frame| frame.is_user()).or(frames.first());
        frame.map_or_else(|| format!("{address:#x}"), Frame::position)
    }

    /// The functions at an address, inlined ones first. The address is the one after a call.
    pub(crate) fn frames(&mut self, address: u64) -> &[Frame] {
        if !self.frames.contains_key(&address) {
            let frames = self.look_up(address);
            self.frames.insert(address, frames);
        }
        &self.frames[&address]
    }

    /// The return addresses of the calls that a thread is in, innermost first.
    pub(super) fn unwind(&mut self, dump: &Dump) -> Vec<u64> {
        unwind::unwind(dump, |address, registers, stack| {
            let module = self.modules.iter_mut().find(|m| (m.start..m.end).contains(&address))?;
            let tables = module.tables.get_or_insert_with(|| Tables::of(&module.path));
            tables.step(address.wrapping_sub(module.bias).wrapping_sub(1), registers, stack)
        })
    }

    fn look_up(&mut self, address: u64) -> Vec<Frame> {
        let Some(module) = self.modules.iter_mut().find(|m| (m.start..m.end).contains(&address)) else {
            let code = format!("{address:#x}");
            return vec![Frame { function: None, place: None, source: None, code, origin: Origin::Library }];
        };
        let own = address.wrapping_sub(module.bias);
        // The call, not what comes after it.
        let probe = own.wrapping_sub(1);
        let file = module.path.file_name().unwrap_or_default().to_string_lossy();
        // The library that is preloaded into programs is a file in memory.
        let file = file.strip_prefix("memfd:").map_or(&*file, |name| name.trim_end_matches(" (deleted)"));
        let code = format!("{file}+{own:#x}");
        let loader = module.loader.get_or_insert_with(|| Loader::new(&module.path).ok()).as_ref();
        let symbol = loader.and_then(|loader| loader.find_symbol(probe)).map(readable);
        let mut frames = loader.map_or(Vec::new(), |loader| frames_of(loader, probe, &module.path));
        match frames.last_mut() {
            // The debugging information has no names of functions.
            Some(frame) if frame.function.is_none() => {
                let symbol = symbol.as_deref();
                if frame.is_user() {
                    frame.origin = origin(symbol, None, &module.path);
                }
                frame.function = symbol.map(str::to_owned);
            }
            // Line tables have names without the modules they are in; symbols have both.
            Some(frame) => {
                if let Some(symbol) = symbol.filter(|symbol| symbol.contains("::"))
                    && frame.function.as_ref().is_some_and(|name| !name.contains("::"))
                {
                    frame.function = Some(symbol.into_owned());
                }
            }
            None => frames.push(Frame {
                origin: origin(symbol.as_deref(), None, &module.path),
                function: symbol.map(Cow::into_owned),
                place: None,
                source: None,
                code: String::new(),
            }),
        }
        for frame in &mut frames {
            frame.code.clone_from(&code);
        }
        frames
    }

    /// The static variable at an address, and which part of it: `accounts[1].lock`. Without types,
    /// with an index if it could be an array of elements of this size: `forks[3]`.
    pub(super) fn variable(&mut self, address: u64, size: u64) -> Option<String> {
        let module = self.modules.iter_mut().find(|m| (m.start..m.end).contains(&address))?;
        let own = address.wrapping_sub(module.bias);
        let variables = module.variables.get_or_insert_with(|| variables_of(&module.path));
        let behind = variables.partition_point(|(start, _, _)| *start <= own);
        let (start, length, name) = variables.get(behind.checked_sub(1)?)?;
        let offset = own - start;
        if offset >= (*length).max(1) {
            return None;
        }
        let name = readable(name);
        let types = module.types.get_or_insert_with(|| Types::of(&module.path));
        if let Some(part) = types.part(*start, offset) {
            return Some(format!("{name}{part}"));
        }
        Some(match offset {
            _ if size > 0 && *length > size && length % size == 0 && offset % size == 0 => {
                format!("{name}[{}]", offset / size)
            }
            0 => name.into_owned(),
            _ => format!("{name}+{offset}"),
        })
    }
}

/// The name as the source has it. Names of C stay as they are, even those that would mean something
/// in C++.
pub(super) fn readable(name: &str) -> Cow<'_, str> {
    if !(name.starts_with("_Z") || name.starts_with("_R")) {
        return name.into();
    }
    let mut text = addr2line::demangle_auto(name.into(), None);
    // Rust's old way of making symbols unique.
    let hash = text.rfind("::h").filter(|at| {
        let digits = &text[at + 3..];
        digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    if let Some(at) = hash {
        text.to_mut().truncate(at);
    }
    text
}

/// Start, end, offset and path of a line of `maps` that maps a file.
fn mapping(line: &str) -> Option<(u64, u64, u64, PathBuf)> {
    let path = line.find('/').map(|at| &line[at..])?;
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?, number(offset)?, PathBuf::from(path)))
}

/// Whether a file is loaded where its own addresses say.
fn is_fixed(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0u8; 18];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start[16] == object::elf::ET_EXEC.0 as u8
}

/// The functions whose source is known at an address, inlined ones first.
fn frames_of(loader: &Loader, probe: u64, loaded: &Path) -> Vec<Frame> {
    let mut out = Vec::new();
    let Ok(mut frames) = loader.find_frames(probe) else { return out };
    while let Ok(Some(frame)) = frames.next() {
        let Some(location) = frame.location else { continue };
        let (Some(file), Some(line)) = (location.file, location.line) else { continue };
        let function = frame.function.and_then(|name| Some(readable(&name.raw_name().ok()?).into_owned()));
        let function = function.map(|name| qualified(name, file));
        let origin = origin(function.as_deref(), Some(file), loaded);
        let place = Some(format!("{}:{line}", shortened(file)));
        let source = Some(SourceLine { file: file.to_owned(), line });
        out.push(Frame { function, place, source, code: String::new(), origin });
    }
    out
}

/// The name of an inlined function with its module, for Rust's own libraries: line tables do not
/// have the module, but their paths do.
fn qualified(function: String, file: &str) -> String {
    let inside = file.split_once("/library/").and_then(|(_, inside)| inside.strip_suffix(".rs"));
    let Some((library, module)) = inside.and_then(|inside| inside.split_once("/src/")) else {
        return function;
    };
    if function.contains("::") || !file.starts_with("/rustc/") {
        return function;
    }
    format!("{library}::{}::{function}", module.replace('/', "::"))
}

/// Paths below the current directory are shown relative to it.
fn shortened(file: &str) -> String {
    let path = Path::new(file);
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

fn variables_of(path: &Path) -> Vec<(u64, u64, String)> {
    let Ok(bytes) = fs::read(path) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let mut variables: Vec<(u64, u64, String)> = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.address() != 0)
        .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned())))
        .collect();
    // Of several names for one address, the one with the largest size.
    variables.sort_by(|a, b| (a.0, b.1, &a.2).cmp(&(b.0, a.1, &b.2)));
    variables.dedup_by_key(|(address, _, _)| *address);
    variables
}
