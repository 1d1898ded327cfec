//! Whether a result counts as success, for scripts.

use serde::Serialize;
use turnpike_search::Verdict;

use crate::problem::Problem;
use crate::report::{Answer, Reply};
use crate::request::{Expect, Goals};

/// Whether a result is the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// The result is as expected.
    Passed,
    /// The result is not as expected.
    Failed,
    /// The result is unknown, because of a limit, a lossy store, or something left out.
    Inconclusive,
    /// The query is not supported.
    Skipped,
    /// The query is wrong.
    Wrong,
}

impl Conclusion {
    /// The conclusion of a search.
    pub fn of_search(verdict: Verdict, in_part: bool, goals: &Goals) -> Self {
        let expect = goals.expect.unwrap_or(Expect::None);
        match (verdict, expect) {
            (Verdict::Inconclusive, _) => Conclusion::Inconclusive,
            (Verdict::None, _) if in_part && goals.strict => Conclusion::Inconclusive,
            (Verdict::Measured, _) | (_, Expect::Any) => Conclusion::Passed,
            (Verdict::Found, Expect::Found) | (Verdict::None, Expect::None) => Conclusion::Passed,
            _ => Conclusion::Failed,
        }
    }

    /// The conclusion of a search for all of these objectives, each of which must end as expected.
    pub(crate) fn of_all(verdicts: &[Verdict], in_part: bool, goals: &Goals) -> Self {
        let all = verdicts.iter().map(|&verdict| Conclusion::of_search(verdict, in_part, goals));
        all.fold(Conclusion::Passed, |one, other| match (one, other) {
            (Conclusion::Failed, _) | (_, Conclusion::Failed) => Conclusion::Failed,
            (Conclusion::Passed, other) => other,
            (one, _) => one,
        })
    }

    /// The conclusion of the answer to a query, which the model may expect to hold or not.
    pub(crate) fn of_reply(reply: &Result<Reply, Problem>, of_model: Option<bool>, goals: &Goals) -> Self {
        let satisfied = match reply {
            Ok(Reply::Searched { satisfied, .. }) => *satisfied,
            Ok(Reply::Measured(extremes)) if extremes.verdict() == Verdict::Inconclusive => None,
            Ok(Reply::Measured(_)) => return Conclusion::Passed,
            Err(problem) if problem.is_unsupported() => return Conclusion::Skipped,
            Err(_) => return Conclusion::Wrong,
        };
        let Some(satisfied) = satisfied else { return Conclusion::Inconclusive };
        let expected = match goals.expect {
            Some(Expect::Any) => return Conclusion::Passed,
            Some(Expect::Satisfied) => true,
            Some(Expect::NotSatisfied) => false,
            _ => of_model.unwrap_or(true),
        };
        if satisfied == expected { Conclusion::Passed } else { Conclusion::Failed }
    }

    /// The conclusion of all queries together: a wrong one counts most, then a failed one, then an
    /// unknown one. If there is none at all, that is wrong as well.
    pub(crate) fn of_answers(answers: &[Answer]) -> Self {
        let has = |conclusion| answers.iter().any(|answer| answer.conclusion == conclusion);
        if has(Conclusion::Wrong) || answers.iter().all(|answer| answer.conclusion == Conclusion::Skipped) {
            Conclusion::Wrong
        } else if has(Conclusion::Failed) {
            Conclusion::Failed
        } else if has(Conclusion::Inconclusive) || has(Conclusion::Skipped) {
            Conclusion::Inconclusive
        } else {
            Conclusion::Passed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives() {
        use Conclusion::{Failed, Inconclusive, Passed};
        let conclude = |verdict, expect, strict| {
            let goals = Goals { expect, strict, ..Goals::default() };
            Conclusion::of_search(verdict, true, &goals)
        };
        for (expect, found, none) in [
            (None, Failed, Passed),
            (Some(Expect::None), Failed, Passed),
            (Some(Expect::Found), Passed, Failed),
            (Some(Expect::Any), Passed, Passed),
        ] {
            assert_eq!(conclude(Verdict::Found, expect, false), found);
            assert_eq!(conclude(Verdict::None, expect, false), none);
            assert_eq!(conclude(Verdict::Inconclusive, expect, false), Inconclusive);
            assert_eq!(conclude(Verdict::Measured, expect, false), Passed);
            assert_eq!(conclude(Verdict::None, expect, true), Inconclusive, "searched in part only");
            assert_eq!(conclude(Verdict::Found, expect, true), found);
        }
        let goals = Goals { strict: true, ..Goals::default() };
        assert_eq!(Conclusion::of_search(Verdict::None, false, &goals), Passed);
    }

    #[test]
    fn all_objectives_by_precedence() {
        use Conclusion::{Failed, Inconclusive, Passed};
        let goals = Goals { expect: Some(Expect::Found), ..Goals::default() };
        let conclude = |verdicts: &[Verdict]| Conclusion::of_all(verdicts, false, &goals);
        assert_eq!(conclude(&[Verdict::Found, Verdict::Found]), Passed);
        assert_eq!(conclude(&[Verdict::Found, Verdict::None]), Failed);
        assert_eq!(conclude(&[Verdict::Found, Verdict::Inconclusive]), Inconclusive);
        assert_eq!(conclude(&[Verdict::Inconclusive, Verdict::None]), Failed);
    }

    #[test]
    fn queries_by_precedence() {
        use Conclusion::{Failed, Inconclusive, Passed, Skipped, Wrong};
        let answers = |conclusions: &[Conclusion]| {
            let answer = |&conclusion: &Conclusion| Answer {
                query: crate::QueryText { text: String::new(), comment: String::new(), expect: None },
                reply: Err(Problem::new("")),
                conclusion,
                seconds: 0.0,
            };
            Conclusion::of_answers(&conclusions.iter().map(answer).collect::<Vec<_>>())
        };
        assert_eq!(answers(&[Passed, Passed]), Passed);
        assert_eq!(answers(&[Passed, Skipped]), Inconclusive);
        assert_eq!(answers(&[Passed, Inconclusive]), Inconclusive);
        assert_eq!(answers(&[Skipped, Failed, Inconclusive, Passed]), Failed);
        assert_eq!(answers(&[Failed, Wrong, Passed]), Wrong);
        assert_eq!(answers(&[Skipped, Skipped]), Wrong);
    }
}
