//! Functions. Each is lowered once per set of reference arguments; if an argument refers to local
//! cells of the caller, the function works in the caller's frame.

use turnpike_model::Diagnostic;

use super::expressions::Operand;
use super::fold::{Value, balanced, has_effects};
use super::reals::in_sequence;
use super::types::{ANY_INT, Class, Declared, Type};
use super::{Checker, Entity, Frame, GLOBAL, Lvalue, Memory, Outcome, Purpose, SYSTEM, Scope, Wanted};
use crate::network::{Cells, Expression, Function, FunctionId, Place, Space};
use crate::syntax::uppaal::tree::{self, ExpressionKind};

/// Where a function is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// Global declarations.
    Global,
    /// The system text.
    System,
    /// A template.
    Template(usize),
}

/// A function of the source, by the position of its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionKey {
    /// Which list.
    pub owner: Owner,
    /// Index of the declaration.
    pub index: usize,
}

/// The object that a reference parameter denotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reference {
    memory: Memory,
    base: u32,
    count: u32,
    dynamic: bool,
    read_only: bool,
}

/// What a function is lowered for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InstanceKey {
    function: FunctionKey,
    scope: usize,
    references: Vec<Reference>,
}

/// A lowered function.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// Its id in the network.
    pub id: FunctionId,
    /// Whether it writes variables or clocks.
    pub effects: bool,
    /// Whether it reads variables.
    pub reads: bool,
    /// Type of the result.
    pub result: Type,
}

/// Limit on the number of functions, counting each set of references.
const MOST_FUNCTIONS: usize = 1 << 16;

/// An argument that is ready to be bound.
enum Argument {
    Value(Type, Vec<Expression>),
    Reference(Lvalue),
}

impl<'t> Checker<'t> {
    /// The declaration of a function.
    pub(crate) fn function(&self, key: FunctionKey) -> Option<&'t tree::Function> {
        let declarations = match key.owner {
            Owner::Global => &self.tree.declarations,
            Owner::System => &self.tree.system.declarations,
            Owner::Template(index) => &self.tree.templates.get(index)?.declarations,
        };
        match declarations.get(key.index)? {
            tree::Declaration::Function(function) => Some(function),
            _ => None,
        }
    }

    /// `f(1, x)`, `P(1)`, `P.f()`
    pub(crate) fn call(
        &mut self,
        callee: &tree::Expression,
        arguments: &[tree::Expression],
        place: &Place,
    ) -> Outcome<Operand> {
        let (key, scope) = match &callee.kind {
            ExpressionKind::Name(name) => match self.lookup(name, &callee.span) {
                Some(Entity::Function(key, scope)) => (key, scope),
                other => {
                    if let Some(process) = self.process(name, arguments, place)? {
                        return Ok(Operand::Process(process));
                    }
                    if other.is_none()
                        && let Some(result) = self.predeclared_function(name, arguments, place)?
                    {
                        return Ok(result);
                    }
                    return Err(match other {
                        Some(other) => Diagnostic::error(format!("`{name}` is not a function"))
                            .at(callee.span.clone(), format!("this is {}", other.describe())),
                        None => self.unknown(name, &callee.span, Wanted::Function, |e| {
                            matches!(e, Entity::Function(..))
                        }),
                    });
                }
            },
            ExpressionKind::Field(process, member) => {
                let Operand::Process(process) = self.operand(process)? else {
                    return Err(Diagnostic::error("only functions can be called").at(callee.span.clone(), ""));
                };
                let scope = self.state.processes[process as usize].scope;
                match self.state.scopes[scope].get(&member.name) {
                    Some(Entity::Function(key, scope)) => (*key, *scope),
                    _ => {
                        return Err(Diagnostic::error(format!(
                            "the process has no function `{}`",
                            member.name
                        ))
                        .at(member.span.clone(), "not declared"));
                    }
                }
            }
            _ => return Err(Diagnostic::error("only functions can be called").at(callee.span.clone(), "")),
        };
        let Some(function) = self.function(key) else {
            return Err(Diagnostic::error("unknown function").at(callee.span.clone(), ""));
        };
        let (name, parameters) = (&function.name.name, function.parameters.len());
        if arguments.len() != parameters {
            let given = arguments.len();
            let message = format!("`{name}` has {parameters} parameters, but {given} arguments are given");
            return Err(Diagnostic::error(message).at(place.clone(), ""));
        }
        if self.calling.contains(&key) {
            return Err(Diagnostic::error(format!("`{name}` calls itself"))
                .at(callee.span.clone(), "recursion is not supported")
                .help("use a loop"));
        }
        if self.is_harmless(key, function, scope) {
            let void = function.result.kind == tree::TypeKind::Void;
            return self.call_harmless(void, arguments, place);
        }
        let mut bound = Vec::new();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            bound.push(self.argument(parameter, argument, scope)?);
        }
        self.call_bound(key, scope, function, bound, place)
    }

    /// A function without effects on integers: only its arguments are evaluated.
    fn call_harmless(
        &mut self,
        void: bool,
        arguments: &[tree::Expression],
        place: &Place,
    ) -> Outcome<Operand> {
        let mut done = Vec::new();
        for argument in arguments {
            let Some(checks) = self.ignored_argument(argument)? else {
                return Err(effects_of_argument(place));
            };
            done.extend(checks);
        }
        let done = (!done.is_empty()).then(|| in_sequence(done, Expression::Constant(0)));
        Ok(match void {
            true => {
                let expression = done.unwrap_or(Expression::Constant(0));
                Operand::Value(Value { ty: Type::Void, expression })
            }
            false => Operand::Real { known: None, effect: done },
        })
    }

    /// Checks an argument against its parameter, whose type is resolved in `scope`.
    fn argument(
        &mut self,
        parameter: &tree::Parameter,
        argument: &tree::Expression,
        scope: usize,
    ) -> Outcome<Argument> {
        let declared = self.written_in(scope, |this| this.declared(&parameter.ty, &parameter.dimensions))?;
        let place = &argument.span;
        let mismatch = |actual: &Type| mismatch(&parameter.name.name, &declared.ty, actual, place);
        if !parameter.reference
            && let Type::Real(_) = declared.ty
        {
            if self.ignored_argument(argument)?.is_none() {
                return Err(effects_of_argument(place));
            }
            return Ok(Argument::Value(declared.ty, Vec::new()));
        }
        let operand = self.operand(argument)?;
        if parameter.reference {
            return self.reference_argument(&parameter.name.name, declared, operand, place);
        }
        match declared.ty.class() {
            Class::Data => {}
            Class::Clock | Class::Channel => {
                return Err(Diagnostic::error("clocks and channels are passed as references")
                    .at(parameter.span.clone(), "add a `&`"));
            }
        }
        if declared.ty.range().is_some() {
            let value = self.value_of(operand, place)?;
            if !declared.ty.fits(&value.ty) {
                return Err(mismatch(&value.ty));
            }
            let expression =
                if declared.ty == Type::Bool { value.normalised(place) } else { value.expression };
            return Ok(Argument::Value(declared.ty, vec![expression]));
        }
        let (first, lvalue) = match operand {
            Operand::Lvalue(lvalue) => (None, lvalue),
            Operand::Result(first, lvalue) => (Some(first), lvalue),
            other => {
                let value = self.value_of(other, place)?;
                return Err(mismatch(&value.ty));
            }
        };
        if !declared.ty.fits(&lvalue.ty) {
            return Err(mismatch(&lvalue.ty));
        }
        if lvalue.offset.as_ref().is_some_and(has_effects) {
            return Err(
                Diagnostic::error("the index of an argument must not have effects").at(place.clone(), "")
            );
        }
        let mut cells: Vec<Expression> =
            lvalue.each().iter().map(|part| self.read(part).expression).collect();
        if let (Some(first), Some(cell)) = (first, cells.first_mut()) {
            let rest = std::mem::replace(cell, Expression::Constant(0));
            *cell = Expression::Sequence(Box::new([first, rest]));
        }
        Ok(Argument::Value(declared.ty, cells))
    }

    /// An argument for a reference parameter.
    fn reference_argument(
        &mut self,
        name: &str,
        declared: Declared,
        operand: Operand,
        place: &Place,
    ) -> Outcome<Argument> {
        let mut lvalue = match operand {
            Operand::Lvalue(lvalue) => lvalue,
            _ if declared.constant && declared.ty.range().is_some() => {
                // A constant reference to a computed value behaves like the value.
                let value = self.value_of(operand, place)?;
                return Ok(Argument::Value(declared.ty, vec![value.expression]));
            }
            _ => {
                return Err(Diagnostic::error(format!("`{name}` is a reference"))
                    .at(place.clone(), "this is not a variable"));
            }
        };
        if !declared.ty.fits(&lvalue.ty) {
            return Err(mismatch(name, &declared.ty, &lvalue.ty, place));
        }
        if lvalue.read_only && !declared.constant {
            return Err(Diagnostic::error(format!("`{name}` may be assigned by the function"))
                .at(place.clone(), "this is a constant")
                .help("make it a `const` reference"));
        }
        lvalue.read_only |= declared.constant;
        Ok(Argument::Reference(lvalue))
    }

    fn call_bound(
        &mut self,
        key: FunctionKey,
        scope: usize,
        function: &'t tree::Function,
        arguments: Vec<Argument>,
        place: &Place,
    ) -> Outcome<Operand> {
        let result = self.written_in(scope, |this| this.declared(&function.result, &[]))?.ty;
        if result.class() != Class::Data {
            return Err(Diagnostic::error("a function cannot return a clock or a channel")
                .at(function.result.span.clone(), ""));
        }
        let aggregate = matches!(result, Type::Array(_) | Type::Struct(_));
        let local = arguments.iter().any(
            |argument| matches!(argument, Argument::Reference(lvalue) if lvalue.memory == Memory::Local),
        );
        if aggregate || local {
            return self.call_shared(key, scope, function, arguments, result, place);
        }
        let references = arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Reference(lvalue) => Some(Reference {
                    memory: lvalue.memory.clone(),
                    base: lvalue.base,
                    count: lvalue.count,
                    dynamic: lvalue.offset.is_some(),
                    read_only: lvalue.read_only,
                }),
                Argument::Value(..) => None,
            })
            .collect();
        let instance_key = InstanceKey { function: key, scope, references };
        let instance = match self.state.instances.get(&instance_key) {
            Some(instance) => instance.clone(),
            None if self.purpose == Purpose::Query => {
                return Err(Diagnostic::error(format!(
                    "the query calls `{}` in a way that the model does not",
                    function.name.name
                ))
                .at(place.clone(), "reference parameters cannot be used here"));
            }
            None => {
                let instance = self.instantiate_function(key, scope, function, &arguments, result)?;
                self.state.instances.insert(instance_key, instance.clone());
                instance
            }
        };
        self.check_effects(&instance, function, place)?;
        let mut cells = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Value(_, values) => cells.extend(values),
                Argument::Reference(lvalue) => cells.extend(lvalue.offset),
            }
        }
        if let Type::Real(_) = instance.result {
            let call = Expression::Call { function: instance.id, arguments: cells, place: place.clone() };
            return Ok(Operand::Real { known: None, effect: instance.effects.then_some(call) });
        }
        let closed = !instance.effects && !instance.reads && instance.result != Type::Void;
        let known = cells.iter().all(|cell| matches!(cell, Expression::Constant(_)));
        let call = Expression::Call { function: instance.id, arguments: cells, place: place.clone() };
        if closed
            && known
            && self.purpose != Purpose::Query
            && let Some(value) = self.execute_call(&call)
        {
            let ty = match instance.result {
                Type::Int { .. } => Type::Int { low: value, high: value },
                other => other,
            };
            return Ok(Operand::Value(Value { ty, expression: Expression::Constant(value) }));
        }
        Ok(Operand::Value(Value { ty: instance.result, expression: call }))
    }

    fn check_effects(
        &mut self,
        instance: &Instance,
        function: &tree::Function,
        place: &Place,
    ) -> Outcome<()> {
        if instance.effects {
            let word = match self.purpose {
                Purpose::Action => {
                    self.effects = true;
                    ""
                }
                Purpose::Pure(word) => word,
                Purpose::Constant => "a constant",
                Purpose::Query => "a query",
            };
            if !word.is_empty() {
                return Err(Diagnostic::error(format!("{word} must not change anything"))
                    .at(place.clone(), format!("`{}` assigns variables", function.name.name))
                    .help("call it in an update"));
            }
        }
        self.reads |= instance.reads;
        Ok(())
    }

    /// Lowers a function with a frame of its own.
    fn instantiate_function(
        &mut self,
        key: FunctionKey,
        scope: usize,
        function: &'t tree::Function,
        arguments: &[Argument],
        result: Type,
    ) -> Outcome<Instance> {
        let outer_frame = std::mem::replace(&mut self.frame, Frame { locals: Vec::new(), available: true });
        let (outer_effects, outer_reads) = (self.effects, self.reads);
        (self.effects, self.reads) = (false, false);
        let body = self.function_body(key, scope, function, result.clone(), None, |this| {
            for (parameter, argument) in function.parameters.iter().zip(arguments) {
                let name = &parameter.name;
                let lvalue = match argument {
                    Argument::Value(ty, _) => {
                        let mut lvalue = this.allocate(&name.name, ty, &name.span)?;
                        lvalue.read_only = parameter.ty.prefix.constant;
                        lvalue
                    }
                    Argument::Reference(lvalue) => {
                        let mut lvalue = lvalue.clone();
                        if lvalue.offset.is_some() {
                            let hidden = this.allocate(&name.name, &ANY_INT, &name.span)?;
                            lvalue.offset = Some(this.read(&hidden).expression);
                        }
                        lvalue
                    }
                };
                this.declare(name, Entity::Stored { lvalue, computable: false })?;
            }
            Ok(this.frame.locals.len() as u32)
        });
        let frame = std::mem::replace(&mut self.frame, outer_frame);
        let (effects, reads) = (self.effects, self.reads);
        (self.effects, self.reads) = (outer_effects, outer_reads);
        let (parameters, body) = body?;
        let place = function.name.span.clone();
        let function = Function {
            name: function.name.name.clone(),
            parameters,
            locals: frame.locals,
            shared: false,
            result: result.range(),
            body,
        };
        let id = self.add_function(function, &place)?;
        Ok(Instance { id, effects, reads, result })
    }

    fn add_function(&mut self, function: Function, place: &Place) -> Outcome<FunctionId> {
        let id = self.network.functions.len();
        if id >= MOST_FUNCTIONS {
            return Err(Diagnostic::error("the model calls functions in too many different ways")
                .at(place.clone(), format!("at most {MOST_FUNCTIONS} are supported"))
                .help("use fewer reference parameters, and fewer results that are structs"));
        }
        self.network.functions.push(function);
        Ok(FunctionId(id as u32))
    }

    /// Lowers a function for a single call, in the frame of the caller.
    fn call_shared(
        &mut self,
        key: FunctionKey,
        scope: usize,
        function: &'t tree::Function,
        arguments: Vec<Argument>,
        result: Type,
        place: &Place,
    ) -> Outcome<Operand> {
        let aggregate = matches!(result, Type::Array(_) | Type::Struct(_));
        let out = if aggregate { Some(self.allocate(&function.name.name, &result, place)?) } else { None };
        let outer_effects = std::mem::replace(&mut self.effects, false);
        let mut before: Vec<Expression> = Vec::new();
        let body = self.function_body(key, scope, function, result.clone(), out.clone(), |this| {
            for (parameter, argument) in function.parameters.iter().zip(arguments) {
                let name = &parameter.name;
                let mut store = |this: &mut Self, ty: &Type, values: Vec<Expression>| {
                    let lvalue = this.allocate(&name.name, ty, &name.span)?;
                    for (cell, value) in values.into_iter().enumerate() {
                        before.push(Expression::Assign {
                            target: Cells::fixed(Space::Local, lvalue.base + cell as u32),
                            value: Box::new(value),
                            place: place.clone(),
                        });
                    }
                    Ok(lvalue)
                };
                let lvalue = match argument {
                    Argument::Value(ty, values) => {
                        let mut lvalue = store(this, &ty, values)?;
                        lvalue.read_only = parameter.ty.prefix.constant;
                        lvalue
                    }
                    Argument::Reference(mut lvalue) => {
                        if let Some(offset) = lvalue.offset.take() {
                            let hidden = store(this, &ANY_INT, vec![offset])?;
                            lvalue.offset = Some(this.read(&hidden).expression);
                        }
                        lvalue
                    }
                };
                this.declare(name, Entity::Stored { lvalue, computable: false })?;
            }
            Ok(0)
        });
        let effects = std::mem::replace(&mut self.effects, outer_effects);
        let (parameters, body) = body?;
        let lowered = Function {
            name: function.name.name.clone(),
            parameters,
            locals: Vec::new(),
            shared: true,
            result: result.range(),
            body,
        };
        let id = self.add_function(lowered, place)?;
        let instance = Instance { id, effects, reads: false, result: result.clone() };
        self.check_effects(&instance, function, place)?;
        before.push(Expression::Call { function: id, arguments: Vec::new(), place: place.clone() });
        let join = &mut |first, second| Expression::Sequence(Box::new([first, second]));
        let expression = balanced(before, join).unwrap_or(Expression::Constant(0));
        Ok(match out {
            Some(lvalue) => Operand::Result(expression, lvalue),
            None if matches!(result, Type::Real(_)) => {
                Operand::Real { known: None, effect: Some(expression) }
            }
            None => Operand::Value(Value { ty: result, expression }),
        })
    }

    /// Lowers the body in a scope with the parameters that `bind` declares.
    fn function_body(
        &mut self,
        key: FunctionKey,
        scope: usize,
        function: &'t tree::Function,
        result: Type,
        out: Option<Lvalue>,
        bind: impl FnOnce(&mut Self) -> Outcome<u32>,
    ) -> Outcome<(u32, Vec<crate::network::Statement>)> {
        let outer_purpose = std::mem::replace(&mut self.purpose, Purpose::Action);
        let outer_result = std::mem::replace(&mut self.result, result);
        let outer_out = std::mem::replace(&mut self.out, out);
        self.calling.push(key);
        let outcome = self.written_in(scope, |this| {
            this.within(|this| {
                let parameters = bind(this)?;
                let mut body = Vec::new();
                this.block(&function.body, &mut body)?;
                Ok((parameters, body))
            })
        });
        self.calling.pop();
        self.out = outer_out;
        self.result = outer_result;
        self.purpose = outer_purpose;
        outcome
    }

    /// Lowers the functions that are never called, so that queries can call them, and to report
    /// their errors.
    pub(crate) fn remaining_functions(&mut self) {
        for (owner, scope) in [(Owner::Global, GLOBAL), (Owner::System, SYSTEM)] {
            let count = match owner {
                Owner::Global => self.tree.declarations.len(),
                _ => self.tree.system.declarations.len(),
            };
            for index in 0..count {
                self.remaining_function(FunctionKey { owner, index }, scope);
            }
        }
        let scopes: Vec<usize> = self.state.processes.iter().map(|process| process.scope).collect();
        for scope in scopes {
            let mut keys: Vec<(usize, FunctionKey)> = self.state.scopes[scope]
                .names
                .values()
                .filter_map(|named| match &named.entity {
                    Entity::Function(key, scope) => Some((*scope, *key)),
                    _ => None,
                })
                .collect();
            keys.sort_unstable_by_key(|(_, key)| key.index);
            for (scope, key) in keys {
                self.remaining_function(key, scope);
            }
        }
    }

    fn remaining_function(&mut self, key: FunctionKey, scope: usize) {
        let Some(function) = self.function(key) else { return };
        if function.parameters.iter().any(|parameter| parameter.reference) {
            return;
        }
        let instance_key = InstanceKey { function: key, scope, references: Vec::new() };
        if self.state.instances.contains_key(&instance_key) {
            return;
        }
        let outcome = self.remaining_instance(key, scope, function);
        match outcome {
            Ok(Some(instance)) => {
                self.state.instances.insert(instance_key, instance);
            }
            Ok(None) => {}
            // It is never called, so unsupported features in it do not matter.
            Err(error) if super::reals::is_about_reals(&error) => {}
            Err(error) => self.note(error),
        }
    }

    fn remaining_instance(
        &mut self,
        key: FunctionKey,
        scope: usize,
        function: &'t tree::Function,
    ) -> Outcome<Option<Instance>> {
        let (types, result) = self.written_in(scope, |this| {
            let types: Outcome<Vec<Type>> = function
                .parameters
                .iter()
                .map(|parameter| Ok(this.declared(&parameter.ty, &parameter.dimensions)?.ty))
                .collect();
            Outcome::Ok((types?, this.declared(&function.result, &[])?.ty))
        })?;
        if matches!(result, Type::Array(_) | Type::Struct(_)) {
            return Ok(None);
        }
        if types.iter().any(|ty| ty.class() != Class::Data) {
            return Err(Diagnostic::error("clocks and channels are passed as references")
                .at(function.name.span.clone(), "add a `&` to the parameter"));
        }
        let arguments: Vec<Argument> = types.into_iter().map(|ty| Argument::Value(ty, Vec::new())).collect();
        self.instantiate_function(key, scope, function, &arguments, result).map(Some)
    }
}

fn mismatch(name: &str, declared: &Type, actual: &Type, place: &Place) -> Diagnostic {
    Diagnostic::error(format!("`{name}` must be {}", declared.describe()))
        .at(place.clone(), format!("this is {}", actual.describe()))
}

fn effects_of_argument(place: &Place) -> Diagnostic {
    Diagnostic::error("an argument for a `double` must not have effects")
        .at(place.clone(), "this assigns variables")
        .help("assign it in a separate statement")
}

/// A scope for parameters.
pub(crate) fn scope_below(parent: usize) -> Scope {
    Scope { parent: Some(parent), ..Scope::default() }
}
