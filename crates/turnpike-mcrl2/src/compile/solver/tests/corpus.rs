//! Plans for the sums of public models.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compile::evaluator::{Rules, Scope};
use crate::compile::solver::Plan;
use crate::compile::solver::step::Step;
use crate::lower::linearise;
use crate::syntax::parse_specification;
use crate::typed::check_specification;

fn models(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "mcrl2") {
            into.push(path);
        }
    }
}

fn count(steps: &[Step], narrowed: &mut usize, endless: &mut Vec<String>) {
    for step in steps {
        match step {
            Step::Narrow(_) => *narrowed += 1,
            Step::Endless { reason, .. } => endless.push(reason.clone()),
            Step::Branches(branches) => branches.iter().for_each(|branch| count(branch, narrowed, endless)),
            _ => {}
        }
    }
}

#[test]
fn public_models_are_planned() {
    let Some(corpus) = turnpike_corpus::open() else { return };
    let mut paths = Vec::new();
    models(&corpus.path("models/mcrl2"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty());
    let (mut plans, mut searched, mut hopeless) = (0, 0, 0);
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let (specification, _) = parse_specification(&text);
        let (Some(program), _) = check_specification(&specification) else { continue };
        let Ok(process) = linearise(program) else { continue };
        let rules = Rules::new(Arc::new(process.program.clone()));
        for summand in &process.summands {
            let mut scope = Scope::default();
            for parameter in &process.parameters {
                scope.slot(parameter.variable);
            }
            let (mut narrowed, mut endless) = (0, Vec::new());
            let plan =
                Plan::new(&rules, &process.program, &summand.variables, &summand.conditions, &mut scope);
            count(&plan.steps, &mut narrowed, &mut endless);
            plans += 1;
            if narrowed > 0 {
                searched += 1;
            }
            // Only sums over real numbers or without a condition cannot be planned.
            let other = endless
                .iter()
                .filter(|reason| !reason.contains("Real") && !reason.contains("nothing bounds"));
            hopeless += other.count();
        }
    }
    assert!(plans > 5_000, "{plans}");
    assert!(searched * 100 < plans, "{searched} of {plans} plans build values constructor by constructor");
    assert!(hopeless <= 2, "{hopeless}");
}
