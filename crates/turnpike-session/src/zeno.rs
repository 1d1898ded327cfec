//! Zeno runs of timed automata: whether cycles may be Zeno, and how to report that.

use serde::Serialize;
use turnpike_model::Diagnostic;
use turnpike_timed::network::Network;
use turnpike_timed::zeno;

/// Whether the runs of a search may be Zeno.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Zeno {
    /// Some may be Zeno.
    Possible,
    /// Zeno runs are excluded.
    Excluded,
    /// The structure of the model has no Zeno runs.
    Impossible,
}

impl Zeno {
    /// The case of a network's runs. `exclude`: whether to exclude Zeno runs.
    pub fn of(network: &Network, exclude: bool) -> Zeno {
        match zeno::culprits(network, &|_, _| true).is_empty() {
            true => Zeno::Impossible,
            false if exclude => Zeno::Excluded,
            false => Zeno::Possible,
        }
    }

    /// Whether to mention it: if a cycle was found, or if excluding Zeno runs has no effect.
    pub(crate) fn is_worth_mentioning(self, found: bool, asked: bool) -> bool {
        found || (asked && self == Zeno::Impossible)
    }

    /// The meaning for a cycle that was found.
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

    /// The warning, if one is needed.
    pub fn warning(self) -> Option<Diagnostic> {
        (self == Zeno::Possible).then(|| Diagnostic::warning(format!("time {}", self.about())))
    }

    /// The error for excluding Zeno runs when that has no meaning.
    pub fn useless(what: &str) -> Diagnostic {
        Diagnostic::error(format!("the option `non-zeno` is for cycles of timed automata, but {what}"))
            .help("use it with the objective `accepting` or with queries")
    }
}
