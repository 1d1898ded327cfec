//! Declarations of models and processes: assigns numbers to cells, clocks and channels, and
//! evaluates constants.

use turnpike_model::Diagnostic;

use crate::network::{Channel, Variable};
use crate::syntax::uppaal::{PREDECLARED_TYPES, tree};
use crate::typed::constants::in_range;
use crate::typed::functions::Owner;
use crate::typed::types::{ANY_INT, Class, Declared, MOST_CELLS, Real, Type};
use crate::typed::{
    Checker, Entity, FunctionKey, GLOBAL, Lvalue, Memory, Named, Operand, Outcome, Purpose, SYSTEM, Scope,
    reals,
};

/// The predeclared names of every model: types and limits of fixed-width integers, a few numbers,
/// and the cost of priced automata. Declarations of the model shadow them.
pub(crate) fn predeclared(dialect: tree::Dialect) -> Scope {
    let mut scope = Scope::default();
    let mut add = |name: &str, entity| scope.names.insert(name.to_owned(), Named { entity, since: 0 });
    let constant = |value| {
        let lvalue = Lvalue::constant(ANY_INT, vec![value]);
        Entity::Stored { lvalue, computable: true }
    };
    let cost = Lvalue::new(Type::Real(Real::Cost), Memory::Global, 0);
    add("cost", Entity::Stored { lvalue: cost, computable: false });
    if dialect == tree::Dialect::New {
        for (name, low, high) in PREDECLARED_TYPES {
            let ty = Type::Int { low, high };
            add(name, Entity::Type(Declared { ty, constant: false, meta: false, unbounded: false }));
            let limit = name.trim_end_matches("_t").to_uppercase();
            add(&format!("{limit}_MAX"), constant(high));
            if low < 0 {
                add(&format!("{limit}_MIN"), constant(low));
            }
        }
        for (name, value) in [
            ("FLT_MIN", f64::from(f32::MIN_POSITIVE)),
            ("FLT_MAX", f64::from(f32::MAX)),
            ("DBL_MIN", f64::MIN_POSITIVE),
            ("DBL_MAX", f64::MAX),
            ("M_PI", std::f64::consts::PI),
            ("M_PI_2", std::f64::consts::FRAC_PI_2),
            ("M_PI_4", std::f64::consts::FRAC_PI_4),
            ("M_E", std::f64::consts::E),
            ("M_LOG2E", std::f64::consts::LOG2_E),
            ("M_LOG10E", std::f64::consts::LOG10_E),
            ("M_LN2", std::f64::consts::LN_2),
            ("M_LN10", std::f64::consts::LN_10),
            ("M_1_PI", std::f64::consts::FRAC_1_PI),
            ("M_2_PI", std::f64::consts::FRAC_2_PI),
            ("M_2_SQRTPI", std::f64::consts::FRAC_2_SQRT_PI),
            ("M_SQRT2", std::f64::consts::SQRT_2),
            ("M_SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
        ] {
            add(name, Entity::Number(value));
        }
    }
    scope
}

impl Checker<'_> {
    /// The declarations of the model, of the system text, or of the process named in `prefix`.
    pub(crate) fn declarations(&mut self, declarations: &[tree::Declaration], owner: Owner) {
        self.process_declarations(declarations, owner, "");
    }

    /// The same, with a prefix for the names of variables.
    pub(crate) fn process_declarations(
        &mut self,
        declarations: &[tree::Declaration],
        owner: Owner,
        prefix: &str,
    ) {
        let names = declarations.iter().flat_map(tree::Declaration::names).map(str::to_owned).collect();
        let outer = std::mem::replace(&mut self.upcoming, names);
        self.declare_all(declarations, owner, prefix);
        self.upcoming = outer;
    }

    fn declare_all(&mut self, declarations: &[tree::Declaration], owner: Owner, prefix: &str) {
        for (index, declaration) in declarations.iter().enumerate() {
            if self.enough_errors() {
                return;
            }
            let outcome = match declaration {
                tree::Declaration::Variables(group) => self.variables(group, owner, prefix),
                tree::Declaration::Typedef(typedef) => self.typedef(typedef),
                tree::Declaration::Function(function) => {
                    let key = FunctionKey { owner, index };
                    self.declare(&function.name, Entity::Function(key, self.scope))
                }
                tree::Declaration::ChannelPriority(priority) => self.channel_priority(priority),
            };
            if let Err(error) = outcome {
                let names = declaration.names().into_iter().map(str::to_owned);
                self.failed.extend(names.map(|name| (name, error.clone())));
                self.note(error);
            }
        }
    }

    fn variables(&mut self, group: &tree::Variables, owner: Owner, prefix: &str) -> Outcome<()> {
        let shared = match is_constant_double(group) {
            // Most such constants are evaluated: `real_variable` warns about the others.
            true => Declared {
                ty: Type::Real(Real::Double),
                constant: true,
                meta: group.ty.prefix.meta,
                unbounded: false,
            },
            false => self.declared(&group.ty, &[])?,
        };
        for variable in &group.variables {
            let declared = self.with_dimensions(shared.clone(), &variable.dimensions, &variable.span)?;
            let entity = self.variable(variable, declared, owner, prefix);
            match entity {
                Ok(entity) => self.declare(&variable.name, entity)?,
                Err(error) => {
                    // Declared nevertheless, so that uses of it are not reported as errors.
                    let values = shared.ty.defaults();
                    let lvalue = Lvalue::constant(shared.ty.clone(), values);
                    let _ = self.declare(&variable.name, Entity::Stored { lvalue, computable: true });
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn variable(
        &mut self,
        variable: &tree::Variable,
        declared: Declared,
        owner: Owner,
        prefix: &str,
    ) -> Outcome<Entity> {
        let name = &variable.name;
        let Declared { ty, constant, meta, .. } = declared;
        let class = ty.class();
        if ty == Type::Void {
            return Err(Diagnostic::error("a variable cannot be `void`").at(name.span.clone(), ""));
        }
        if let (Class::Clock | Class::Channel, Some(_)) = (class, &variable.initial) {
            let what = if class == Class::Clock { "clocks" } else { "channels" };
            return Err(Diagnostic::error(format!("{what} have no initial value"))
                .at(variable.span.clone(), format!("this is {}", ty.describe()))
                .help("clocks begin at 0; assign them on an edge"));
        }
        if let Type::Real(kind) = ty {
            return self.real_variable(variable, kind, constant);
        }
        let full = format!("{prefix}{}", name.name);
        let base;
        let memory = match class {
            Class::Clock => {
                base = self.room(self.network.clocks.len(), &ty, &name.span)?;
                ty.each_cell(&full, &mut |name, _| self.network.clocks.push(name));
                Memory::Clock
            }
            Class::Channel => {
                base = self.room(self.network.channels.len(), &ty, &name.span)?;
                ty.each_cell(&full, &mut |name, ty| {
                    let (urgent, broadcast) = match *ty {
                        Type::Channel { urgent, broadcast } => (urgent, broadcast),
                        _ => (false, false),
                    };
                    let priority = self.network.default_priority;
                    self.network.channels.push(Channel { name, broadcast, urgent, priority });
                });
                Memory::Channel
            }
            Class::Data => {
                let mut values = match &variable.initial {
                    Some(initial) => self.initial(&ty, initial)?,
                    None if constant => {
                        return Err(Diagnostic::error(format!("the constant `{}` has no value", name.name))
                            .at(variable.span.clone(), "")
                            .help("give it one: = 3"));
                    }
                    None => ty.defaults(),
                };
                if constant {
                    if owner == Owner::Global && self.scope == GLOBAL && ty.range().is_some() {
                        self.overridden(name, &ty, &mut values)?;
                    }
                    let lvalue = Lvalue::constant(ty, values);
                    return Ok(Entity::Stored { lvalue, computable: true });
                }
                base = self.cells(&full, &ty, &values, meta, &name.span)?;
                Memory::Global
            }
        };
        Ok(Entity::Stored { lvalue: Lvalue::new(ty, memory, base), computable: false })
    }

    /// A real variable, whose value is not tracked unless it is a constant.
    fn real_variable(&mut self, variable: &tree::Variable, kind: Real, constant: bool) -> Outcome<Entity> {
        if let Some(tree::Initializer::Value(value)) = &variable.initial {
            if constant
                && let Ok(operand) = self.with_purpose(Purpose::Constant, |this| this.operand(value))
                && let Some(known) = reals::known(&operand)
            {
                return Ok(Entity::Number(known));
            }
            self.ignored(value)?;
        }
        if constant {
            self.warn_about(kind, &variable.span);
        }
        let lvalue = Lvalue::new(Type::Real(kind), Memory::Global, 0);
        Ok(Entity::Stored { lvalue, computable: false })
    }

    /// Allocates variables of the network.
    pub(crate) fn cells(
        &mut self,
        name: &str,
        ty: &Type,
        values: &[i32],
        meta: bool,
        place: &crate::network::Place,
    ) -> Outcome<u32> {
        let base = self.room(self.network.variables.len(), ty, place)?;
        let mut index = 0;
        ty.each_cell(name, &mut |name, ty| {
            let (low, high) = ty.range().unwrap_or((0, 0));
            let initial = values.get(index).copied().unwrap_or(0);
            index += 1;
            self.network.variables.push(Variable { name, low, high, initial, meta });
        });
        Ok(base)
    }

    fn room(&self, used: usize, ty: &Type, place: &crate::network::Place) -> Outcome<u32> {
        if used as u64 + u64::from(ty.cells()) > u64::from(MOST_CELLS) {
            return Err(Diagnostic::error("the model has too many variables, clocks or channels")
                .at(place.clone(), format!("at most {MOST_CELLS} of each are supported")));
        }
        Ok(used as u32)
    }

    /// Applies the value that the user set a constant to.
    fn overridden(&mut self, name: &tree::Identifier, ty: &Type, values: &mut Vec<i32>) -> Outcome<()> {
        let Some(text) = self.settings.get(&name.name).cloned() else { return Ok(()) };
        self.used_settings.insert(name.name.clone());
        let value = match text.trim() {
            "true" => 1,
            "false" => 0,
            number => number.parse::<i32>().map_err(|_| {
                Diagnostic::error(format!("`{}` cannot be set to `{number}`", name.name))
                    .at(name.span.clone(), format!("this is {}", ty.describe()))
                    .help("give a whole number, `true` or `false`")
            })?,
        };
        if *ty == Type::Bool && !(0..=1).contains(&value) {
            return Err(Diagnostic::error(format!("`{}` cannot be set to `{value}`", name.name))
                .at(name.span.clone(), "this is a truth value"));
        }
        *values = vec![in_range(ty, value, &name.span)?];
        Ok(())
    }

    fn channel_priority(&mut self, priority: &tree::ChannelPriority) -> Outcome<()> {
        if self.scope != GLOBAL && self.scope != SYSTEM {
            return Err(Diagnostic::error("priorities of channels are declared globally")
                .at(priority.span.clone(), ""));
        }
        let listed = priority
            .levels
            .iter()
            .position(|level| level.iter().any(|item| matches!(item, tree::Prioritised::Default(_))));
        // Unlisted channels have the lowest level, unless `default` is listed.
        let above = u32::from(listed.is_none());
        let default = listed.map_or(0, |level| level as u32);
        self.network.default_priority = default;
        for channel in &mut self.network.channels {
            channel.priority = default;
        }
        for (level, items) in priority.levels.iter().enumerate() {
            for item in items {
                let tree::Prioritised::Channel(expression) = item else { continue };
                let lvalue = match self.operand(expression)? {
                    Operand::Lvalue(lvalue)
                        if lvalue.ty.class() == Class::Channel && lvalue.offset.is_none() =>
                    {
                        lvalue
                    }
                    _ => {
                        return Err(Diagnostic::error("only channels have a priority")
                            .at(expression.span.clone(), "this is not a channel"));
                    }
                };
                let first = lvalue.base as usize;
                for channel in &mut self.network.channels[first..first + lvalue.count as usize] {
                    channel.priority = level as u32 + above;
                }
            }
        }
        Ok(())
    }
}

/// Constants that users can set.
pub(crate) fn constant_names(model: &tree::Model) -> Vec<&str> {
    let mut names = Vec::new();
    for declaration in &model.declarations {
        if let tree::Declaration::Variables(group) = declaration
            && group.ty.prefix.constant
        {
            names.extend(group.variables.iter().map(|variable| variable.name.name.as_str()));
        }
    }
    names
}

/// Whether a group declares constants of type `double` and no arrays.
fn is_constant_double(group: &tree::Variables) -> bool {
    let prefix = group.ty.prefix;
    matches!(group.ty.kind, tree::TypeKind::Double)
        && prefix.constant
        && !(prefix.urgent || prefix.broadcast)
        && group.variables.iter().all(|variable| variable.dimensions.is_empty())
}
