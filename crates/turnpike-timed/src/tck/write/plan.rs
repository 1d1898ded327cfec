//! Decides where the local variables of an edge are declared, and which statements go into which
//! `do` attribute.

use rustc_hash::FxHashMap;

use super::Output;
use super::names::{Group, groups};
use super::visit;
use crate::network::{Cells, Edge, Expression, Language, Space, Statement};

/// The declarations of an edge's local variables.
pub(super) struct Plan {
    pub(super) groups: Vec<Group>,
    /// The statements that declare a group. The address serves only as an identity.
    pub(super) declares: FxHashMap<*const Statement, usize>,
    /// Whether a statement declares the group; otherwise it is declared at the start.
    pub(super) in_place: Vec<bool>,
    /// The statements of each `do` attribute.
    pub(super) parts: Vec<std::ops::Range<usize>>,
}

/// The mentions of a local variable.
#[derive(Clone, Default)]
struct Mentions {
    /// The statement that declares it, if its first mention does.
    first: Option<*const Statement>,
    mentioned: bool,
    /// Scopes from the outermost to that of the first mention.
    path: Vec<usize>,
    /// How much of the path all mentions share.
    common: usize,
    /// First and last top-level statement.
    span: (usize, usize),
}

impl Plan {
    pub(super) fn new(output: &Output<'_>, edge: &Edge) -> Plan {
        let names: Vec<String> = edge.locals.iter().map(|local| local.name.clone()).collect();
        let mut regions = Vec::new();
        visit::edge_cells(output.network, edge, &mut |cells| {
            if cells.space == Space::Local && cells.offset.is_some() {
                regions.push((cells.base, cells.count));
            }
        });
        let groups = groups(&names, regions, |_, _| true);
        let mut group_of = vec![0; names.len()];
        for (index, group) in groups.iter().enumerate() {
            for cell in group.base..group.base + group.count {
                group_of[cell as usize] = index;
            }
        }
        let mut scan = Scan {
            output,
            group_of: &group_of,
            groups: &groups,
            mentions: vec![Mentions::default(); groups.len()],
            path: vec![0],
            scopes: 0,
            top: 0,
        };
        for (index, statement) in edge.update.iter().enumerate() {
            scan.top = index;
            scan.statement(statement, &edge.update[index..]);
        }
        let mentions = scan.mentions;
        let mut declares = FxHashMap::default();
        let mut in_place = Vec::new();
        for (index, mention) in mentions.iter().enumerate() {
            let declared = mention.first.filter(|_| mention.common == mention.path.len());
            // An unused variable needs no declaration.
            in_place.push(declared.is_some() || !mention.mentioned);
            if let Some(statement) = declared {
                declares.insert(statement, index);
            }
        }
        let parts = parts(edge, &groups, &mentions, &in_place);
        Plan { groups, declares, in_place, parts }
    }
}

/// Variables of the same name need different attributes: splits the statements wherever no variable
/// is used on both sides.
fn parts(
    edge: &Edge,
    groups: &[Group],
    mentions: &[Mentions],
    in_place: &[bool],
) -> Vec<std::ops::Range<usize>> {
    let end = edge.update.len();
    let mut wanted: Vec<&str> = groups.iter().map(|group| group.wanted.as_str()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut parts = Vec::new();
    let mut start = 0;
    if wanted.len() < groups.len() && !in_place.contains(&false) {
        let mut crossed = vec![false; end];
        let mut begins = vec![false; end];
        for mention in mentions.iter().filter(|mention| mention.mentioned) {
            let (first, last) = mention.span;
            crossed[first + 1..=last].fill(true);
            begins[first] = true;
        }
        for cut in 1..end {
            if begins[cut] && !crossed[cut] {
                parts.push(start..cut);
                start = cut;
            }
        }
    }
    parts.push(start..end);
    parts
}

struct Scan<'a> {
    output: &'a Output<'a>,
    group_of: &'a [usize],
    groups: &'a [Group],
    mentions: Vec<Mentions>,
    path: Vec<usize>,
    scopes: usize,
    top: usize,
}

impl Scan<'_> {
    fn mention(&mut self, cell: u32, declares: Option<*const Statement>) {
        let Some(&group) = self.group_of.get(cell as usize) else { return };
        let mention = &mut self.mentions[group];
        if mention.mentioned {
            let same = mention.path.iter().zip(&self.path).take_while(|(a, b)| a == b).count();
            mention.common = mention.common.min(same);
        } else {
            *mention = Mentions {
                first: declares,
                mentioned: true,
                path: self.path.clone(),
                common: self.path.len(),
                span: (self.top, self.top),
            };
        }
        mention.span.1 = self.top;
    }

    fn expression(&mut self, expression: &Expression) {
        let mut cells = Vec::new();
        visit::expression_cells(self.output.network, expression, &mut |read: &Cells| {
            if read.space == Space::Local {
                cells.push(read.base);
            }
        });
        for cell in cells {
            self.mention(cell, None);
        }
    }

    fn scoped(&mut self, statements: &[Statement]) {
        self.scopes += 1;
        self.path.push(self.scopes);
        self.block(statements);
        self.path.pop();
    }

    fn block(&mut self, statements: &[Statement]) {
        for (index, statement) in statements.iter().enumerate() {
            self.statement(statement, &statements[index..]);
        }
    }

    /// `rest` starts with the statement.
    fn statement(&mut self, statement: &Statement, rest: &[Statement]) {
        match statement {
            Statement::Assign { target, value, .. }
                if target.space == Space::Local && target.offset.is_none() =>
            {
                self.expression(value);
                let group = self.group_of.get(target.base as usize).map(|&group| &self.groups[group]);
                let declares = group.is_some_and(|group| declares(group, rest));
                self.mention(target.base, declares.then_some(std::ptr::from_ref(statement)));
            }
            Statement::If(condition, then, otherwise) => {
                self.expression(condition);
                // In the format a variable outlives its branch, but its value would not be certain.
                if self.output.network.language == Language::Tck {
                    self.block(then);
                    self.block(otherwise);
                } else {
                    self.scoped(then);
                    self.scoped(otherwise);
                }
            }
            Statement::While(condition, body, _) => {
                self.expression(condition);
                self.scoped(body);
            }
            Statement::For { local, body, .. } => {
                let group = self.group_of.get(*local as usize).map(|&group| &self.groups[group]);
                let single = group.is_some_and(|group| group.count == 1);
                self.mention(*local, single.then_some(std::ptr::from_ref(statement)));
                self.scoped(body);
            }
            other => {
                let mut cells = Vec::new();
                visit::statement_cells(self.output.network, other, &mut |mentioned: &Cells| {
                    if mentioned.space == Space::Local {
                        cells.push(mentioned.base);
                    }
                });
                for cell in cells {
                    self.mention(cell, None);
                }
            }
        }
    }
}

/// Whether statements start by setting a whole variable: a single cell to any value, an array to
/// zero.
fn declares(group: &Group, statements: &[Statement]) -> bool {
    if group.count == 1 {
        return true;
    }
    (0..group.count).all(|cell| {
        matches!(
            statements.get(cell as usize),
            Some(Statement::Assign { target, value: Expression::Constant(0), .. })
                if target.space == Space::Local && target.offset.is_none() && target.base == group.base + cell
        )
    })
}
