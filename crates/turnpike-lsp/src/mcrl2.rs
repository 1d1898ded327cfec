//! mCRL2 specifications, through the type checker's own index of names.

use std::collections::BTreeMap;
use std::ops::Range;

use turnpike_mcrl2::explore::{Mcrl2Model, Options};
use turnpike_mcrl2::syntax::{Section, Sort, SortDeclaration, Span, Specification, parse_specification};
use turnpike_mcrl2::typed::{Meaning, NameIndex, Program, SortId, SymbolKind, index_names};
use turnpike_model::Diagnostic;

use crate::analysis::{Analysis, Kind, Symbol, Use};

const KEYWORDS: &[&str] = &[
    "act", "allow", "block", "comm", "cons", "delta", "div", "dist", "end", "eqn", "exists", "false",
    "forall", "glob", "hide", "if", "in", "init", "lambda", "map", "mod", "proc", "rename", "sort", "struct",
    "sum", "tau", "true", "val", "var", "whr", "Bag", "Bool", "FBag", "FSet", "Int", "List", "Nat", "Pos",
    "Real", "Set",
];

/// What `turnpike check` says.
pub(crate) fn check(text: &str) -> Vec<Diagnostic> {
    let options = Options { lints: true, ..Options::default() };
    match Mcrl2Model::new("", text, &options) {
        Ok((_, warnings)) => warnings,
        Err(refusal) => refusal.diagnostics,
    }
}

pub(crate) fn analyse(text: &str) -> Analysis {
    let (specification, mut diagnostics) = parse_specification(text);
    let index = index_names(&specification);
    // What does not parse has no sorts either: one thing at a time.
    if diagnostics.is_empty() {
        diagnostics.extend(index.diagnostics.iter().cloned());
    }
    let (program, specification, places) = (&index.program, &specification, places(&index));
    let (symbols, uses, numbers) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut names = Names { specification, program, places, symbols, uses, numbers };
    names.add_sorts();
    names.add_functions();
    names.add_actions();
    names.add_processes();
    names.add_variables();
    names.add_init();
    let Names { mut symbols, mut uses, .. } = names;
    sort_by_place(&mut symbols, &mut uses);
    Analysis { diagnostics, symbols, uses, keywords: KEYWORDS }
}

/// The sorts, functions and actions of a specification, with where it uses them.
pub(crate) struct Vocabulary {
    pub(crate) symbols: Vec<Symbol>,
    /// The symbol of each function and action.
    pub(crate) numbers: BTreeMap<(u8, usize), usize>,
    pub(crate) uses: Vec<Use>,
}

/// What a formula about a specification can name.
pub(crate) fn vocabulary(specification: &Specification, index: &NameIndex) -> Vocabulary {
    let places = places(index);
    let mut names = Names {
        specification,
        program: &index.program,
        places,
        symbols: Vec::new(),
        uses: Vec::new(),
        numbers: BTreeMap::new(),
    };
    names.add_sorts();
    names.add_functions();
    names.add_actions();
    let Names { symbols, uses, numbers, .. } = names;
    Vocabulary { symbols, numbers, uses }
}

/// Where each thing is used.
fn places(index: &NameIndex) -> BTreeMap<(u8, usize), Vec<Range<usize>>> {
    let mut places: BTreeMap<(u8, usize), Vec<Range<usize>>> = BTreeMap::new();
    for (span, meaning) in &index.uses {
        places.entry(key(*meaning)).or_default().push(span.range());
    }
    places
}

const VARIABLE: u8 = 0;
const FUNCTION: u8 = 1;
const ACTION: u8 = 2;
const PROCESS: u8 = 3;

/// What a variable is, as a kind and a number.
pub(crate) fn variable_key(number: usize) -> (u8, usize) {
    (VARIABLE, number)
}

/// What a name means, as a kind and a number.
pub(crate) fn key(meaning: Meaning) -> (u8, usize) {
    match meaning {
        Meaning::Variable(id) => (VARIABLE, id.index()),
        Meaning::Function(id) => (FUNCTION, id.index()),
        Meaning::Action(id) => (ACTION, id.index()),
        Meaning::Process(id) => (PROCESS, id.index()),
    }
}

/// Puts symbols and uses into the order of the text.
fn sort_by_place(symbols: &mut Vec<Symbol>, uses: &mut Vec<Use>) {
    let mut order: Vec<usize> = (0..symbols.len()).collect();
    order.sort_by_key(|&index| symbols[index].range.start);
    let mut position = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new;
    }
    let mut sorted: Vec<Option<Symbol>> = symbols.drain(..).map(Some).collect();
    symbols.extend(order.iter().filter_map(|&old| sorted[old].take()));
    for one in uses.iter_mut() {
        one.symbol = position[one.symbol];
    }
    uses.sort_by_key(|one| (one.range.start, one.range.end));
    uses.dedup();
}

/// Collects symbols and their uses.
struct Names<'a> {
    specification: &'a Specification,
    program: &'a Program,
    /// Where each thing is used.
    places: BTreeMap<(u8, usize), Vec<Range<usize>>>,
    symbols: Vec<Symbol>,
    uses: Vec<Use>,
    /// The symbol of each thing.
    numbers: BTreeMap<(u8, usize), usize>,
}

impl Names<'_> {
    /// Adds a symbol, with its declaration as its first use.
    fn declare(&mut self, symbol: Symbol) -> usize {
        self.uses.push(Use { range: symbol.range.clone(), symbol: self.symbols.len() });
        self.symbols.push(symbol);
        self.symbols.len() - 1
    }

    /// Adds a symbol with all its uses.
    fn add(&mut self, key: (u8, usize), symbol: Symbol) {
        let symbol = self.declare(symbol);
        self.numbers.insert(key, symbol);
        let places = self.places.remove(&key).unwrap_or_default();
        self.uses.extend(places.into_iter().map(|range| Use { range, symbol }));
    }

    fn add_sorts(&mut self) {
        let tree = &self.specification.tree;
        let mut declared = Vec::new();
        for declaration in self.specification.sorts() {
            match declaration {
                SortDeclaration::Basic { names, span } => {
                    declared.extend(names.iter().map(|name| (*name, *span, None)));
                }
                SortDeclaration::Alias { name, sort, span } => declared.push((*name, *span, Some(*sort))),
            }
        }
        for (name, span, alias) in declared {
            let text = tree.text(name.symbol).to_owned();
            let detail = match alias {
                Some(_) => format!("sort {text}"),
                None => format!("sort {text} (its constructors are declared apart)"),
            };
            let symbol = self.declare(Symbol {
                name: text,
                kind: Kind::Sort,
                range: name.span.range(),
                whole: span.range(),
                detail,
                scope: None,
                elsewhere: false,
            });
            let used = tree.sort_ids().filter(|&id| *tree.sort(id) == Sort::Name(name.symbol));
            self.uses.extend(used.map(|id| Use { range: tree.sort_span(id).range(), symbol }));
        }
    }

    fn add_functions(&mut self) {
        let declarations: Vec<Span> = self
            .specification
            .constructors()
            .chain(self.specification.maps())
            .map(|one| one.span)
            .chain(self.specification.sorts().map(|one| match one {
                SortDeclaration::Basic { span, .. } | SortDeclaration::Alias { span, .. } => *span,
            }))
            .collect();
        for (number, symbol) in self.program.symbols.iter().enumerate() {
            let kind = match symbol.kind {
                SymbolKind::Builtin(_) => continue,
                SymbolKind::Constructor | SymbolKind::StructConstructor { .. } => Kind::Constructor,
                _ => Kind::Function,
            };
            let range = symbol.span.range();
            if range.is_empty() {
                continue;
            }
            let name = self.program.text(symbol.name).to_owned();
            let detail = format!("{name}: {}", self.program.sort_text(symbol.sort));
            let whole = enclosing(&declarations, &range).unwrap_or_else(|| range.clone());
            self.add(
                (FUNCTION, number),
                Symbol { name, kind, range, whole, detail, scope: None, elsewhere: false },
            );
        }
    }

    fn add_actions(&mut self) {
        let declarations: Vec<Span> = self.specification.actions().map(|one| one.span).collect();
        for (number, action) in self.program.actions.iter().enumerate() {
            let name = self.program.text(action.name).to_owned();
            let range = action.span.range();
            let whole = enclosing(&declarations, &range).unwrap_or_else(|| range.clone());
            let sorts: Vec<String> = action.sorts.iter().map(|&sort| self.program.sort_text(sort)).collect();
            let detail = match sorts.is_empty() {
                true => format!("act {name}"),
                false => format!("act {name}: {}", sorts.join(" # ")),
            };
            self.add(
                (ACTION, number),
                Symbol { name, kind: Kind::Action, range, whole, detail, scope: None, elsewhere: false },
            );
        }
    }

    fn add_processes(&mut self) {
        let declarations: Vec<Span> = self.specification.processes().map(|one| one.span).collect();
        let program = self.program;
        for (number, process) in program.processes.iter().enumerate() {
            let name = program.text(process.name).to_owned();
            let range = process.span.range();
            let whole = enclosing(&declarations, &range).unwrap_or_else(|| range.clone());
            let parameters = process.parameters.iter().map(|&id| {
                let one = program.variable(id);
                format!("{}: {}", program.text(one.name), program.sort_text(one.sort))
            });
            let parameters: Vec<String> = parameters.collect();
            let detail = match parameters.is_empty() {
                true => format!("proc {name}"),
                false => format!("proc {name}({})", parameters.join(", ")),
            };
            self.add(
                (PROCESS, number),
                Symbol { name, kind: Kind::Process, range, whole, detail, scope: None, elsewhere: false },
            );
        }
    }

    fn add_variables(&mut self) {
        let regions = regions(self.specification);
        for (number, variable) in self.program.variables.iter().enumerate() {
            let name = self.program.text(variable.name).to_owned();
            let range = variable.span.range();
            let scope = enclosing(&regions, &range);
            let detail = match variable.sort {
                SortId::UNKNOWN => name.clone(),
                sort => format!("{name}: {}", self.program.sort_text(sort)),
            };
            let whole = range.clone();
            let kind = Kind::Variable;
            let symbol = Symbol { name, kind, whole, range, detail, scope, elsewhere: false };
            self.add((VARIABLE, number), symbol);
        }
    }

    fn add_init(&mut self) {
        if let Some(init) = self.specification.init() {
            let whole = init.span.range();
            let range = whole.start..(whole.start + "init".len()).min(whole.end);
            let (name, detail) = ("init".to_owned(), "the initial process".to_owned());
            // Not a name: nothing uses it.
            let (kind, scope) = (Kind::Init, Some(0..0));
            self.symbols.push(Symbol { name, kind, range, whole, detail, scope, elsewhere: false });
        }
    }
}

/// The first of the spans that contains a range.
fn enclosing(spans: &[Span], range: &Range<usize>) -> Option<Range<usize>> {
    spans.iter().map(|span| span.range()).find(|whole| whole.start <= range.start && range.end <= whole.end)
}

/// Where variables can be used: processes, the initial process, and sections of equations with their variables.
fn regions(specification: &Specification) -> Vec<Span> {
    let mut regions: Vec<Span> = specification.processes().map(|one| one.span).collect();
    regions.extend(specification.init().map(|init| init.span));
    for section in &specification.sections {
        if let Section::Equations { variables, equations } = section {
            let starts = variables.iter().map(|one| one.name.span.start);
            let start = starts.chain(equations.iter().map(|one| one.span.start)).min();
            let end = equations.iter().map(|one| one.span.end).max();
            regions.extend(start.zip(end).map(|(start, end)| Span::new(start, end)));
        }
    }
    regions
}
