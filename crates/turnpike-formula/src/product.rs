//! A model whose states know what a formula requires of the path that led to them.
//!
//! States have one word more: the state of the [`Monitor`](crate::monitor::Monitor). So every strategy
//! that looks for a failed assertion looks for a path that decides the formula, with its own store,
//! witness, shortening and replay.

use std::sync::Arc;

use turnpike_model::formula::Property;
use turnpike_model::{
    Explorer, Label, LabelId, Model, ModelInfo, StepError, Successors, Violation, ViolationKind, Violations,
    hash,
};

use crate::fragment::fragment;
use crate::monitor::{Monitor, Rules};
use crate::numbers::DECIDED;

/// A model together with a formula that a path decides.
pub struct Product {
    model: Arc<dyn Model>,
    property: Arc<dyn Property>,
    info: ModelInfo,
    rules: Rules,
    /// Whether a path refutes the formula; otherwise one proves it.
    refutes: bool,
}

impl Product {
    /// The product, if a path decides the formula.
    pub fn new(model: Arc<dyn Model>, property: Arc<dyn Property>) -> Option<Product> {
        let formula = property.formula();
        let refutes = fragment(formula).path_refutes()?;
        let rules = Rules::new(formula, refutes);
        let mut info = model.info().clone();
        info.width += 1;
        info.fingerprint = hash::mix(info.fingerprint, 0x006d_6366);
        info.violations = &[ViolationKind::Assertion];
        info.capabilities.violations_on_expansion = rules.needs_enabled(formula);
        info.suggestions = Vec::new();
        Some(Product { model, property, info, rules, refutes })
    }
}

impl Model for Product {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        let formula = self.property.formula();
        let monitor = Monitor::new(formula, self.property.judge(), &self.rules);
        let inner = self.model.explorer();
        let successors = Successors::new(self.info.width - 1);
        Box::new(Walker { product: self, inner, monitor, successors, last: None })
    }

    fn left_out(&self) -> Option<String> {
        self.model.left_out()
    }
}

/// One thread's view of the product.
struct Walker<'p> {
    product: &'p Product,
    inner: Box<dyn Explorer + 'p>,
    monitor: Monitor<'p>,
    successors: Successors,
    /// The state that was expanded last, and what was left of its obligations.
    last: Option<(Vec<u32>, u32)>,
}

fn split(state: &[u32]) -> (&[u32], u32) {
    let (set, inner) = state.split_last().expect("a product state has a word for the monitor");
    (inner, *set)
}

impl Walker<'_> {
    /// Fills `successors` with the steps of the model, and settles what the state decides.
    fn look(&mut self, state: &[u32]) -> Result<u32, StepError> {
        let (inner, set) = split(state);
        self.inner.successors(inner, &mut self.successors)?;
        self.monitor.judge().learn(self.successors.labels(), &mut *self.inner)?;
        match self.product.info.capabilities.violations_on_expansion {
            true => Ok(self.monitor.settle(set, self.successors.labels())?),
            false => Ok(set),
        }
    }
}

impl Explorer for Walker<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        self.inner.initial(out)?;
        out.push(self.monitor.initial()?);
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        if split(state).1 == DECIDED {
            return Ok(());
        }
        let set = self.look(state)?;
        self.last = Some((state.to_vec(), set));
        if set == DECIDED {
            return Ok(());
        }
        let mut target = Vec::with_capacity(state.len());
        for index in 0..self.successors.len() {
            let next = self.monitor.step(set, self.successors.label(index))?;
            target.clear();
            target.extend_from_slice(self.successors.state(index));
            target.push(next);
            out.push(self.successors.label(index), &target);
        }
        Ok(())
    }

    fn content_hash(&mut self, state: &[u32]) -> u64 {
        let (inner, set) = split(state);
        hash::mix(self.inner.content_hash(inner), self.monitor.content_hash(set))
    }

    fn label(&mut self, id: LabelId) -> Label {
        self.inner.label(id)
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        self.inner.state_values(split(state).0, out);
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let _ = state;
        successors.is_empty()
    }

    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        let (inner, set) = split(state);
        self.inner.encode(inner, out);
        out.extend_from_slice(&self.monitor.content_hash(set).to_le_bytes());
    }

    fn violations(&mut self) -> Option<&mut dyn Violations> {
        Some(self)
    }
}

impl Violations for Walker<'_> {
    fn violation(&mut self, state: &[u32]) -> Option<Violation> {
        let decided = match &self.last {
            _ if split(state).1 == DECIDED => true,
            Some((last, set)) if last == state => *set == DECIDED,
            _ if !self.product.info.capabilities.violations_on_expansion => false,
            // It was expanded before, so this cannot fail.
            _ => self.look(state).is_ok_and(|set| set == DECIDED),
        };
        let message = if self.product.refutes { "the formula is violated" } else { "the formula holds" };
        decided.then(|| Violation { kind: ViolationKind::Assertion, message: message.to_owned() })
    }
}
