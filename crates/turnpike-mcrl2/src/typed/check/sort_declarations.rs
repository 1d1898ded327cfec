//! Sort declarations: interns aliases and structured sorts.

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::Diagnostic;

use super::checker::Checker;
use crate::syntax::{self, BuiltinSort, Container, SortDeclaration, Span, Specification, Symbol};
use crate::typed::program::Program;
use crate::typed::sorts::{MAX_DEPTH, Sort, SortId, StructConstructor, StructField};

/// The meaning of a declared sort name.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamedSort {
    /// A resolved sort.
    Done(SortId),
    /// An alias that has not been needed yet.
    Waiting(syntax::SortId),
    /// An alias that is being resolved. Meeting it again is a cycle.
    Open,
}

/// The names that are being resolved.
#[derive(Debug, Default)]
pub(super) struct Resolver {
    names: FxHashMap<Symbol, NamedSort>,
    inline: FxHashMap<Box<[StructConstructor]>, SortId>,
    /// Structs that contain an alias that is being resolved. Their constructors are added when the
    /// alias is known.
    incomplete: Vec<(SortId, syntax::SortId)>,
    depth: usize,
}

impl Checker<'_> {
    /// Declares all sorts.
    pub(super) fn declare_sorts(&mut self, specification: &Specification) {
        let mut structs = Vec::new();
        let mut names = Vec::new();
        let mut repeated = Vec::new();
        for declaration in specification.sorts() {
            match declaration {
                SortDeclaration::Basic { names: all, .. } => {
                    for name in all {
                        let word = self.word(name.symbol);
                        if self.is_new_sort(word, name.span) {
                            let sort = self.program.sorts.add_basic(word, name.span);
                            self.resolver.names.insert(word, NamedSort::Done(sort));
                            names.push(word);
                        }
                    }
                }
                SortDeclaration::Alias { name, sort, .. } => {
                    let word = self.word(name.symbol);
                    if self.resolver.names.contains_key(&word) {
                        repeated.push((*name, *sort));
                        continue;
                    }
                    names.push(word);
                    let named = match self.tree.sort(*sort) {
                        syntax::Sort::Struct(constructors) => {
                            let id = self.program.sorts.add_struct(Some(word), name.span);
                            self.resolved[sort.index()] = Some(id);
                            structs.push((id, constructors));
                            NamedSort::Done(id)
                        }
                        _ => NamedSort::Waiting(*sort),
                    };
                    self.resolver.names.insert(word, named);
                }
            }
        }
        for (id, constructors) in structs {
            let constructors = self.resolve_constructors(constructors);
            if let Some(&same) = self.resolver.inline.get(&constructors) {
                let span = self.program.sorts.structure(id).map(|one| one.span).unwrap_or_default();
                let message = format!(
                    "sorts {} and {} have the same definition",
                    self.sort_text(same),
                    self.sort_text(id)
                );
                self.error_with_help(span, message, "make one of them an alias of the other");
            } else {
                self.resolver.inline.insert(constructors.clone(), id);
            }
            if let Sort::Struct(index) = *self.program.sorts.get(id) {
                self.program.sorts.structs[index as usize].constructors = constructors;
            }
        }
        for word in names {
            let sort = self.resolve_name(word, Span::default());
            self.program.name_sort(word, sort);
        }
        for (name, sort) in repeated {
            self.check_repeated(name, sort);
        }
        self.check_recursion();
    }

    /// An alias may be repeated with the same definition. Specifications assembled from parts do
    /// that.
    fn check_repeated(&mut self, name: syntax::Name, definition: syntax::SortId) {
        let word = self.word(name.symbol);
        let first = self.resolve_name(word, name.span);
        let second = match self.tree.sort(definition) {
            syntax::Sort::Struct(constructors) => {
                let constructors = self.resolve_constructors(constructors);
                let same =
                    self.program.sorts.structure(first).is_some_and(|one| one.constructors == constructors);
                if same { first } else { SortId::UNKNOWN }
            }
            _ => self.resolve_sort(definition),
        };
        self.resolved[definition.index()] = Some(first);
        if first == second {
            let message = format!("sort {} is declared again in the same way", self.text(word));
            self.report(Diagnostic::warning(message).at(name.span.range(), ""));
        } else {
            let message = format!("sort {} is declared twice", self.text(word));
            self.error(name.span, message);
        }
    }

    fn is_new_sort(&mut self, word: Symbol, span: Span) -> bool {
        let Some(known) = self.resolver.names.get(&word) else { return true };
        let basic = match known {
            NamedSort::Done(sort) => matches!(self.program.sorts.get(*sort), Sort::Basic(_)),
            _ => false,
        };
        if basic {
            let message = format!("sort {} is declared again in the same way", self.text(word));
            self.report(Diagnostic::warning(message).at(span.range(), ""));
        } else {
            let message = format!("sort {} is declared twice", self.text(word));
            self.error(span, message);
        }
        false
    }

    fn resolve_constructors(&mut self, constructors: &[syntax::Constructor]) -> Box<[StructConstructor]> {
        let mut all = Vec::with_capacity(constructors.len());
        for constructor in constructors {
            let mut fields = Vec::with_capacity(constructor.fields.len());
            for field in &constructor.fields {
                let projection = field.projection.map(|name| self.word(name.symbol));
                fields.push(StructField { projection, sort: self.resolve_sort(field.sort) });
            }
            all.push(StructConstructor {
                name: self.word(constructor.name.symbol),
                fields: fields.into(),
                recogniser: constructor.recogniser.map(|name| self.word(name.symbol)),
            });
        }
        all.into()
    }

    /// The interned sort of a sort expression.
    pub(super) fn resolve_sort(&mut self, id: syntax::SortId) -> SortId {
        if let Some(sort) = self.resolved[id.index()] {
            return sort;
        }
        let span = self.tree.sort_span(id);
        if self.resolver.depth > MAX_DEPTH {
            self.too_deep(span);
            return SortId::UNKNOWN;
        }
        self.resolver.depth += 1;
        let tree = self.tree;
        let sort = match tree.sort(id) {
            syntax::Sort::Builtin(builtin) => match builtin {
                BuiltinSort::Bool => SortId::BOOL,
                BuiltinSort::Pos => SortId::POS,
                BuiltinSort::Nat => SortId::NAT,
                BuiltinSort::Int => SortId::INT,
                BuiltinSort::Real => SortId::REAL,
            },
            syntax::Sort::Container(container, element) => {
                let element = self.resolve_sort(*element);
                let sort = self.program.sorts.container(*container, element);
                if sort == SortId::UNKNOWN && element != SortId::UNKNOWN {
                    self.too_deep(span);
                }
                sort
            }
            syntax::Sort::Name(symbol) => self.resolve_name(self.word(*symbol), span),
            syntax::Sort::Function { domain, codomain } => {
                let domain: Vec<SortId> = domain.iter().map(|&one| self.resolve_sort(one)).collect();
                let codomain = self.resolve_sort(*codomain);
                let sort = self.program.sorts.function(&domain, codomain);
                if sort == SortId::UNKNOWN && codomain != sort && !domain.contains(&sort) {
                    self.too_deep(span);
                }
                sort
            }
            syntax::Sort::Struct(_) if self.needs_open_alias(id) => {
                let sort = self.program.sorts.add_struct(None, span);
                self.resolver.incomplete.push((sort, id));
                sort
            }
            syntax::Sort::Struct(constructors) => {
                let constructors = self.resolve_constructors(constructors);
                match self.resolver.inline.get(&constructors) {
                    Some(&known) => known,
                    None => {
                        let sort = self.program.sorts.add_struct(None, span);
                        self.resolver.inline.insert(constructors.clone(), sort);
                        if let Some(last) = self.program.sorts.structs.last_mut() {
                            last.constructors = constructors;
                        }
                        sort
                    }
                }
            }
        };
        self.resolver.depth -= 1;
        self.resolved[id.index()] = Some(sort);
        sort
    }

    /// Whether a sort contains an alias that is being resolved, directly or through others.
    fn needs_open_alias(&self, id: syntax::SortId) -> bool {
        let (mut todo, mut seen) = (vec![id], Vec::new());
        while let Some(id) = todo.pop() {
            match self.tree.sort(id) {
                syntax::Sort::Builtin(_) => {}
                syntax::Sort::Container(_, element) => todo.push(*element),
                syntax::Sort::Function { domain, codomain } => {
                    todo.extend(domain.iter().chain([codomain]));
                }
                syntax::Sort::Struct(constructors) => {
                    todo.extend(
                        constructors.iter().flat_map(|one| one.fields.iter().map(|field| field.sort)),
                    );
                }
                syntax::Sort::Name(symbol) => match self.resolver.names.get(&self.word(*symbol)) {
                    Some(NamedSort::Open) => return true,
                    Some(NamedSort::Waiting(definition)) if !seen.contains(definition) => {
                        seen.push(*definition);
                        todo.push(*definition);
                    }
                    _ => {}
                },
            }
        }
        false
    }

    /// Adds the constructors of structs that waited for an alias, as soon as all their aliases are
    /// known.
    fn complete_structs(&mut self) {
        let incomplete = std::mem::take(&mut self.resolver.incomplete);
        for (sort, id) in incomplete {
            if self.needs_open_alias(id) {
                self.resolver.incomplete.push((sort, id));
                continue;
            }
            let tree = self.tree;
            let syntax::Sort::Struct(constructors) = tree.sort(id) else { continue };
            let constructors = self.resolve_constructors(constructors);
            if let Sort::Struct(index) = *self.program.sorts.get(sort) {
                self.resolver.inline.entry(constructors.clone()).or_insert(sort);
                self.program.sorts.structs[index as usize].constructors = constructors;
            }
        }
    }

    fn too_deep(&mut self, span: Span) {
        self.error(span, format!("sorts may nest {MAX_DEPTH} levels deep, not more"));
    }

    fn resolve_name(&mut self, word: Symbol, span: Span) -> SortId {
        match self.resolver.names.get(&word) {
            Some(NamedSort::Done(sort)) => *sort,
            Some(NamedSort::Waiting(definition)) => {
                let definition = *definition;
                self.resolver.names.insert(word, NamedSort::Open);
                let sort = self.resolve_sort(definition);
                self.resolver.names.insert(word, NamedSort::Done(sort));
                self.complete_structs();
                sort
            }
            Some(NamedSort::Open) => {
                let message = format!("sort {} is defined by itself", self.text(word));
                self.error_with_help(span, message, "only a struct can be recursive");
                SortId::UNKNOWN
            }
            None => {
                if let Some(sort) = self.program.sort_named(word) {
                    return sort;
                }
                // `unknown` sorts the names.
                #[allow(clippy::iter_over_hash_type)]
                let mut names: Vec<Symbol> = self.resolver.names.keys().copied().collect();
                for name in ["Bool", "Pos", "Nat", "Int", "Real"] {
                    names.push(self.program.words.intern(name));
                }
                self.unknown(span, "sort", word, &mut names);
                SortId::UNKNOWN
            }
        }
    }

    /// A struct may contain itself, but not below a function, a `Set` or a `Bag`.
    fn check_recursion(&mut self) {
        let sorts = &self.program.sorts;
        let mut wrong = Vec::new();
        for (start, sort) in sorts.iter() {
            let Sort::Struct(index) = sort else { continue };
            let structure = &sorts.structs[*index as usize];
            // For each sort: reached, and reached below a function, Set or Bag.
            let mut seen = vec![[false; 2]; sorts.len()];
            let mut todo: Vec<(SortId, bool)> =
                fields(structure.constructors.iter()).map(|one| (one, false)).collect();
            while let Some((sort, below)) = todo.pop() {
                if std::mem::replace(&mut seen[sort.index()][usize::from(below)], true) {
                    continue;
                }
                match sorts.get(sort) {
                    Sort::Struct(index) => {
                        todo.extend(
                            fields(sorts.structs[*index as usize].constructors.iter())
                                .map(|one| (one, below)),
                        );
                    }
                    Sort::Container(container, element) => {
                        todo.push((*element, below || matches!(container, Container::Set | Container::Bag)));
                    }
                    Sort::Function { domain, codomain } => {
                        todo.extend(domain.iter().chain([codomain]).map(|&part| (part, true)));
                    }
                    _ => {}
                }
            }
            if seen[start.index()][1] {
                wrong.push((start, structure.span));
            }
        }
        for (sort, span) in wrong {
            let message =
                format!("sort {} contains itself below a function, a Set or a Bag", self.sort_text(sort));
            self.error_with_help(span, message, "recursion may go through structs, List, FSet and FBag");
        }
    }

    /// Every sort with constructors must have a value.
    pub(super) fn check_inhabited(&mut self) {
        let program = &self.program;
        let mut filled: Vec<bool> = program
            .sorts
            .iter()
            .map(|(id, sort)| match sort {
                Sort::Struct(_) => false,
                Sort::Basic(_) => program.constructors(id).is_empty(),
                Sort::Function { .. } => false,
                _ => true,
            })
            .collect();
        loop {
            let mut changed = false;
            for (id, sort) in program.sorts.iter() {
                if filled[id.index()] {
                    continue;
                }
                let now = match sort {
                    Sort::Function { codomain, .. } => filled[codomain.index()],
                    // A struct written inline has no functions, but it has values.
                    Sort::Struct(index) if program.constructors(id).is_empty() => program.sorts.structs
                        [*index as usize]
                        .constructors
                        .iter()
                        .any(|one| one.fields.iter().all(|field| filled[field.sort.index()])),
                    _ => program
                        .constructors(id)
                        .iter()
                        .any(|&one| program.signature(one).0.iter().all(|sort| filled[sort.index()])),
                };
                filled[id.index()] = now;
                changed |= now;
            }
            if !changed {
                break;
            }
        }
        let empty: Vec<(SortId, Span)> = program
            .sorts
            .iter()
            .filter(|(id, _)| !filled[id.index()])
            .filter_map(|(id, sort)| match sort {
                Sort::Struct(index) => Some((id, program.sorts.structs[*index as usize].span)),
                Sort::Basic(index) => Some((id, program.sorts.basics[*index as usize].span)),
                _ => None,
            })
            .collect();
        for (sort, span) in empty {
            let message = format!(
                "sort {} is empty: every constructor needs a value of it first",
                self.sort_text(sort)
            );
            self.error_with_help(span, message, "add a constructor that does not need one");
        }
    }
}

fn fields<'a>(constructors: impl Iterator<Item = &'a StructConstructor>) -> impl Iterator<Item = SortId> {
    constructors.flat_map(|one| one.fields.iter().map(|field| field.sort))
}

impl Program {
    /// The sort of a declared name, including aliases.
    pub fn sort_named(&self, name: Symbol) -> Option<SortId> {
        self.sort_names.get(&name).copied()
    }

    pub(super) fn name_sort(&mut self, name: Symbol, sort: SortId) {
        self.sort_names.insert(name, sort);
    }
}
