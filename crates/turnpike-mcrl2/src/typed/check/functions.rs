//! Function declarations: those that structured sorts imply, and the `cons` and `map` sections.

use turnpike_model::diagnostic::Diagnostic;

use super::checker::Checker;
use crate::syntax::{self, Name, SortDeclaration, Span, Specification, Symbol};
use crate::typed::items::{FunctionSymbol, SymbolKind};
use crate::typed::sorts::{Sort, SortId};

/// The name, the result sort, and the selected fields as alternative and position.
type Projection = (Name, SortId, Vec<(u32, u32)>);

impl Checker<'_> {
    /// Declares all functions and constants.
    pub(super) fn declare_functions(&mut self, specification: &Specification) {
        self.declare_structs(specification);
        for declaration in specification.constructors() {
            let sort = self.resolve_sort(declaration.sort);
            let target = self.program.sorts.signature(sort).1;
            if !matches!(self.program.sorts.get(target), Sort::Basic(_) | Sort::Struct(_) | Sort::Unknown) {
                let message = format!("{} cannot have new constructors", self.sort_text(target));
                self.error_with_help(
                    self.tree.sort_span(declaration.sort),
                    message,
                    "declare functions on it in a map section",
                );
                continue;
            }
            for name in &declaration.names {
                self.declare_function(*name, SymbolKind::Constructor, sort);
            }
        }
        for declaration in specification.maps() {
            let sort = self.resolve_sort(declaration.sort);
            for name in &declaration.names {
                self.declare_function(*name, SymbolKind::Map, sort);
            }
        }
    }

    /// Declares the functions of all structs in sort sections, at any depth. Structs elsewhere have
    /// no functions.
    fn declare_structs(&mut self, specification: &Specification) {
        let tree = self.tree;
        let mut done = Vec::new();
        for declaration in specification.sorts() {
            let SortDeclaration::Alias { sort, .. } = declaration else { continue };
            let mut todo = vec![*sort];
            while let Some(sort) = todo.pop() {
                let first = todo.len();
                match tree.sort(sort) {
                    syntax::Sort::Builtin(_) | syntax::Sort::Name(_) => {}
                    syntax::Sort::Container(_, element) => todo.push(*element),
                    syntax::Sort::Function { domain, codomain } => {
                        todo.extend(domain.iter().chain([codomain]));
                    }
                    syntax::Sort::Struct(constructors) => {
                        if let Some(id) = self.resolved[sort.index()]
                            && !done.contains(&id)
                        {
                            done.push(id);
                            self.declare_struct(id, constructors);
                        }
                        todo.extend(
                            constructors.iter().flat_map(|one| one.fields.iter().map(|field| field.sort)),
                        );
                    }
                }
                todo[first..].reverse();
            }
        }
    }

    fn declare_struct(&mut self, sort: SortId, constructors: &[syntax::Constructor]) {
        for (index, constructor) in constructors.iter().enumerate() {
            let domain: Vec<SortId> =
                constructor.fields.iter().map(|field| self.resolve_sort(field.sort)).collect();
            let function = self.program.sorts.function(&domain, sort);
            let kind = SymbolKind::StructConstructor { sort, index: index as u32 };
            self.declare_function(constructor.name, kind, function);
        }
        // Projections with the same name and sort are one function, declared by the first of them.
        let mut projections: Vec<Projection> = Vec::new();
        for (index, constructor) in constructors.iter().enumerate() {
            for (position, field) in constructor.fields.iter().enumerate() {
                let Some(name) = field.projection else { continue };
                let result = self.resolve_sort(field.sort);
                let place = (index as u32, position as u32);
                let same = projections
                    .iter_mut()
                    .find(|(other, sort, _)| other.symbol == name.symbol && *sort == result);
                match same {
                    Some((_, _, places)) if places.iter().all(|&(other, _)| other != place.0) => {
                        places.push(place);
                    }
                    Some(_) => {
                        let message = format!(
                            "projection {} selects two fields of one constructor",
                            self.text(self.word(name.symbol))
                        );
                        self.error(name.span, message);
                    }
                    None => {
                        if projections.iter().any(|(other, ..)| other.symbol == name.symbol) {
                            let message = format!(
                                "projection {} has different sorts in {}",
                                self.text(self.word(name.symbol)),
                                self.sort_text(sort)
                            );
                            self.report(Diagnostic::warning(message).at(name.span.range(), ""));
                        }
                        projections.push((name, result, vec![place]));
                    }
                }
            }
        }
        for (name, result, places) in projections {
            let function = self.program.sorts.function(&[sort], result);
            self.declare_function(name, SymbolKind::Projection { sort, fields: places.into() }, function);
        }
        for (index, constructor) in constructors.iter().enumerate() {
            let Some(name) = constructor.recogniser else { continue };
            let function = self.program.sorts.function(&[sort], SortId::BOOL);
            self.declare_function(name, SymbolKind::Recogniser { sort, index: index as u32 }, function);
        }
    }

    fn declare_function(&mut self, name: Name, kind: SymbolKind, sort: SortId) {
        let word = self.word(name.symbol);
        if self.builtins.contains_key(&word) {
            let message = format!("{} is a built-in function and cannot be declared again", self.text(word));
            self.error(name.span, message);
        } else if let Some(what) = self.repeated(word, &kind, sort) {
            let message = format!("{what} {} is declared again with the same sort", self.text(word));
            self.report(Diagnostic::warning(message).at(name.span.range(), ""));
        } else if let Some(other) = self.same_function(word, sort) {
            let what = match self.program.sorts.get(sort) {
                Sort::Function { .. } => format!("with the sort {}", self.sort_text(sort)),
                _ => "as a constant".to_owned(),
            };
            let (message, help) =
                (format!("{} is declared twice {what}", self.text(word)), self.declared_as(other, sort));
            self.error_with_help(name.span, message, help);
        } else {
            self.program.declare(FunctionSymbol { name: word, kind, sort, span: name.span });
        }
    }

    /// Whether a declaration repeats one of a map or cons section, and of which. Specifications
    /// assembled from parts do that.
    fn repeated(&self, word: Symbol, kind: &SymbolKind, sort: SortId) -> Option<&'static str> {
        let what = match kind {
            SymbolKind::Map => "map",
            SymbolKind::Constructor => "constructor",
            _ => return None,
        };
        let mut all = self.program.symbols_named(word).iter().map(|&id| self.program.symbol(id));
        let again = sort != SortId::UNKNOWN && all.any(|one| one.sort == sort && one.kind == *kind);
        again.then_some(what)
    }

    /// A function with this name and sort. If the sort is not a function sort, a constant with this
    /// name.
    fn same_function(&self, word: Symbol, sort: SortId) -> Option<(SortId, Span)> {
        let is_function = |sort: SortId| matches!(self.program.sorts.get(sort), Sort::Function { .. });
        let all = self.program.symbols_named(word).iter().map(|&id| self.program.symbol(id));
        let mut same = all.filter(|one| {
            sort != SortId::UNKNOWN && (one.sort == sort || (!is_function(sort) && !is_function(one.sort)))
        });
        same.next().map(|one| (one.sort, one.span))
    }

    fn declared_as(&self, (other, _): (SortId, Span), sort: SortId) -> String {
        if other == sort {
            "remove one of the declarations, or give one another name".to_owned()
        } else {
            format!(
                "it is a constant of sort {} already, and only functions can share a name",
                self.sort_text(other)
            )
        }
    }
}
