//! The sorts of a specification, interned: equal sorts have equal ids, and aliases are replaced by
//! their definitions.

use rustc_hash::FxHashMap;

use crate::syntax::{Container, Span, Symbol, Symbols};

/// The deepest nesting of sorts, as in `List(List(…))`. It bounds the recursion of walks over
/// sorts.
pub const MAX_DEPTH: usize = 200;

/// An interned sort in [`Sorts`]. The ids of the built-in sorts are constants of this type, and
/// numbers are ordered: `POS < NAT < INT < REAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortId(u32);

impl SortId {
    /// `Bool`
    pub const BOOL: SortId = SortId(0);
    /// `Pos`
    pub const POS: SortId = SortId(1);
    /// `Nat`
    pub const NAT: SortId = SortId(2);
    /// `Int`
    pub const INT: SortId = SortId(3);
    /// `Real`
    pub const REAL: SortId = SortId(4);
    /// The result of an erroneous declaration. Never part of a program without errors.
    pub const UNKNOWN: SortId = SortId(5);

    pub(crate) fn new(index: u32) -> SortId {
        SortId(index)
    }

    /// Dense, from 0: an index for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is `Pos`, `Nat`, `Int` or `Real`.
    pub fn is_number(self) -> bool {
        (1..=4).contains(&self.0)
    }

    /// The next smaller number sort: `Int` for `Real`, `None` for `Pos`.
    pub fn smaller_number(self) -> Option<SortId> {
        (2..=4).contains(&self.0).then(|| SortId(self.0 - 1))
    }
}

/// A sort without aliases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// 1, 2, 3, …
    Pos,
    /// 0, 1, 2, …
    Nat,
    /// Integers.
    Int,
    /// Rational numbers.
    Real,
    /// The result of an erroneous declaration.
    Unknown,
    /// `List(S)`, `Set(S)` and so on.
    Container(Container, SortId),
    /// `A # B -> C`
    Function {
        /// At least one.
        domain: Box<[SortId]>,
        /// The result.
        codomain: SortId,
    },
    /// A sort declared without definition. Its constructors, if any, are in `cons` sections. An
    /// index into [`Sorts::basics`].
    Basic(u32),
    /// A structured sort: an index into [`Sorts::structs`].
    Struct(u32),
}

/// A sort declared by `sort D;`.
#[derive(Clone, Debug)]
pub struct Basic {
    /// Its name.
    pub name: Symbol,
    /// The position of its declaration.
    pub span: Span,
}

/// A structured sort.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// The alias it was declared by. `None` for a struct written inline, whose constructors cannot
    /// be used.
    pub name: Option<Symbol>,
    /// The position of its declaration.
    pub span: Span,
    /// The alternatives in order of declaration, which is their order under `<`.
    pub constructors: Box<[StructConstructor]>,
}

/// An alternative of a [`Struct`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructConstructor {
    /// Its name.
    pub name: Symbol,
    /// Its fields; empty for constants.
    pub fields: Box<[StructField]>,
    /// The function that recognises it.
    pub recogniser: Option<Symbol>,
}

/// A field of a [`StructConstructor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StructField {
    /// The function that selects it.
    pub projection: Option<Symbol>,
    /// Its sort.
    pub sort: SortId,
}

/// All sorts of a specification.
#[derive(Clone, Debug)]
pub struct Sorts {
    kinds: Vec<Sort>,
    depths: Vec<u16>,
    ids: FxHashMap<Sort, SortId>,
    /// Sorts declared without definition.
    pub basics: Vec<Basic>,
    /// Structured sorts.
    pub structs: Vec<Struct>,
}

impl Default for Sorts {
    fn default() -> Self {
        let mut sorts = Sorts {
            kinds: Vec::new(),
            depths: Vec::new(),
            ids: FxHashMap::default(),
            basics: Vec::new(),
            structs: Vec::new(),
        };
        for sort in [Sort::Bool, Sort::Pos, Sort::Nat, Sort::Int, Sort::Real, Sort::Unknown] {
            sorts.intern(sort, 0);
        }
        sorts
    }
}

impl Sorts {
    /// Adds the sorts that others have in addition. `false` if they have another sort at some number.
    pub(crate) fn extend_to(&mut self, others: &Sorts) -> bool {
        let common = self.kinds.len().min(others.kinds.len());
        let alike = self.kinds[..common] == others.kinds[..common];
        if alike && others.kinds.len() > common {
            self.clone_from(others);
        }
        alike
    }

    fn intern(&mut self, sort: Sort, depth: usize) -> SortId {
        if let Some(&id) = self.ids.get(&sort) {
            return id;
        }
        let id = SortId(u32::try_from(self.kinds.len()).expect("fewer than 2^32 sorts"));
        self.kinds.push(sort.clone());
        self.depths.push(u16::try_from(depth).unwrap_or(u16::MAX));
        self.ids.insert(sort, id);
        id
    }

    /// The structure of a sort.
    pub fn get(&self, id: SortId) -> &Sort {
        &self.kinds[id.index()]
    }

    /// The number of sorts. Smaller ids are valid.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Always false, because of the built-in sorts.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All sorts by id.
    pub fn iter(&self) -> impl Iterator<Item = (SortId, &Sort)> {
        self.kinds.iter().enumerate().map(|(index, sort)| (SortId(index as u32), sort))
    }

    /// The nesting depth of a sort. Structured sorts and basic sorts are leaves.
    pub fn depth(&self, id: SortId) -> usize {
        usize::from(self.depths[id.index()])
    }

    /// `List(S)`, `Set(S)` and so on. Unknown if the element is unknown or the sort would nest too
    /// deeply.
    pub fn container(&mut self, container: Container, element: SortId) -> SortId {
        let depth = self.depth(element) + 1;
        if element == SortId::UNKNOWN || depth > MAX_DEPTH {
            return SortId::UNKNOWN;
        }
        self.intern(Sort::Container(container, element), depth)
    }

    /// `A # B -> C`, or only `C` without arguments. Unknown if a part is unknown or the sort would
    /// nest too deeply.
    pub fn function(&mut self, domain: &[SortId], codomain: SortId) -> SortId {
        if domain.is_empty() {
            return codomain;
        }
        let parts = || domain.iter().copied().chain([codomain]);
        let depth = parts().map(|part| self.depth(part)).max().unwrap_or(0) + 1;
        if parts().any(|part| part == SortId::UNKNOWN) || depth > MAX_DEPTH {
            return SortId::UNKNOWN;
        }
        self.intern(Sort::Function { domain: domain.into(), codomain }, depth)
    }

    /// A new sort without definition.
    pub fn add_basic(&mut self, name: Symbol, span: Span) -> SortId {
        let index = u32::try_from(self.basics.len()).expect("fewer than 2^32 sorts");
        self.basics.push(Basic { name, span });
        self.intern(Sort::Basic(index), 0)
    }

    /// A new structured sort. Its constructors are to be added to [`Sorts::structs`].
    pub fn add_struct(&mut self, name: Option<Symbol>, span: Span) -> SortId {
        let index = u32::try_from(self.structs.len()).expect("fewer than 2^32 sorts");
        self.structs.push(Struct { name, span, constructors: Box::default() });
        self.intern(Sort::Struct(index), 0)
    }

    /// The arguments and the result of a function sort. Other sorts have no arguments.
    pub fn signature(&self, id: SortId) -> (&[SortId], SortId) {
        match self.get(id) {
            Sort::Function { domain, codomain } => (domain, *codomain),
            _ => (&[], id),
        }
    }

    /// The definition of a structured sort.
    pub fn structure(&self, id: SortId) -> Option<&Struct> {
        match self.get(id) {
            Sort::Struct(index) => Some(&self.structs[*index as usize]),
            _ => None,
        }
    }

    /// The element sort, if the sort is this kind of container.
    pub fn element(&self, container: Container, id: SortId) -> Option<SortId> {
        match self.get(id) {
            Sort::Container(found, element) if *found == container => Some(*element),
            _ => None,
        }
    }

    /// The next smaller sort whose values are implicitly values of this one: `Nat` for `Int`,
    /// `FSet(S)` for `Set(S)`.
    pub fn smaller(&mut self, id: SortId) -> Option<SortId> {
        match *self.get(id) {
            Sort::Container(Container::Set, element) => Some(self.container(Container::FSet, element)),
            Sort::Container(Container::Bag, element) => Some(self.container(Container::FBag, element)),
            _ => id.smaller_number(),
        }
    }

    /// The text of a sort, with structured sorts by name.
    pub fn text(&self, id: SortId, words: &Symbols) -> String {
        let mut text = String::new();
        self.write(id, words, false, &mut text);
        text
    }

    fn write(&self, id: SortId, words: &Symbols, parenthesise: bool, text: &mut String) {
        match self.get(id) {
            Sort::Bool => text.push_str("Bool"),
            Sort::Pos => text.push_str("Pos"),
            Sort::Nat => text.push_str("Nat"),
            Sort::Int => text.push_str("Int"),
            Sort::Real => text.push_str("Real"),
            Sort::Unknown => text.push('?'),
            Sort::Container(container, element) => {
                text.push_str(container.text());
                text.push('(');
                self.write(*element, words, false, text);
                text.push(')');
            }
            Sort::Function { domain, codomain } => {
                if parenthesise {
                    text.push('(');
                }
                for (index, &part) in domain.iter().enumerate() {
                    if index > 0 {
                        text.push_str(" # ");
                    }
                    self.write(part, words, true, text);
                }
                text.push_str(" -> ");
                self.write(*codomain, words, false, text);
                if parenthesise {
                    text.push(')');
                }
            }
            Sort::Basic(index) => text.push_str(words.text(self.basics[*index as usize].name)),
            Sort::Struct(index) => {
                let structure = &self.structs[*index as usize];
                match structure.name {
                    Some(name) => text.push_str(words.text(name)),
                    None => {
                        let names: Vec<&str> =
                            structure.constructors.iter().map(|one| words.text(one.name)).collect();
                        text.push_str("struct ");
                        text.push_str(&names.join(" | "));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_are_interned_and_printed() {
        let (mut sorts, mut words) = (Sorts::default(), Symbols::default());
        let list = sorts.container(Container::List, SortId::NAT);
        assert_eq!(list, sorts.container(Container::List, SortId::NAT));
        let d = sorts.add_basic(words.intern("D"), Span::default());
        let inner = sorts.function(&[list, d], SortId::BOOL);
        let outer = sorts.function(&[inner, SortId::POS], inner);
        assert_eq!(sorts.text(outer, &words), "(List(Nat) # D -> Bool) # Pos -> List(Nat) # D -> Bool");
        assert_eq!(sorts.signature(inner), (&[list, d][..], SortId::BOOL));
        assert_eq!(sorts.depth(outer), 3);
    }

    #[test]
    fn nesting_is_bounded() {
        let (mut sorts, mut sort) = (Sorts::default(), SortId::NAT);
        for _ in 0..MAX_DEPTH {
            sort = sorts.container(Container::List, sort);
        }
        assert_ne!(sort, SortId::UNKNOWN);
        assert_eq!(sorts.container(Container::List, sort), SortId::UNKNOWN);
    }

    #[test]
    fn smaller_sorts() {
        let mut sorts = Sorts::default();
        let set = sorts.container(Container::Set, SortId::NAT);
        let fset = sorts.container(Container::FSet, SortId::NAT);
        assert_eq!((sorts.smaller(set), sorts.smaller(fset)), (Some(fset), None));
        assert_eq!((sorts.smaller(SortId::REAL), sorts.smaller(SortId::POS)), (Some(SortId::INT), None));
    }
}
