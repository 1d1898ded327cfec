//! Predeclared functions, most of them on real numbers.

use turnpike_model::Diagnostic;

use super::{decides, known, real, whole};
use crate::network::{Binary, Place, Unary};
use crate::syntax::uppaal::tree;
use crate::typed::expressions::{self, Operand};
use crate::typed::fold::{self, Value, has_effects};
use crate::typed::types::Real;
use crate::typed::{Checker, Outcome};

impl Checker<'_> {
    /// The predeclared function of this name, if there is one.
    pub(crate) fn predeclared_function(
        &mut self,
        name: &str,
        arguments: &[tree::Expression],
        place: &Place,
    ) -> Outcome<Option<Operand>> {
        if !is_predeclared(name) {
            return Ok(None);
        }
        if name == "abs"
            && let [argument] = arguments
        {
            let operand = self.operand(argument)?;
            if real(&operand).is_none() {
                let value = self.value_of(operand, &argument.span)?;
                let value = expressions::numeric(value, &argument.span)?;
                if has_effects(&value.expression) {
                    return Err(Diagnostic::error("the argument of `abs` must not have effects")
                        .at(argument.span.clone(), "")
                        .help("assign it to a variable first"));
                }
                let minus = fold::unary(Unary::Minus, value.clone());
                return Ok(Some(Operand::Value(fold::binary(Binary::Maximum, value, minus, place))));
            }
        }
        let mut numbers = Vec::new();
        for argument in arguments {
            let operand = self.operand(argument)?;
            numbers.push(known(&operand));
        }
        let result = match numbers.as_slice() {
            [Some(one)] => computed(name, *one),
            [Some(one), Some(other)] => match name {
                "pow" => Some(one.powf(*other)),
                "fmod" => Some(one % other),
                "fmax" => Some(one.max(*other)),
                "fmin" => Some(one.min(*other)),
                "hypot" => Some(one.hypot(*other)),
                _ => None,
            },
            _ => None,
        };
        let result = result.filter(|value| value.is_finite());
        if name == "fint" {
            return match whole(result) {
                Some(value) => Ok(Some(Operand::Value(Value::int(value)))),
                None => Err(decides(Real::Double, place)),
            };
        }
        Ok(Some(Operand::Real { known: result, effect: None }))
    }
}

/// Whether a function is predeclared.
pub(super) fn is_predeclared(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "abs",
        "fabs",
        "fmod",
        "remainder",
        "fma",
        "fmax",
        "fmin",
        "fdim",
        "exp",
        "exp2",
        "expm1",
        "ln",
        "log",
        "log10",
        "log2",
        "log1p",
        "pow",
        "sqrt",
        "cbrt",
        "hypot",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
        "tgamma",
        "lgamma",
        "ceil",
        "floor",
        "trunc",
        "round",
        "fint",
        "ldexp",
        "ilogb",
        "logb",
        "nextafter",
        "copysign",
        "signbit",
        "random",
        "random_arcsine",
        "random_beta",
        "random_gamma",
        "random_normal",
        "random_poisson",
        "random_tri",
        "random_weibull",
    ];
    NAMES.contains(&name)
}

fn computed(name: &str, value: f64) -> Option<f64> {
    Some(match name {
        "abs" | "fabs" => value.abs(),
        "exp" => value.exp(),
        "exp2" => value.exp2(),
        "ln" | "log" => value.ln(),
        "log10" => value.log10(),
        "log2" => value.log2(),
        "sqrt" => value.sqrt(),
        "cbrt" => value.cbrt(),
        "sin" => value.sin(),
        "cos" => value.cos(),
        "tan" => value.tan(),
        "ceil" => value.ceil(),
        "floor" => value.floor(),
        "trunc" | "fint" => value.trunc(),
        "round" => value.round(),
        _ => return None,
    })
}
