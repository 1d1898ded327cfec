//! Sets, bags and function updates.

use dashu_ratio::RBig;

use super::compare::{Answer, either};
use super::engine::{Lazy, Rewriter, Rewritten};
use super::term::{Base, Node, Term, Var};
use turnpike_mcrl2::syntax::{Binder, Container};
use turnpike_mcrl2::typed::{Builtin, Sort, SortId, SymbolId};

/// The normal form of a bag whose counts are numbers: sorted, with the counts of equal elements
/// added, and without zeros.
pub(super) fn bag(base: Option<Term>, mut entries: Vec<(Term, Term)>) -> Term {
    if base.is_none() && entries.iter().all(|(_, count)| count.as_number().is_some()) {
        entries.sort_by(|one, other| one.0.compare(&other.0));
        let mut merged: Vec<(Term, RBig)> = Vec::new();
        for (element, count) in entries {
            let count = count.as_number().cloned().unwrap_or_default();
            match merged.last_mut() {
                Some((last, sum)) if *last == element => *sum += count,
                _ => merged.push((element, count)),
            }
        }
        merged.retain(|(_, count)| *count > RBig::ZERO);
        entries = merged.into_iter().map(|(element, count)| (element, Term::number(count))).collect();
    }
    Term::new(Node::Bag { base, entries })
}

/// Whether two functions are the same except for the name of their variable.
pub(super) fn alike(one: &Term, other: &Term) -> bool {
    match (one.node(), other.node()) {
        (Node::Binder(Binder::Lambda, left, body), Node::Binder(Binder::Lambda, right, rest))
            if left.len() == right.len() =>
        {
            *body == super::engine::renamed(rest, right, left)
        }
        _ => one == other,
    }
}

impl Rewriter<'_> {
    /// Whether an element is among some terms.
    fn among(&mut self, sort: SortId, element: &Term, all: &[Term]) -> Rewritten<Answer> {
        let mut answer = Some(false);
        for one in all {
            answer = either(answer, self.equal(sort, element, one)?);
        }
        Ok(answer)
    }

    /// The result of the base of a set for an element.
    fn says(&mut self, base: &Base, element: &Term) -> Rewritten<Answer> {
        Ok(match base {
            Base::Nothing => Some(false),
            Base::Everything => Some(true),
            Base::By(function) => self.apply(function, &[Lazy::done(element.clone())])?.as_bool(),
        })
    }

    /// `element in set`
    pub(super) fn member(&mut self, sort: SortId, element: &Term, set: &Term) -> Rewritten<Answer> {
        let Node::Set { base, elements } = set.node() else { return Ok(None) };
        let (says, among) = (self.says(base, element)?, self.among(sort, element, elements)?);
        Ok(says.zip(among).map(|(says, among)| says != among))
    }

    /// `element in set` if it is known, or else a disjunction of equalities.
    pub(super) fn membership(&mut self, sort: SortId, element: &Term, set: &Term) -> Rewritten<Option<Term>> {
        let Node::Set { base, elements } = set.node() else { return Ok(None) };
        let truth = [SortId::BOOL, SortId::BOOL];
        let equal = self.symbol(Builtin::Equal, "==", &[sort, sort], SortId::BOOL);
        let or = self.symbol(Builtin::Or, "||", &truth, SortId::BOOL);
        let differ = self.symbol(Builtin::NotEqual, "!=", &truth, SortId::BOOL);
        let mut among = Term::bool(false);
        for one in elements.iter().rev() {
            among = Term::call(or, &[&Term::call(equal, &[element, one]), &among]);
        }
        let says = match base {
            Base::Nothing => Term::bool(false),
            Base::Everything => Term::bool(true),
            Base::By(function) => Term::new(Node::Apply(function.clone(), vec![element.clone()])),
        };
        let among = self.closed(&among)?;
        if among.as_bool() == Some(false) {
            return self.closed(&says).map(Some);
        }
        self.closed(&Term::call(differ, &[&says, &among])).map(Some)
    }

    /// Union or intersection, element by element.
    pub(super) fn combine(
        &mut self,
        union: bool,
        sort: SortId,
        one: &Term,
        other: &Term,
    ) -> Rewritten<Option<Term>> {
        let (Node::Set { base: f, elements: s }, Node::Set { base: g, elements: t }) =
            (one.node(), other.node())
        else {
            return Ok(None);
        };
        let base = self.combined_base(union, sort, f, g)?;
        let mut candidates: Vec<Term> = s.iter().chain(t).cloned().collect();
        candidates.sort_by(Term::compare);
        candidates.dedup();
        let mut elements = Vec::new();
        for element in candidates {
            let (in_s, in_t) = (self.among(sort, &element, s)?, self.among(sort, &element, t)?);
            let (f_says, g_says) = (self.says(f, &element)?, self.says(g, &element)?);
            let (Some(in_s), Some(in_t), Some(f_says), Some(g_says)) = (in_s, in_t, f_says, g_says) else {
                return Ok(None);
            };
            let (first, second) = (f_says != in_s, g_says != in_t);
            let (member, expected) =
                if union { (first || second, f_says || g_says) } else { (first && second, f_says && g_says) };
            if member != expected {
                elements.push(element);
            }
        }
        Ok(Some(Term::set(base, elements)))
    }

    fn combined_base(&mut self, union: bool, sort: SortId, one: &Base, other: &Base) -> Rewritten<Base> {
        let (neutral, absorbing) =
            if union { (Base::Nothing, Base::Everything) } else { (Base::Everything, Base::Nothing) };
        let (Base::By(f), Base::By(g)) = (one, other) else {
            if *one == absorbing || *other == absorbing {
                return Ok(absorbing);
            }
            return Ok(if *one == neutral { other.clone() } else { one.clone() });
        };
        if alike(f, g) {
            return Ok(one.clone());
        }
        let (builtin, name) = if union { (Builtin::Or, "||") } else { (Builtin::And, "&&") };
        let symbol = self.symbol(builtin, name, &[SortId::BOOL, SortId::BOOL], SortId::BOOL);
        let (f, g) = (f.clone(), g.clone());
        self.predicate(sort, &f, |variable| {
            let applied = |function: &Term| Term::new(Node::Apply(function.clone(), vec![variable.clone()]));
            Term::call(symbol, &[&applied(&f), &applied(&g)])
        })
    }

    /// `!set`
    pub(super) fn complement(&mut self, sort: SortId, set: &Term) -> Rewritten<Option<Term>> {
        let Node::Set { base, elements } = set.node() else { return Ok(None) };
        let base = match base {
            Base::Nothing => Base::Everything,
            Base::Everything => Base::Nothing,
            Base::By(function) => {
                let symbol = self.symbol(Builtin::Not, "!", &[SortId::BOOL], SortId::BOOL);
                let function = function.clone();
                self.predicate(sort, &function, |variable| {
                    Term::call(symbol, &[&Term::new(Node::Apply(function.clone(), vec![variable.clone()]))])
                })?
            }
        };
        Ok(Some(Term::set(base, elements.clone())))
    }

    /// `lambda x. body(x)` as the base of a set; the variable has the name of another function's
    /// variable.
    fn predicate(&mut self, sort: SortId, like: &Term, body: impl Fn(&Term) -> Term) -> Rewritten<Base> {
        let function = self.function(sort, like, body)?;
        let set = self.closed(&Term::set(Base::By(function), Vec::new()))?;
        Ok(match set.node() {
            Node::Set { base, .. } => base.clone(),
            _ => Base::Nothing,
        })
    }

    /// `lambda x. body(x)`; the variable has the name of another function's variable.
    fn function(&mut self, sort: SortId, like: &Term, body: impl Fn(&Term) -> Term) -> Rewritten {
        let variable = match like.node() {
            Node::Binder(_, variables, _) => variables[0],
            _ => {
                let name = self.program.words.intern("x");
                Var {
                    id: self.program.add_variable(name, sort, turnpike_mcrl2::syntax::Span::default()),
                    copy: 0,
                }
            }
        };
        let variable = self.copy(variable);
        let body = body(&Term::new(Node::Variable(variable)));
        self.closed(&Term::new(Node::Binder(Binder::Lambda, vec![variable], body)))
    }

    /// `count(element, bag)`
    pub(super) fn count(&mut self, sort: SortId, element: &Term, bag: &Term) -> Rewritten<Option<Term>> {
        let Node::Bag { base, entries } = bag.node() else { return Ok(None) };
        let mut found: Option<Term> = None;
        for (one, count) in entries {
            match (self.equal(sort, element, one)?, &found) {
                (Some(true), None) => found = Some(count.clone()),
                // The terms denote the same element.
                (Some(true), Some(before)) => match (before.as_number(), count.as_number()) {
                    (Some(before), Some(count)) => found = Some(Term::number(before + count)),
                    _ => return Ok(None),
                },
                (Some(false), _) => {}
                (None, _) => return Ok(None),
            }
        }
        if found.is_some() {
            return Ok(found);
        }
        match base {
            None => Ok(Some(Term::count(0))),
            Some(function) => self.apply(function, &[Lazy::done(element.clone())]).map(Some),
        }
    }

    /// `+`, `*` and `-` on bags.
    pub(super) fn combine_bags(
        &mut self,
        builtin: Builtin,
        sort: SortId,
        one: &Term,
        other: &Term,
    ) -> Rewritten<Option<Term>> {
        let (Node::Bag { base: f, entries: ones }, Node::Bag { base: g, entries: others }) =
            (one.node(), other.node())
        else {
            return Ok(None);
        };
        let base = match (builtin, f, g) {
            (Builtin::Intersection | Builtin::Difference, None, _) | (Builtin::Intersection, _, None) => None,
            (Builtin::Union, None, other) | (Builtin::Union | Builtin::Difference, other, None) => {
                other.clone()
            }
            (Builtin::Intersection, Some(f), Some(g)) if alike(f, g) => Some(f.clone()),
            (Builtin::Difference, Some(f), Some(g)) if alike(f, g) => None,
            (_, Some(f), Some(g)) => {
                let (f, g) = (f.clone(), g.clone());
                let operation = self.count_operation(builtin);
                self.counting(sort, &f, |variable| {
                    let applied =
                        |function: &Term| Term::new(Node::Apply(function.clone(), vec![variable.clone()]));
                    operation(&applied(&f), &applied(&g))
                })?
            }
            _ => return Ok(None),
        };
        let mut elements: Vec<Term> = ones.iter().chain(others).map(|(element, _)| element.clone()).collect();
        elements.sort_by(Term::compare);
        elements.dedup();
        let operation = self.count_operation(builtin);
        let mut counts = Vec::new();
        for element in elements {
            let (Some(one), Some(other)) =
                (self.count(sort, &element, one)?, self.count(sort, &element, other)?)
            else {
                return Ok(None);
            };
            counts.push((element, self.closed(&operation(&one, &other))?));
        }
        self.bag_with(base, counts)
    }

    /// The bag with these counts, and those of the base for other elements; `None` if a count is
    /// stuck.
    fn bag_with(&mut self, base: Option<Term>, counts: Vec<(Term, Term)>) -> Rewritten<Option<Term>> {
        let mut entries = Vec::new();
        for (element, count) in counts {
            let usual = match &base {
                None => Term::count(0),
                Some(function) => self.apply(function, &[Lazy::done(element.clone())])?,
            };
            if count.as_number().is_none() || usual.as_number().is_none() {
                return Ok(None);
            }
            if count != usual {
                entries.push((element, count));
            }
        }
        Ok(Some(Term::new(Node::Bag { base, entries })))
    }

    /// The operation on counts.
    fn count_operation(&mut self, builtin: Builtin) -> impl Fn(&Term, &Term) -> Term + use<> {
        let counts = [SortId::NAT, SortId::NAT];
        let (add, min, subtract, max) = (
            self.symbol(Builtin::Add, "+", &counts, SortId::NAT),
            self.symbol(Builtin::Min, "min", &counts, SortId::NAT),
            self.symbol(Builtin::Subtract, "-", &counts, SortId::INT),
            self.symbol(Builtin::Max, "max", &[SortId::NAT, SortId::INT], SortId::NAT),
        );
        move |one, other| match builtin {
            Builtin::Union => Term::call(add, &[one, other]),
            Builtin::Intersection => Term::call(min, &[one, other]),
            _ => Term::call(max, &[&Term::count(0), &Term::call(subtract, &[one, other])]),
        }
    }

    /// `lambda x. body(x)` as the base of a bag; the variable has the name of another function's
    /// variable.
    fn counting(
        &mut self,
        sort: SortId,
        like: &Term,
        body: impl Fn(&Term) -> Term,
    ) -> Rewritten<Option<Term>> {
        let function = self.function(sort, like, body)?;
        Ok(match function.node() {
            Node::Binder(_, _, body) if body.as_number() == Some(&RBig::ZERO) => None,
            _ => Some(function),
        })
    }

    /// `Set2Bag` and `Bag2Set`
    pub(super) fn converted(
        &mut self,
        builtin: Builtin,
        sort: SortId,
        value: &Term,
    ) -> Rewritten<Option<Term>> {
        match (builtin, value.node()) {
            (Builtin::Set2Bag, Node::Set { elements, .. })
                if elements.len() > 1 && elements.iter().any(Term::is_open) =>
            {
                Ok(None)
            }
            (Builtin::Set2Bag, Node::Set { base, elements }) => {
                let truth = [SortId::BOOL, SortId::NAT, SortId::NAT];
                let choice = self.symbol(Builtin::If, "if", &truth, SortId::NAT);
                let (one, zero) = (Term::count(1), Term::count(0));
                let base = match base {
                    Base::Nothing => None,
                    Base::Everything => self.counting(sort, &one, |_| one.clone())?,
                    Base::By(f) => {
                        let f = f.clone();
                        self.counting(sort, &f, |variable| {
                            let says = Term::new(Node::Apply(f.clone(), vec![variable.clone()]));
                            Term::call(choice, &[&says, &one, &zero])
                        })?
                    }
                };
                let mut counts = Vec::new();
                for element in elements.clone() {
                    let Some(inside) = self.member(sort, &element, value)? else { return Ok(None) };
                    counts.push((element, Term::count(usize::from(inside))));
                }
                self.bag_with(base, counts)
            }
            (Builtin::Bag2Set, Node::Bag { base, entries }) => {
                let less = self.symbol(Builtin::Less, "<", &[SortId::NAT, SortId::NAT], SortId::BOOL);
                let base = match base {
                    None => Base::Nothing,
                    Some(f) => {
                        let f = f.clone();
                        self.predicate(sort, &f, |variable| {
                            let count = Term::new(Node::Apply(f.clone(), vec![variable.clone()]));
                            Term::call(less, &[&Term::count(0), &count])
                        })?
                    }
                };
                let mut different = Vec::new();
                for (element, count) in entries.clone() {
                    let (Some(usual), Some(count)) = (self.says(&base, &element)?, count.as_number()) else {
                        return Ok(None);
                    };
                    if usual != (*count > RBig::ZERO) {
                        different.push(element);
                    }
                }
                Ok(Some(Term::set(base, different)))
            }
            _ => Ok(None),
        }
    }

    /// The sort of keys of a function with one argument.
    pub(super) fn key_sort(&self, function: &Term) -> SortId {
        let sort = self.function_sort(function);
        self.program.sorts.signature(sort).0.first().copied().unwrap_or(SortId::UNKNOWN)
    }

    fn function_sort(&self, function: &Term) -> SortId {
        match function.node() {
            Node::Symbol(symbol) => self.program.symbol(*symbol).sort,
            Node::Call(symbol, _) => self.program.signature(*symbol).1,
            Node::Variable(variable) => self.sort_of(*variable),
            Node::Apply(inner, _) => {
                let sort = self.function_sort(inner);
                self.program.sorts.signature(sort).1
            }
            Node::Update(base, _) => self.function_sort(base),
            Node::Binder(_, variables, _) => {
                let domain: Vec<SortId> = variables.iter().map(|&one| self.sort_of(one)).collect();
                let found = self.program.sorts.iter().find(
                    |(_, sort)| matches!(sort, Sort::Function { domain: other, .. } if **other == *domain),
                );
                found.map_or(SortId::UNKNOWN, |(id, _)| id)
            }
            _ => SortId::UNKNOWN,
        }
    }

    /// `function[key -> value]`, all in normal form.
    pub(super) fn update(&mut self, function: Term, key: Term, value: Term) -> Rewritten<Term> {
        let (base, entries) = match function.node() {
            Node::Update(base, entries) => (base.clone(), entries.clone()),
            _ => (function.clone(), Vec::new()),
        };
        let sort = self.key_sort(&base);
        let mut kept = Vec::new();
        let mut stuck = false;
        for (known, old) in entries {
            match self.equal(sort, &known, &key)? {
                Some(true) => {}
                Some(false) => kept.push((known, old)),
                None => stuck = true,
            }
        }
        if stuck {
            let whole = self.function_sort(&base);
            let codomain = self.program.sorts.signature(whole).1;
            let symbol = self.update_symbol(whole, sort, codomain);
            return Ok(Term::call(symbol, &[&function, &key, &value]));
        }
        if self.apply(&base, &[Lazy::done(key.clone())])? != value {
            kept.push((key, value));
            kept.sort_by(|one, other| one.0.compare(&other.0));
        }
        Ok(if kept.is_empty() { base } else { Term::new(Node::Update(base, kept)) })
    }

    fn update_symbol(&mut self, function: SortId, key: SortId, value: SortId) -> SymbolId {
        self.symbol(Builtin::Update, "", &[function, key, value], function)
    }

    /// All values of a sort, if it is finite.
    pub(super) fn values(&self, sort: SortId) -> Option<Vec<Term>> {
        self.values_within(sort, &mut Vec::new())
    }

    fn values_within(&self, sort: SortId, around: &mut Vec<SortId>) -> Option<Vec<Term>> {
        const MOST: usize = 4096;
        if around.contains(&sort) {
            return None;
        }
        match self.program.sorts.get(sort) {
            Sort::Bool => Some(vec![Term::bool(true), Term::bool(false)]),
            Sort::Container(Container::Set | Container::FSet, element) => {
                let elements = self.values_within(*element, around)?;
                if elements.len() > 12 {
                    return None;
                }
                let subset = |bits: usize| {
                    let chosen = elements.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
                    let mut chosen: Vec<Term> = chosen.map(|(_, one)| one.clone()).collect();
                    chosen.sort_by(Term::compare);
                    Term::set(Base::Nothing, chosen)
                };
                Some((0..1 << elements.len()).map(subset).collect())
            }
            Sort::Struct(_) | Sort::Basic(_) => {
                let constructors = self.program.constructors(sort);
                if constructors.is_empty() {
                    return None;
                }
                around.push(sort);
                let mut all = Vec::new();
                for &symbol in constructors {
                    let mut rows = vec![Vec::new()];
                    for &field in self.program.signature(symbol).0 {
                        let values = self.values_within(field, around)?;
                        if rows.len() * values.len() > MOST {
                            return None;
                        }
                        rows = rows
                            .into_iter()
                            .flat_map(|row: Vec<Term>| {
                                values
                                    .iter()
                                    .map(move |value| [&row[..], std::slice::from_ref(value)].concat())
                            })
                            .collect();
                    }
                    let constant = self.program.signature(symbol).0.is_empty();
                    all.extend(rows.into_iter().map(|row| {
                        Term::new(if constant { Node::Symbol(symbol) } else { Node::Call(symbol, row) })
                    }));
                }
                around.pop();
                (all.len() <= MOST).then_some(all)
            }
            _ => None,
        }
    }
}
