//! The system line: which processes exist, and the values of their parameters.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use crate::network::{Place, Process};
use crate::syntax::uppaal::tree;
use crate::typed::functions::{Owner, scope_below};
use crate::typed::types::{Class, Type};
use crate::typed::{
    Checker, Entity, Family, GLOBAL, Lvalue, Memory, Operand, Outcome, ProcessNames, Purpose, SYSTEM,
};

/// Limit on the number of processes.
const MOST_PROCESSES: u64 = 1 << 16;

/// The value of a parameter, or why its argument has none, which is an error only if it is used.
type Binding = Result<Lvalue, Box<Diagnostic>>;

/// A template, or an instantiation of one.
#[derive(Clone, Copy, Debug)]
enum Definition {
    Template(usize),
    Instantiation(usize),
}

impl<'t> Checker<'t> {
    /// Lowers everything after the templates.
    pub(crate) fn system(&mut self) {
        let tree = self.tree;
        let mut definitions: FxHashMap<&str, Definition> = FxHashMap::default();
        for (index, template) in tree.templates.iter().enumerate() {
            if let Err(error) = self.declare(&template.name, Entity::Template) {
                self.note(error);
            }
            definitions.insert(&template.name.name, Definition::Template(index));
        }
        self.scope = SYSTEM;
        self.declarations(&tree.system.declarations, Owner::System);
        if !self.errors.is_empty() {
            return;
        }
        // An instantiation may use only earlier ones, so chains of them end.
        let mut known: Vec<(&'t tree::Instantiation, Definition)> = Vec::new();
        for (index, instantiation) in tree.system.instantiations.iter().enumerate() {
            let Some(&definition) = definitions.get(instantiation.template.name.as_str()) else {
                let error = no_template(&instantiation.template, &definitions);
                self.note(error);
                return;
            };
            if let Definition::Template(index) = definition
                && tree.templates[index].name.span.start > instantiation.template.span.start
            {
                let name = &instantiation.template;
                self.note(
                    Diagnostic::error(format!("`{}` is used before its declaration", name.name))
                        .at(name.span.clone(), "declared only later")
                        .help(format!("move this after the template `{}`", name.name)),
                );
                return;
            }
            known.push((instantiation, definition));
            if let Err(error) = self.declare(&instantiation.name, Entity::Template) {
                self.note(error);
            }
            definitions.insert(&instantiation.name.name, Definition::Instantiation(index));
        }
        let mut used = vec![false; tree.templates.len()];
        for (level, names) in tree.system.levels.iter().enumerate() {
            for name in names {
                let Some(&definition) = definitions.get(name.name.as_str()) else {
                    let error = no_template(name, &definitions);
                    self.note(error);
                    continue;
                };
                if self.state.families.contains_key(&name.name) {
                    self.note(
                        Diagnostic::error(format!("`{}` is listed twice", name.name))
                            .at(name.span.clone(), "a process of this name exists already"),
                    );
                    continue;
                }
                let outcome = self.family(name, definition, &known, level as u32, &mut used);
                if let Err(error) = outcome {
                    self.note(error);
                }
                if self.enough_errors() {
                    return;
                }
            }
        }
        for (template, used) in tree.templates.iter().zip(used) {
            if !used {
                self.warnings.push(
                    Diagnostic::warning(format!(
                        "the template `{}` is not part of the system",
                        template.name.name
                    ))
                    .at(template.name.span.clone(), "not checked"),
                );
            }
        }
        self.scope = GLOBAL;
    }

    fn parameters(&self, definition: Definition) -> &'t [tree::Parameter] {
        match definition {
            Definition::Template(index) => &self.tree.templates[index].parameters,
            Definition::Instantiation(index) => &self.tree.system.instantiations[index].parameters,
        }
    }

    /// One process for each combination of values of the free parameters.
    fn family(
        &mut self,
        name: &tree::Identifier,
        definition: Definition,
        known: &[(&'t tree::Instantiation, Definition)],
        priority: u32,
        used: &mut [bool],
    ) -> Outcome<()> {
        let mut free = Vec::new();
        let mut count = 1u64;
        for parameter in self.parameters(definition) {
            let home = match definition {
                Definition::Template(_) => GLOBAL,
                Definition::Instantiation(_) => SYSTEM,
            };
            let declared =
                self.written_in(home, |this| this.declared(&parameter.ty, &parameter.dimensions))?;
            let range = declared.ty.range().filter(|_| !parameter.reference && !declared.unbounded);
            let Some((low, high)) = range else {
                return Err(Diagnostic::error(format!("`{}` needs arguments", name.name))
                    .at(name.span.clone(), format!("its parameter `{}` is open", parameter.name.name))
                    .help("only bounded integers and scalars that are not references can stay open; give the others when instantiating"));
            };
            free.push((parameter, declared, low, high));
            count = count.saturating_mul((i64::from(high) - i64::from(low) + 1) as u64);
        }
        if self.network.processes.len() as u64 + count > MOST_PROCESSES {
            return Err(Diagnostic::error(format!("`{}` stands for {count} processes", name.name))
                .at(name.span.clone(), format!("at most {MOST_PROCESSES} are supported")));
        }
        let family = Family {
            first: self.network.processes.len() as u32,
            parameters: free.iter().map(|&(_, _, low, high)| (low, high)).collect(),
        };
        self.state.families.insert(name.name.clone(), family);
        let mut values: Vec<i32> = free.iter().map(|&(_, _, low, _)| low).collect();
        for _ in 0..count {
            let bindings = free
                .iter()
                .zip(&values)
                .map(|((_, declared, ..), &value)| Ok(Lvalue::constant(declared.ty.clone(), vec![value])))
                .collect();
            let process = if free.is_empty() {
                name.name.clone()
            } else {
                let values: Vec<String> = values.iter().map(i32::to_string).collect();
                format!("{}({})", name.name, values.join(","))
            };
            self.instantiate(&process, definition, bindings, known, priority, used)?;
            if self.enough_errors() {
                return Ok(());
            }
            for (value, &(_, _, low, high)) in values.iter_mut().zip(&free).rev() {
                if *value < high {
                    *value += 1;
                    break;
                }
                *value = low;
            }
        }
        Ok(())
    }

    /// Follows a chain of instantiations to the template.
    fn instantiate(
        &mut self,
        process: &str,
        mut definition: Definition,
        mut bindings: Vec<Binding>,
        known: &[(&'t tree::Instantiation, Definition)],
        priority: u32,
        used: &mut [bool],
    ) -> Outcome<()> {
        while let Definition::Instantiation(index) = definition {
            let (instantiation, next) = known[index];
            let parameters = self.parameters(next);
            if instantiation.arguments.len() != parameters.len() {
                return Err(Diagnostic::error(format!(
                    "`{}` has {} parameters, but {} arguments are given",
                    instantiation.template.name,
                    parameters.len(),
                    instantiation.arguments.len()
                ))
                .at(instantiation.span.clone(), ""));
            }
            let outer = self.scope;
            self.scope = SYSTEM;
            let next_bindings = self.within(|this| {
                for (parameter, binding) in instantiation.parameters.iter().zip(bindings) {
                    let constant = this.declared(&parameter.ty, &parameter.dimensions)?.constant;
                    let computable = constant && !parameter.reference;
                    let entity = match binding {
                        Ok(lvalue) => Entity::Stored { lvalue, computable },
                        Err(error) => Entity::NoValue(error),
                    };
                    this.declare(&parameter.name, entity)?;
                }
                let home = match next {
                    Definition::Template(_) => GLOBAL,
                    Definition::Instantiation(_) => SYSTEM,
                };
                let mut list = Vec::new();
                for (parameter, argument) in parameters.iter().zip(&instantiation.arguments) {
                    list.push(this.template_argument(parameter, argument, home)?);
                }
                Ok(list)
            });
            self.scope = outer;
            bindings = next_bindings?;
            definition = next;
        }
        let Definition::Template(index) = definition else { return Ok(()) };
        used[index] = true;
        self.new_process(process, index, bindings, priority)
    }

    /// The value of a template parameter.
    fn template_argument(
        &mut self,
        parameter: &tree::Parameter,
        argument: &tree::Expression,
        home: usize,
    ) -> Outcome<Binding> {
        let declared = self.written_in(home, |this| this.declared(&parameter.ty, &parameter.dimensions))?;
        check_parameter(parameter, &declared.ty)?;
        let place: &Place = &argument.span;
        if !parameter.reference {
            return match self.constant_cells(&declared.ty, argument) {
                Ok(cells) => Ok(Ok(Lvalue::constant(declared.ty, cells))),
                // Arguments are substituted as written: one without a value is harmless if the
                // parameter is unused.
                Err(error) if self.lacks_value(argument) => {
                    let warning = Diagnostic::warning(format!(
                        "the argument for `{}` has no value",
                        parameter.name.name
                    ));
                    let warning = warning.at(place.clone(), error.message.clone());
                    if !self.warnings.contains(&warning) {
                        self.warnings.push(warning);
                    }
                    Ok(Err(Box::new(error)))
                }
                Err(error) => Err(error),
            };
        }
        let Operand::Lvalue(mut lvalue) = self.operand(argument)? else {
            return Err(Diagnostic::error(format!("`{}` is a reference", parameter.name.name))
                .at(place.clone(), "this is not a variable"));
        };
        if lvalue.offset.is_some() {
            return Err(Diagnostic::error(
                "the argument of a reference must be known before the system runs",
            )
            .at(place.clone(), "this depends on the state"));
        }
        if !declared.ty.fits(&lvalue.ty) {
            return Err(Diagnostic::error(format!(
                "`{}` must be {}",
                parameter.name.name,
                declared.ty.describe()
            ))
            .at(place.clone(), format!("this is {}", lvalue.ty.describe())));
        }
        if lvalue.read_only && !declared.constant {
            return Err(Diagnostic::error(format!(
                "`{}` may be assigned by the process",
                parameter.name.name
            ))
            .at(place.clone(), "this is a constant")
            .help("make the parameter a `const` reference"));
        }
        lvalue.read_only |= declared.constant;
        Ok(Ok(lvalue))
    }

    /// Whether an argument that could not be evaluated is nevertheless constant, such as an element
    /// that an array does not have.
    fn lacks_value(&mut self, argument: &tree::Expression) -> bool {
        if let tree::ExpressionKind::Name(name) = &argument.kind
            && let Some(Entity::NoValue(_)) = self.lookup(name, &argument.span)
        {
            return true;
        }
        let reads = std::mem::replace(&mut self.reads, false);
        let value = self.with_purpose(Purpose::Pure("an argument"), |this| this.value(argument));
        let constant = !std::mem::replace(&mut self.reads, reads);
        constant && value.is_ok_and(|value| value.known().is_none())
    }

    /// Lowers a template for one set of arguments.
    fn new_process(
        &mut self,
        name: &str,
        index: usize,
        bindings: Vec<Binding>,
        priority: u32,
    ) -> Outcome<()> {
        let template = &self.tree.templates[index];
        let scope = self.state.scopes.len();
        self.state.scopes.push(scope_below(GLOBAL));
        let outer = std::mem::replace(&mut self.scope, scope);
        let outcome = self.fill_process(name, index, template, bindings, priority);
        self.scope = outer;
        outcome
    }

    fn fill_process(
        &mut self,
        name: &str,
        index: usize,
        template: &'t tree::Template,
        bindings: Vec<Binding>,
        priority: u32,
    ) -> Outcome<()> {
        let prefix = format!("{name}.");
        for (parameter, binding) in template.parameters.iter().zip(bindings) {
            // The types of parameters are resolved outside of the process.
            let declared =
                self.written_in(GLOBAL, |this| this.declared(&parameter.ty, &parameter.dimensions))?;
            check_parameter(parameter, &declared.ty)?;
            // A parameter that is assigned becomes a variable with the argument as its initial
            // value.
            let assigned = !parameter.reference
                && !declared.constant
                && super::edges::is_assigned(template, self.tree, &parameter.name.name);
            let mut lvalue = match binding {
                Ok(lvalue) => lvalue,
                Err(error) if assigned => return Err(*error),
                Err(error) => {
                    self.declare(&parameter.name, Entity::NoValue(error))?;
                    continue;
                }
            };
            let mut computable = false;
            if !parameter.reference {
                computable = declared.constant;
                if assigned {
                    let Memory::Constant(values) = &lvalue.memory else { continue };
                    let values = values.to_vec();
                    let full = format!("{prefix}{}", parameter.name.name);
                    let base =
                        self.cells(&full, &declared.ty, &values, declared.meta, &parameter.name.span)?;
                    lvalue = Lvalue::new(declared.ty, Memory::Global, base);
                }
            }
            self.declare(&parameter.name, Entity::Stored { lvalue, computable })?;
        }
        self.process_declarations(&template.declarations, Owner::Template(index), &prefix);
        for location in template.locations.iter().filter(|location| !location.anonymous) {
            if self.state.scopes[self.scope].names.contains_key(&location.name) {
                let process = &template.name.name;
                self.warn_once(
                    Diagnostic::warning(format!(
                        "`{process}` has a location and something else called `{}`",
                        location.name
                    ))
                    .at(location.span.clone(), "queries that use this name refer to the location")
                    .help("UPPAAL rejects this: give one of them another name"),
                );
            }
        }
        let mut process = Process { name: name.to_owned(), priority, ..Process::default() };
        self.locations(template, &mut process);
        self.edges(template, &mut process);
        let locations = template
            .locations
            .iter()
            .enumerate()
            .filter(|(_, location)| !location.anonymous)
            .map(|(index, location)| (location.name.clone(), index as u32))
            .collect();
        self.state.processes.push(ProcessNames { scope: self.scope, locations: Arc::new(locations) });
        self.network.processes.push(process);
        Ok(())
    }
}

/// Clocks and channels have no value to pass.
fn check_parameter(parameter: &tree::Parameter, ty: &Type) -> Outcome<()> {
    if !parameter.reference && ty.class() != Class::Data {
        return Err(Diagnostic::error("clocks and channels are passed as references")
            .at(parameter.span.clone(), format!("this is {}", ty.describe()))
            .help(format!("add a `&` before `{}`", parameter.name.name)));
    }
    if *ty == Type::Void {
        return Err(Diagnostic::error("a parameter cannot be `void`").at(parameter.span.clone(), ""));
    }
    Ok(())
}

fn no_template(name: &tree::Identifier, definitions: &FxHashMap<&str, Definition>) -> Diagnostic {
    let mut names: Vec<&str> = definitions.keys().copied().collect();
    names.sort_unstable();
    Diagnostic::error(format!("there is no template `{}`", name.name))
        .at(name.span.clone(), "not declared")
        .suggest(&name.name, names)
}
