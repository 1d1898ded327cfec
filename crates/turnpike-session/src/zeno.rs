//! Zeno runs of timed automata: whether a cycle may be one, and what to report.

use serde::Serialize;
use turnpike_model::Diagnostic;
use turnpike_timed::network::Network;
use turnpike_timed::zeno;

/// What is known of the runs that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Zeno {
    /// Some may be Zeno.
    Possible,
    /// Those that are do not count.
    Excluded,
    /// The shape of the model has none.
    Impossible,
}

impl Zeno {
    /// What is known of a network's runs; `exclude`: whether Zeno runs are not to count.
    pub fn of(network: &Network, exclude: bool) -> Zeno {
        match zeno::culprits(network, &|_, _| true).is_empty() {
            true => Zeno::Impossible,
            false if exclude => Zeno::Excluded,
            false => Zeno::Possible,
        }
    }

    /// Whether it is worth a word: when a cycle was found, or when excluding Zeno runs changes nothing.
    pub(crate) fn is_worth_mentioning(self, found: bool, asked: bool) -> bool {
        found || (asked && self == Zeno::Impossible)
    }

    /// What a cycle that was found means.
    pub fn about(self) -> &'static str {
        match self {
            Zeno::Possible => {
                "need not diverge on this cycle (a Zeno run); the option `non-zeno` excludes such runs"
            }
            Zeno::Excluded => {
                "diverges along this run: a minimum time passes before each state with non-zeno=ticked"
            }
            Zeno::Impossible => "passes on every loop of this model, so no run is Zeno",
        }
    }

    /// The same as a warning, where one is due.
    pub fn warning(self) -> Option<Diagnostic> {
        (self == Zeno::Possible).then(|| Diagnostic::warning(format!("time {}", self.about())))
    }

    /// The error for excluding Zeno runs where that means nothing.
    pub fn useless(what: &str) -> Diagnostic {
        Diagnostic::error(format!("the option `non-zeno` is for cycles of timed automata, but {what}"))
            .help("use it with the objective `accepting` or with queries")
    }
}
