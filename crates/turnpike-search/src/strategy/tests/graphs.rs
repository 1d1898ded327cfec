//! Small systems that the distribution tests run on. A state is a number below 16; a set of states is a bit mask.

use turnpike_lts::{Lts, LtsModel, Transition};
use turnpike_model::LabelId;

/// A system given by the successors of each state, with as many transitions as they are repeated; the last states may
/// be left out when they have none. The initial state is 0.
#[derive(Clone, Copy)]
pub(super) struct Graph {
    pub(super) name: &'static str,
    pub(super) successors: &'static [&'static [u32]],
}

/// From every state the others, but for a few: what was passed over comes back in the next levels.
pub(super) const SHORTCUTS: Graph = Graph {
    name: "shortcuts",
    successors: &[
        &[1, 2, 3, 4, 5],
        &[2, 3, 6],
        &[1, 4, 7],
        &[5, 2, 6, 7],
        &[1, 5, 3],
        &[4, 7, 2, 1],
        &[0, 1, 4, 7],
        &[3, 5, 6],
    ],
};

/// State 5 is where all of level one leads to, by parallel transitions too, and there are ways back.
pub(super) const FUNNEL: Graph = Graph {
    name: "funnel",
    successors: &[
        &[1, 1, 2, 3, 4],
        &[5, 6, 2],
        &[5, 5, 7],
        &[7, 5, 1],
        &[5, 6, 3],
        &[1, 2, 3, 4],
        &[2, 4, 7],
        &[1, 3, 0, 5],
    ],
};

/// A ring with chords forwards and backwards, and loops.
pub(super) const RING: Graph = Graph {
    name: "ring",
    successors: &[
        &[0, 1, 2, 3, 5, 6],
        &[2, 6, 3],
        &[3, 0, 5],
        &[4, 1, 3, 6],
        &[5, 2, 1],
        &[6, 4, 2],
        &[0, 2, 4],
    ],
};

/// A tree, and ways back into states already visited: no two states of a level share an eligible successor.
pub(super) const TREE: Graph = Graph {
    name: "tree",
    successors: &[
        &[1, 2, 3],
        &[0, 4, 5],
        &[6, 0, 7, 2],
        &[8, 9],
        &[0, 10],
        &[11],
        &[12],
        &[13, 0],
        &[14],
        &[15],
    ],
};

/// Four states that share the successor 5 and have two more each.
pub(super) const SHARED: Graph = Graph {
    name: "shared",
    successors: &[&[1, 2, 3, 4], &[5, 6, 7], &[8, 5, 9], &[10, 11, 5], &[12, 13, 5]],
};

impl Graph {
    fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.successors).flat_map(|(from, targets)| targets.iter().map(move |&to| (from, to)))
    }

    pub(super) fn model(&self) -> LtsModel {
        let states = self.edges().map(|(from, to)| from.max(to)).max().unwrap_or(0) + 1;
        assert!(states <= 16);
        let transitions = self.edges().map(|(from, to)| Transition { from, label: LabelId(0), to }).collect();
        let lts = Lts { initial: 0, states, labels: vec!["step".to_owned()], transitions };
        LtsModel::new(self.name, lts).expect("a sound system")
    }

    /// The successors of a set of states.
    pub(super) fn successors_of(&self, states: u16) -> u16 {
        self.edges().filter(|(from, _)| states >> from & 1 == 1).fold(0, |set, (_, to)| set | 1 << to)
    }
}
