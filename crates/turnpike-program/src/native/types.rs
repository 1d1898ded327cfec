//! Parts of static variables, by the debugging information: `accounts[1].lock` where symbols only
//! give `accounts+48`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use addr2line::gimli::{self, AttributeValue, EndianSlice, RunTimeEndian, UnitOffset, constants as dw};
use object::{Object, ObjectSection};

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Unit<'a> = gimli::Unit<Slice<'a>>;

/// The most nested types that are followed.
const DEEPEST: usize = 32;

/// The types of a file's static variables.
pub(super) struct Types {
    bytes: Vec<u8>,
    /// By address of the variable: the unit that defines it, and its type there.
    variables: BTreeMap<u64, (usize, usize)>,
}

impl Types {
    /// Reads a file's debugging information; without any, there are no types.
    pub(super) fn of(path: &Path) -> Types {
        let mut types = Types { bytes: fs::read(path).unwrap_or_default(), variables: BTreeMap::new() };
        let variables = types.with(|dwarf| index(dwarf).ok());
        types.variables = variables.flatten().unwrap_or_default();
        types
    }

    /// The part of a variable at an offset: `[1].lock`. `None` if it is not known.
    pub(super) fn part(&self, variable: u64, offset: u64) -> Option<String> {
        let &(unit, of) = self.variables.get(&variable)?;
        self.with(|dwarf| {
            let header = dwarf.unit_header(gimli::DebugInfoOffset(unit)).ok()?;
            let unit = dwarf.unit(header).ok()?;
            walk(dwarf, &unit, UnitOffset(of), offset)
        })?
    }

    fn with<T>(&self, ask: impl FnOnce(&gimli::Dwarf<Slice<'_>>) -> T) -> Option<T> {
        let file = object::File::parse(&*self.bytes).ok()?;
        let load = |id: gimli::SectionId| -> Result<Cow<'_, [u8]>, ()> {
            let section = file.section_by_name(id.name());
            Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
        };
        let sections = gimli::DwarfSections::load(load).ok()?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, RunTimeEndian::Little));
        Some(ask(&dwarf))
    }
}

/// All variables that have an address of their own.
fn index(dwarf: &gimli::Dwarf<Slice<'_>>) -> gimli::Result<BTreeMap<u64, (usize, usize)>> {
    let mut found = BTreeMap::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let Some(at) = header.debug_info_offset() else { continue };
        let unit = dwarf.unit(header)?;
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() != dw::DW_TAG_variable {
                continue;
            }
            let Some(AttributeValue::Exprloc(place)) = entry.attr_value(dw::DW_AT_location) else { continue };
            // Only expressions that are just an address.
            let [0x03, address @ ..] = place.0.slice() else { continue };
            let Ok(address) = <[u8; 8]>::try_from(address) else { continue };
            // A variable that is declared elsewhere has its type there.
            let of = match (reference(entry, dw::DW_AT_type), reference(entry, dw::DW_AT_specification)) {
                (Some(of), _) => Some(of),
                (None, Some(declared)) => reference(&unit.entry(declared)?, dw::DW_AT_type),
                (None, None) => None,
            };
            if let Some(of) = of {
                found.insert(u64::from_le_bytes(address), (at.0, of.0));
            }
        }
    }
    Ok(found)
}

type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

fn reference(entry: &Entry<'_>, name: gimli::DwAt) -> Option<UnitOffset> {
    match entry.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

fn number(entry: &Entry<'_>, name: gimli::DwAt) -> Option<u64> {
    entry.attr_value(name)?.udata_value()
}

/// The children of an entry.
fn children<'a>(unit: &Unit<'a>, of: UnitOffset) -> Option<Vec<Entry<'a>>> {
    let mut tree = unit.entries_tree(Some(of)).ok()?;
    let mut nodes = tree.root().ok()?.children();
    let mut found = Vec::new();
    while let Some(node) = nodes.next().ok()? {
        found.push(node.entry().clone());
    }
    Some(found)
}

/// Bytes of a type.
fn size(unit: &Unit<'_>, mut of: UnitOffset) -> Option<u64> {
    for _ in 0..DEEPEST {
        let entry = unit.entry(of).ok()?;
        if let Some(size) = number(&entry, dw::DW_AT_byte_size) {
            return Some(size);
        }
        let inner = reference(&entry, dw::DW_AT_type)?;
        if entry.tag() == dw::DW_TAG_array_type {
            return Some(size(unit, inner)? * lengths(unit, of)?.iter().product::<u64>());
        }
        of = inner;
    }
    None
}

/// The lengths of an array, one for each dimension.
fn lengths(unit: &Unit<'_>, array: UnitOffset) -> Option<Vec<u64>> {
    let ranges = children(unit, array)?.into_iter().filter(|entry| entry.tag() == dw::DW_TAG_subrange_type);
    ranges
        .map(|range| {
            let last = || number(&range, dw::DW_AT_upper_bound)?.checked_add(1);
            number(&range, dw::DW_AT_count).or_else(last)
        })
        .collect()
}

/// The path from a type to its part at an offset. It ends at names that begin with an underscore:
/// these are internal to a library.
fn walk(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    unit: &Unit<'_>,
    mut of: UnitOffset,
    mut offset: u64,
) -> Option<String> {
    let mut way = String::new();
    for _ in 0..DEEPEST {
        let entry = unit.entry(of).ok()?;
        match entry.tag() {
            dw::DW_TAG_array_type => {
                let inner = reference(&entry, dw::DW_AT_type)?;
                let step = size(unit, inner).filter(|step| *step > 0)?;
                let mut rest = offset / step;
                let mut indices = Vec::new();
                for length in lengths(unit, of)?.iter().rev() {
                    indices.push(rest % (*length).max(1));
                    rest /= (*length).max(1);
                }
                way.extend(indices.iter().rev().map(|index| format!("[{index}]")));
                (of, offset) = (inner, offset % step);
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type => {
                let member = children(unit, of)?.into_iter().find_map(|member| {
                    let inherited = member.tag() == dw::DW_TAG_inheritance;
                    if !inherited && member.tag() != dw::DW_TAG_member {
                        return None;
                    }
                    let inner = reference(&member, dw::DW_AT_type)?;
                    let start = number(&member, dw::DW_AT_data_member_location).unwrap_or(0);
                    let within = (start..start.saturating_add(size(unit, inner)?)).contains(&offset);
                    let name =
                        member.attr_value(dw::DW_AT_name).and_then(|name| dwarf.attr_string(unit, name).ok());
                    let name = name.map(|name| name.to_string_lossy().into_owned());
                    within.then_some((inner, start, name))
                });
                let Some((inner, start, name)) = member else { break };
                if let Some(name) = name {
                    if name.starts_with('_') {
                        break;
                    }
                    way.push('.');
                    way.push_str(&name);
                }
                (of, offset) = (inner, offset - start);
            }
            dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_atomic_type => of = reference(&entry, dw::DW_AT_type)?,
            _ => break,
        }
    }
    (offset == 0).then_some(way)
}
