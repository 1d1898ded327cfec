//! The functions that every specification has.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::compare::Answer;
use super::engine::{Lazy, Rewriter, Rewritten};
use super::term::{Base, Node, Term};
use turnpike_mcrl2::syntax::Container;
use turnpike_mcrl2::typed::{Builtin, SortId, SymbolId};

/// Powers with larger exponents are not computed.
const LARGEST_EXPONENT: u32 = 100_000;

impl Rewriter<'_> {
    /// The result of a built-in function; `None` if it is stuck.
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        symbol: SymbolId,
        arguments: &[Lazy],
    ) -> Rewritten<Option<Term>> {
        match builtin {
            Builtin::If | Builtin::And | Builtin::Or | Builtin::Implies => {
                self.lazy(builtin, symbol, arguments)
            }
            _ => {
                let values = arguments.iter().map(|one| self.force(one)).collect::<Rewritten<Vec<Term>>>()?;
                self.strict(builtin, symbol, &values)
            }
        }
    }

    /// Functions that do not always need all their arguments.
    fn lazy(&mut self, builtin: Builtin, symbol: SymbolId, arguments: &[Lazy]) -> Rewritten<Option<Term>> {
        let first = self.force(&arguments[0])?;
        if builtin == Builtin::If {
            return match first.as_bool() {
                Some(value) => self.force(&arguments[if value { 1 } else { 2 }]).map(Some),
                None => {
                    let (then, otherwise) = (self.force(&arguments[1])?, self.force(&arguments[2])?);
                    Ok((then == otherwise).then_some(then))
                }
            };
        }
        // The value of the first argument with which the result is the second argument.
        let open = builtin != Builtin::Or;
        match first.as_bool() {
            Some(value) if value == open => return self.force(&arguments[1]).map(Some),
            Some(_) => return Ok(Some(Term::bool(builtin != Builtin::And))),
            None => {}
        }
        let second = self.force(&arguments[1])?;
        Ok(match (builtin, second.as_bool()) {
            (Builtin::And, Some(true)) | (Builtin::Or, Some(false)) => Some(first),
            (Builtin::And, Some(false)) | (Builtin::Or | Builtin::Implies, Some(true)) => Some(second),
            (Builtin::Implies, Some(false)) => {
                let not = self.symbol(Builtin::Not, "!", &[SortId::BOOL], SortId::BOOL);
                Some(self.closed(&Term::call(not, &[&first]))?)
            }
            _ => Some(Term::call(symbol, &[&first, &second])),
        })
    }

    // Long because each function has a case.
    fn strict(&mut self, builtin: Builtin, symbol: SymbolId, values: &[Term]) -> Rewritten<Option<Term>> {
        let (domain, codomain) = self.program.signature(symbol);
        let (sort, last) = (domain[0], domain[domain.len() - 1]);
        let answer = |answer: Answer| answer.map(Term::bool);
        match builtin {
            Builtin::Equal => self.equality(sort, symbol, &values[0], &values[1]).map(Some),
            Builtin::NotEqual => {
                let equal = self.symbol(Builtin::Equal, "==", &[sort, sort], SortId::BOOL);
                let not = self.symbol(Builtin::Not, "!", &[SortId::BOOL], SortId::BOOL);
                let equality = self.closed(&Term::call(equal, &[&values[0], &values[1]]))?;
                self.strict(Builtin::Not, not, &[equality]).map(|result| {
                    result.or(Some(Term::call(not, &[&Term::call(equal, &[&values[0], &values[1]])])))
                })
            }
            Builtin::Less => Ok(answer(self.less(sort, true, &values[0], &values[1])?)),
            Builtin::LessEqual => Ok(answer(self.less(sort, false, &values[0], &values[1])?)),
            Builtin::Greater | Builtin::GreaterEqual => {
                let (builtin, name) = if builtin == Builtin::Greater {
                    (Builtin::Less, "<")
                } else {
                    (Builtin::LessEqual, "<=")
                };
                let turned = self.symbol(builtin, name, &[sort, sort], SortId::BOOL);
                self.closed(&Term::call(turned, &[&values[1], &values[0]])).map(Some)
            }
            Builtin::Not => Ok(match values[0].node() {
                Node::Bool(value) => Some(Term::bool(!value)),
                Node::Call(inner, operand) if *inner == symbol => Some(operand[0].clone()),
                _ => None,
            }),
            Builtin::Complement => self.complement(self.element(sort), &values[0]),
            Builtin::Union | Builtin::Intersection | Builtin::Difference => {
                let element = self.element(codomain);
                if is_bag(&values[0]) || is_bag(&values[1]) {
                    return self.combine_bags(builtin, element, &values[0], &values[1]);
                }
                if values[0] == values[1] && builtin != Builtin::Difference {
                    return Ok(Some(values[0].clone()));
                }
                if builtin == Builtin::Difference {
                    if let (
                        Node::Set { base: Base::By(f), elements: s },
                        Node::Set { base: Base::By(g), elements: t },
                    ) = (values[0].node(), values[1].node())
                        && super::collection::alike(f, g)
                        && s == t
                    {
                        return Ok(Some(Term::set(Base::Nothing, Vec::new())));
                    }
                    let Some(others) = self.complement(element, &values[1])? else { return Ok(None) };
                    return self.combine(false, element, &values[0], &others);
                }
                self.combine(builtin == Builtin::Union, element, &values[0], &values[1])
            }
            Builtin::In => match self.program.sorts.element(Container::List, last) {
                Some(element) => {
                    let equal = self.symbol(Builtin::Equal, "==", &[element, element], SortId::BOOL);
                    let or = self.symbol(Builtin::Or, "||", &[SortId::BOOL, SortId::BOOL], SortId::BOOL);
                    match self.first_and_rest(&values[1]) {
                        Some(Some((first, others))) => {
                            let here = Term::call(equal, &[&values[0], &first]);
                            let later = Term::call(symbol, &[&values[0], &others]);
                            self.closed(&Term::call(or, &[&here, &later])).map(Some)
                        }
                        Some(None) => Ok(Some(Term::bool(false))),
                        None => Ok(None),
                    }
                }
                None if is_bag(&values[1]) => {
                    let Some(count) = self.count(sort, &values[0], &values[1])? else { return Ok(None) };
                    let less = self.symbol(Builtin::Less, "<", &[SortId::NAT, SortId::NAT], SortId::BOOL);
                    self.closed(&Term::call(less, &[&Term::count(0), &count])).map(Some)
                }
                None => self.membership(sort, &values[0], &values[1]),
            },
            Builtin::Count => self.count(sort, &values[0], &values[1]),
            Builtin::Update => self.update(values[0].clone(), values[1].clone(), values[2].clone()).map(Some),
            Builtin::Pick => Ok(match values[0].node() {
                Node::Set { elements, .. } if elements.len() > 1 && values[0].is_open() => None,
                Node::Bag { entries, .. } if entries.len() > 1 && values[0].is_open() => None,
                Node::Set { elements, .. } => elements.first().cloned(),
                Node::Bag { entries, .. } => entries.first().map(|(element, _)| element.clone()),
                _ => None,
            }),
            Builtin::Set2Bag | Builtin::Bag2Set => self.converted(builtin, self.element(sort), &values[0]),
            Builtin::Convert => Ok(self.convert(sort, codomain, &values[0])),
            Builtin::Cons
            | Builtin::Snoc
            | Builtin::Concat
            | Builtin::At
            | Builtin::Size
            | Builtin::Head
            | Builtin::Tail
            | Builtin::RHead
            | Builtin::RTail => self.list(builtin, symbol, values),
            _ => {
                let same = domain == [sort, sort];
                let known = number(builtin, values).filter(|value| fits(codomain, value)).map(Term::number);
                Ok(known.or_else(|| simplified(builtin, same.then_some(sort), values)))
            }
        }
    }

    /// `==`, possibly simplified if it is stuck.
    fn equality(&mut self, sort: SortId, symbol: SymbolId, one: &Term, other: &Term) -> Rewritten {
        if let Some(answer) = self.equal(sort, one, other)? {
            return Ok(Term::bool(answer));
        }
        if sort == SortId::BOOL {
            match (one.as_bool(), other.as_bool()) {
                (Some(true), _) => return Ok(other.clone()),
                (_, Some(true)) => return Ok(one.clone()),
                (Some(false), _) | (_, Some(false)) => {
                    let not = self.symbol(Builtin::Not, "!", &[SortId::BOOL], SortId::BOOL);
                    let operand = if one.as_bool().is_some() { other } else { one };
                    return self.closed(&Term::call(not, &[operand]));
                }
                _ => {}
            }
        }
        // Terms with the same constructor are equal if their arguments are.
        let parts: Vec<(SortId, Term, Term)> = match (self.alternative(one), self.alternative(other)) {
            (Some((first, ones)), Some((second, others))) if first == second => {
                let pairs = ones.into_iter().zip(others).enumerate();
                pairs.map(|(index, (one, other))| (self.field_sort(sort, first, index), one, other)).collect()
            }
            _ => match (
                self.program.sorts.element(Container::List, sort),
                self.first_and_rest(one),
                self.first_and_rest(other),
            ) {
                (Some(element), Some(Some((one, ones))), Some(Some((other, others)))) => {
                    vec![(element, one, other), (sort, ones, others)]
                }
                _ => Vec::new(),
            },
        };
        if parts.is_empty() {
            return Ok(Term::call(symbol, &[one, other]));
        }
        let and = self.symbol(Builtin::And, "&&", &[SortId::BOOL, SortId::BOOL], SortId::BOOL);
        let mut all = Term::bool(true);
        for (sort, one, other) in parts {
            let equal = self.symbol(Builtin::Equal, "==", &[sort, sort], SortId::BOOL);
            let here = Term::call(equal, &[&one, &other]);
            all = self.closed(&Term::call(and, &[&all, &here]))?;
        }
        Ok(all)
    }

    /// The element sort of a set or bag.
    fn element(&self, sort: SortId) -> SortId {
        let all = [Container::Set, Container::FSet, Container::Bag, Container::FBag];
        let found = all.map(|one| self.program.sorts.element(one, sort));
        found.into_iter().flatten().next().unwrap_or(SortId::UNKNOWN)
    }

    /// Conversions of numbers. Those to a smaller sort may be stuck.
    fn convert(&mut self, from: SortId, to: SortId, value: &Term) -> Option<Term> {
        if from <= to {
            return Some(value.clone());
        }
        let number = value.as_number()?;
        if fits(to, number) {
            return Some(value.clone());
        }
        if to == SortId::POS && *number == RBig::ZERO {
            let symbol = self.symbol(Builtin::Convert, "Nat2Pos", &[SortId::NAT], SortId::POS);
            return Some(Term::call(symbol, &[value]));
        }
        None
    }

    fn list(&mut self, builtin: Builtin, symbol: SymbolId, values: &[Term]) -> Rewritten<Option<Term>> {
        let codomain = self.program.signature(symbol).1;
        let list = |elements: Vec<Term>| Some(Term::new(Node::List(elements)));
        let proper = |term: &Term| match term.node() {
            Node::List(elements) => Some(elements.clone()),
            _ => None,
        };
        Ok(match builtin {
            Builtin::Cons => {
                proper(&values[1]).and_then(|rest| list([std::slice::from_ref(&values[0]), &rest].concat()))
            }
            Builtin::Snoc => match proper(&values[0]) {
                Some(mut elements) => {
                    elements.push(values[1].clone());
                    list(elements)
                }
                None => self.pushed_in(symbol, codomain, values)?,
            },
            Builtin::Concat => match (proper(&values[0]), proper(&values[1])) {
                (Some(one), Some(other)) => list([one, other].concat()),
                (Some(one), None) => Some(self.before(codomain, &one, values[1].clone())),
                (None, Some(other)) if other.is_empty() => Some(values[0].clone()),
                (None, _) => self.pushed_in(symbol, codomain, values)?,
            },
            Builtin::At => {
                let Some(index) = values[1].as_number() else { return Ok(None) };
                let (mut index, mut rest) = (index.clone(), values[0].clone());
                while let Some(Some((first, others))) = self.first_and_rest(&rest) {
                    if index == RBig::ZERO {
                        return Ok(Some(first));
                    }
                    (index, rest) = (index - RBig::ONE, others);
                }
                Some(Term::call(symbol, &[&rest, &Term::number(index)]))
            }
            Builtin::Size => match values[0].node() {
                Node::List(elements) => Some(Term::count(elements.len())),
                Node::Set { elements, .. } if elements.len() > 1 && values[0].is_open() => None,
                Node::Set { elements, .. } => Some(Term::count(elements.len())),
                Node::Bag { entries, .. } => {
                    let mut counts = entries.iter().map(|(_, count)| count.as_number());
                    counts.try_fold(RBig::ZERO, |sum, count| Some(sum + count?)).map(Term::number)
                }
                _ => None,
            },
            Builtin::Head => self.first_and_rest(&values[0]).flatten().map(|(first, _)| first),
            Builtin::Tail => self.first_and_rest(&values[0]).flatten().map(|(_, rest)| rest),
            Builtin::RHead => proper(&values[0]).and_then(|elements| elements.last().cloned()),
            Builtin::RTail => proper(&values[0]).and_then(|mut elements| {
                elements.pop()?;
                list(elements)
            }),
            _ => None,
        })
    }

    /// `e1 |> … |> rest`
    fn before(&mut self, sort: SortId, elements: &[Term], rest: Term) -> Term {
        let element = self.program.sorts.element(Container::List, sort).unwrap_or(SortId::UNKNOWN);
        let cons = self.symbol(Builtin::Cons, "|>", &[element, sort], sort);
        elements.iter().rev().fold(rest, |rest, one| Term::call(cons, &[one, &rest]))
    }

    /// `(x |> l) op y` is `x |> (l op y)`.
    fn pushed_in(&mut self, symbol: SymbolId, sort: SortId, values: &[Term]) -> Rewritten<Option<Term>> {
        let Some(Some((first, rest))) = self.first_and_rest(&values[0]) else { return Ok(None) };
        let rest = self.closed(&Term::call(symbol, &[&rest, &values[1]]))?;
        Ok(Some(self.before(sort, &[first], rest)))
    }
}

fn is_bag(term: &Term) -> bool {
    matches!(term.node(), Node::Bag { .. })
}

/// The result of an operation on numbers, if it does not depend on a stuck operand. `sort` is the
/// sort of both operands, if it is the same.
fn simplified(builtin: Builtin, sort: Option<SortId>, values: &[Term]) -> Option<Term> {
    let [left, right] = values else { return None };
    let is = |term: &Term, number: &RBig| term.as_number() == Some(number);
    let (zero, one) = (RBig::ZERO, RBig::ONE);
    let least = match sort {
        Some(SortId::NAT) => Some(&zero),
        Some(SortId::POS) => Some(&one),
        _ => None,
    };
    let is_least = |term: &Term| least.is_some_and(|least| is(term, least));
    let found = match builtin {
        Builtin::Add if is(left, &zero) => right,
        Builtin::Add | Builtin::Subtract if is(right, &zero) => left,
        Builtin::Multiply if is(left, &zero) || is(right, &one) => left,
        Builtin::Multiply if is(right, &zero) || is(left, &one) => right,
        Builtin::Div | Builtin::Mod if is(left, &zero) => left,
        Builtin::Exp if is(right, &zero) => return Some(Term::count(1)),
        Builtin::Exp if is(right, &one) => left,
        Builtin::Max | Builtin::Min if left == right => left,
        Builtin::Max if is_least(left) => right,
        Builtin::Max if is_least(right) => left,
        Builtin::Min if is_least(left) => left,
        Builtin::Min if is_least(right) => right,
        _ => return None,
    };
    Some(found.clone())
}

/// Whether a number is a value of a sort.
fn fits(sort: SortId, value: &RBig) -> bool {
    let whole = value.is_int();
    match sort {
        SortId::POS => whole && *value > RBig::ZERO,
        SortId::NAT => whole && *value >= RBig::ZERO,
        SortId::INT => whole,
        _ => true,
    }
}

/// Arithmetic.
fn number(builtin: Builtin, values: &[Term]) -> Option<RBig> {
    let one = values[0].as_number()?;
    let half = RBig::ONE / RBig::from(IBig::from(2));
    let Some(other) = values.get(1) else {
        return Some(match builtin {
            Builtin::Negate => -one.clone(),
            Builtin::Succ => one + RBig::ONE,
            Builtin::Pred => one - RBig::ONE,
            Builtin::Abs => {
                if *one < RBig::ZERO {
                    -one.clone()
                } else {
                    one.clone()
                }
            }
            Builtin::Floor => RBig::from(one.floor()),
            Builtin::Ceil => RBig::from(one.ceil()),
            Builtin::Round => RBig::from((one + half).floor()),
            Builtin::Sqrt => RBig::from(root(one.numerator())),
            _ => return None,
        });
    };
    let other = other.as_number()?;
    Some(match builtin {
        Builtin::Add => one + other,
        Builtin::Subtract => one - other,
        Builtin::Multiply => one * other,
        Builtin::Max => one.max(other).clone(),
        Builtin::Min => one.min(other).clone(),
        Builtin::Divide | Builtin::Div | Builtin::Mod if *other == RBig::ZERO => return None,
        Builtin::Divide => one / other,
        Builtin::Div => RBig::from((one / other).floor()),
        Builtin::Mod => one - other * RBig::from((one / other).floor()),
        Builtin::Exp => {
            let exponent = other.numerator().clone();
            let size = u32::try_from(if exponent < IBig::ZERO { -exponent } else { exponent }).ok()?;
            if size > LARGEST_EXPONENT || (*one == RBig::ZERO && *other < RBig::ZERO) {
                return None;
            }
            let power = (0..size).fold(RBig::ONE, |power, _| power * one);
            if *other < RBig::ZERO { RBig::ONE / power } else { power }
        }
        _ => return None,
    })
}

/// The integer square root, by binary search.
fn root(value: &IBig) -> IBig {
    let (mut low, mut high) = (IBig::ZERO, value + IBig::ONE);
    while &low + IBig::ONE < high {
        let middle = (&low + &high) / IBig::from(2);
        if &middle * &middle <= *value {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
