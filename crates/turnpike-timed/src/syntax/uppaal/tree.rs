//! The syntax tree of UPPAAL models and queries.
//!
//! What the parser already settles, so that nobody else has to: locations are numbers, not names;
//! branchpoints are gone (one edge per way through, updates concatenated); old syntax looks like
//! new syntax (`const K 10` is a `const int`, commas in guards are conjunctions, parameters are
//! references where they were); constructs that turnpike does not support never reach the tree,
//! except [`ExpressionKind::Rate`]. Names are not resolved and nothing has a type yet.
//!
//! Every `span` counts bytes of the source file, also for texts of XML files with entities in them.
//! Recursion over a tree is safe: nothing nests deeper than [`HEIGHT`], and long chains of `&&` and
//! `||` are balanced.

use std::ops::Range;

/// No expression is higher than this, and no statement, type or initialiser nests deeper.
pub const HEIGHT: u32 = 250;

/// A name where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Identifier {
    /// The name.
    pub name: String,
    /// Where.
    pub span: Range<usize>,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The syntax it is written in: integers of the old one have the same types and ranges.
    pub dialect: Dialect,
    /// Global declarations in order.
    pub declarations: Vec<Declaration>,
    /// Templates in order. XTA calls them processes.
    pub templates: Vec<Template>,
    /// Instantiations and the system line.
    pub system: System,
    /// Queries as written; see [`super::parse_query`]. A query that turnpike cannot answer does not
    /// spoil the model.
    pub queries: Vec<Query>,
}

/// New or old syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Since version 4.0.
    New,
    /// Before version 4.0.
    Old,
}

/// One declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Declaration {
    /// `const int N = 3, M[2] = {1, 2};` and everything else that has a type: variables, clocks,
    /// channels.
    Variables(Variables),
    /// `typedef int[0,3] id_t, row_t[4];`
    Typedef(Typedef),
    /// `int f(int x) { … }`
    Function(Function),
    /// `chan priority a < default;`
    ChannelPriority(ChannelPriority),
}

impl Declaration {
    /// Where it is.
    pub fn span(&self) -> Range<usize> {
        match self {
            Declaration::Variables(variables) => variables.span.clone(),
            Declaration::Typedef(typedef) => typedef.span.clone(),
            Declaration::Function(function) => function.span.clone(),
            Declaration::ChannelPriority(priority) => priority.span.clone(),
        }
    }

    /// The names that it declares.
    pub(crate) fn names(&self) -> Vec<&str> {
        fn all(variables: &[Variable]) -> Vec<&str> {
            variables.iter().map(|variable| variable.name.name.as_str()).collect()
        }
        match self {
            Declaration::Variables(group) => all(&group.variables),
            Declaration::Typedef(typedef) => all(&typedef.names),
            Declaration::Function(function) => vec![&function.name.name],
            Declaration::ChannelPriority(_) => Vec::new(),
        }
    }
}

/// Variables that are declared together.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables {
    /// The type that all share; a `scalar[n]` in it is one set.
    pub ty: Type,
    /// Never empty.
    pub variables: Vec<Variable>,
    /// With the semicolon.
    pub span: Range<usize>,
}

/// One name of a declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: Identifier,
    /// Array dimensions, the outermost first; empty when it is no array.
    pub dimensions: Vec<Dimension>,
    /// The value it begins with.
    pub initial: Option<Initializer>,
    /// From the name to the end of the value.
    pub span: Range<usize>,
}

/// Type names that are declared together.
#[derive(Clone, Debug, PartialEq)]
pub struct Typedef {
    /// The type that all share.
    pub ty: Type,
    /// Never empty; without initial values.
    pub names: Vec<Variable>,
    /// With the semicolon.
    pub span: Range<usize>,
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Dimension {
    /// So many cells, from index 0.
    Size(Expression),
    /// One cell for each value of a type.
    Index(Type),
}

/// The value a variable begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// One value.
    Value(Expression),
    /// `{1, 2}` or `{x: 1, y: 2}`
    List {
        /// Elements or fields in the order written; never empty.
        items: Vec<(Option<Identifier>, Initializer)>,
        /// With the braces.
        span: Range<usize>,
    },
}

/// A type without array dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Words before it.
    pub prefix: Prefix,
    /// The type itself.
    pub kind: TypeKind,
    /// With the words before it.
    pub span: Range<usize>,
}

/// Words before a type. Whether they fit the type is not checked by the parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// `const`
    pub constant: bool,
    /// `meta`
    pub meta: bool,
    /// `urgent`
    pub urgent: bool,
    /// `broadcast`
    pub broadcast: bool,
}

/// The kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `int`; the constants of the old syntax too.
    Int,
    /// `int[low, high]`
    Range(Box<Expression>, Box<Expression>),
    /// `bool`
    Bool,
    /// `clock`
    Clock,
    /// `chan`
    Channel,
    /// `void`, as the result of a function.
    Void,
    /// `double`
    Double,
    /// `hybrid clock`
    Hybrid,
    /// `scalar[n]`: a new set at every place where it is written.
    Scalar(Box<Expression>),
    /// `struct { … }`
    Struct(Vec<Fields>),
    /// The name of a type.
    Name(String),
}

/// Fields of a struct that are declared together.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// The type that all share.
    pub ty: Type,
    /// Never empty; without initial values.
    pub names: Vec<Variable>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Type of the result.
    pub result: Type,
    /// The name.
    pub name: Identifier,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Block,
    /// From the result type to the closing brace.
    pub span: Range<usize>,
}

/// A parameter of a function, a template or an instantiation.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// `&`: stands for what is given, rather than for its value.
    pub reference: bool,
    /// The name.
    pub name: Identifier,
    /// Array dimensions, the outermost first.
    pub dimensions: Vec<Dimension>,
    /// From the type (in the old syntax: from the name) to the dimensions.
    pub span: Range<usize>,
}

/// `chan priority a, b[0] < default < c;`
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelPriority {
    /// Lowest level first.
    pub levels: Vec<Vec<Prioritised>>,
    /// With the semicolon.
    pub span: Range<usize>,
}

/// What is given a priority.
#[derive(Clone, Debug, PartialEq)]
pub enum Prioritised {
    /// A channel, a cell or all cells of an array.
    Channel(Expression),
    /// Every channel that is not listed, and edges without a channel.
    Default(Range<usize>),
}

/// `{ … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Variables and types.
    pub declarations: Vec<Declaration>,
    /// In order.
    pub statements: Vec<Statement>,
    /// With the braces.
    pub span: Range<usize>,
}

/// A statement of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Which.
    pub kind: StatementKind,
    /// Where.
    pub span: Range<usize>,
}

/// The kinds of statements. Lists of expressions are evaluated in order; as a condition the last
/// one counts, and an empty one is true.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `;`
    Empty,
    /// `{ … }`
    Block(Block),
    /// `e;`
    Expression(Expression),
    /// `if (c) then else otherwise`
    If {
        /// Never empty.
        condition: Vec<Expression>,
        /// When it holds.
        then: Box<Statement>,
        /// When it does not.
        otherwise: Option<Box<Statement>>,
    },
    /// `while (c) body`
    While {
        /// Never empty.
        condition: Vec<Expression>,
        /// While it holds.
        body: Box<Statement>,
    },
    /// `do body while (c);`
    DoWhile {
        /// At least once.
        body: Box<Statement>,
        /// Never empty.
        condition: Vec<Expression>,
    },
    /// `for (initial; condition; step) body`
    For {
        /// Before.
        initial: Vec<Expression>,
        /// May be empty.
        condition: Vec<Expression>,
        /// After each round.
        step: Vec<Expression>,
        /// While the condition holds.
        body: Box<Statement>,
    },
    /// `for (i : T) body`
    Iterate {
        /// Takes every value of the type, ascending.
        variable: Identifier,
        /// The type.
        ty: Type,
        /// For each value.
        body: Box<Statement>,
    },
    /// `return e;`
    Return(Option<Expression>),
    /// `assert e;`
    Assert(Expression),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Which.
    pub kind: ExpressionKind,
    /// Where, with the parentheses around it.
    pub span: Range<usize>,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// `17`; also `-2147483648`, which has no positive counterpart.
    Integer(i32),
    /// `0.5`, `1e3`
    Real(f64),
    /// `true`, `false`
    Bool(bool),
    /// A variable, constant, parameter, process, …
    Name(String),
    /// `deadlock`, in queries only.
    Deadlock,
    /// `a[i]`
    Index(Box<Expression>, Box<Expression>),
    /// `s.f`, `P.loc`
    Field(Box<Expression>, Identifier),
    /// `f(1, x)`; in queries also `Train(1)` and `Train(1).done()`.
    Call(Box<Expression>, Vec<Expression>),
    /// `-e`, `+e`, `!e`
    Unary(Unary, Box<Expression>),
    /// `a + b`
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `c ? a : b`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `x = e`, or `x += e` with the operator.
    Assign(Option<Binary>, Box<Expression>, Box<Expression>),
    /// `x++`, `--x`
    Step(Step, Box<Expression>),
    /// `forall (i : T) e`
    Quantified(Quantifier, Identifier, Box<Type>, Box<Expression>),
    /// `x'`: the rate of a clock.
    Rate(Box<Expression>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `!`, `not`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<?`
    Minimum,
    /// `>?`
    Maximum,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`, `and`: the right side is evaluated only when the left one holds.
    And,
    /// `||`, `or`: the right side is evaluated only when the left one does not hold.
    Or,
    /// `imply`: the right side is evaluated only when the left one holds.
    Imply,
}

/// `++` and `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `++x`
    PreIncrement,
    /// `x++`
    PostIncrement,
    /// `--x`
    PreDecrement,
    /// `x--`
    PostDecrement,
}

/// Binders of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// For all values of the type.
    Forall,
    /// For some value.
    Exists,
    /// Added up over all values.
    Sum,
}

/// A template.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The name.
    pub name: Identifier,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Local declarations.
    pub declarations: Vec<Declaration>,
    /// Locations in order; their names differ. Empty for `process P() { }` only.
    pub locations: Vec<Location>,
    /// Index of the location it begins in; `None` only when there are no locations.
    pub initial: Option<usize>,
    /// Edges in order. A way through a branchpoint is one edge, at the place of the edge that leads
    /// into it.
    pub edges: Vec<Edge>,
    /// The head of the template.
    pub span: Range<usize>,
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The name; of an anonymous one `_` and its id.
    pub name: String,
    /// Has no name of its own and cannot be spoken of.
    pub anonymous: bool,
    /// The invariant.
    pub invariant: Option<Expression>,
    /// No delay.
    pub urgent: bool,
    /// No delay, and the next transition leaves a committed location.
    pub committed: bool,
    /// The name, or what stands for it.
    pub span: Range<usize>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Index of the location it leaves.
    pub source: usize,
    /// Index of the location it leads to.
    pub target: usize,
    /// Values that are chosen freely.
    pub select: Vec<Select>,
    /// When it may be taken.
    pub guard: Option<Expression>,
    /// With whom.
    pub sync: Option<Synchronisation>,
    /// What it does, in order.
    pub update: Vec<Expression>,
    /// The head of the edge.
    pub span: Range<usize>,
}

/// `i : T`: a value that is chosen freely.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// The name.
    pub name: Identifier,
    /// Its type.
    pub ty: Type,
}

/// `c!`, `c?` or `c`
#[derive(Clone, Debug, PartialEq)]
pub struct Synchronisation {
    /// A channel or a cell of an array of channels.
    pub channel: Expression,
    /// Which side.
    pub direction: Direction,
    /// With the mark.
    pub span: Range<usize>,
}

/// The sides of a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `!`
    Send,
    /// `?`
    Receive,
    /// Neither: the channel is taken together by all processes that know it, as in CSP.
    Together,
}

/// What comes after the templates.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Declarations that templates do not see, for arguments.
    pub declarations: Vec<Declaration>,
    /// In order; later ones may instantiate earlier ones.
    pub instantiations: Vec<Instantiation>,
    /// `system A, B < C;`: names of templates and instantiations, the lowest priority first; one
    /// level when there are no priorities. Never empty.
    pub levels: Vec<Vec<Identifier>>,
    /// The system line.
    pub span: Range<usize>,
    /// What follows it about the channels of processes.
    pub alphabets: Vec<Alphabet>,
}

/// `IO P(1) { a, b[2] }`: the channels that a process takes together with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Alphabet {
    /// A name of the system line.
    pub process: Identifier,
    /// Which of the processes of that name; empty for all of them.
    pub arguments: Vec<Expression>,
    /// Channels, cells or whole arrays.
    pub channels: Vec<Expression>,
    /// From `IO` to the closing brace.
    pub span: Range<usize>,
}

/// `Q(int &x) = P(x, 3);`
#[derive(Clone, Debug, PartialEq)]
pub struct Instantiation {
    /// The new name.
    pub name: Identifier,
    /// Parameters that stay open.
    pub parameters: Vec<Parameter>,
    /// A template or an earlier instantiation.
    pub template: Identifier,
    /// One for each parameter of it.
    pub arguments: Vec<Expression>,
    /// With the semicolon.
    pub span: Range<usize>,
}

/// A query as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The formula; line breaks are blanks.
    pub text: String,
    /// The remark that goes with it; may be empty.
    pub comment: String,
    /// Whether the model says that it holds, or that it does not.
    pub expect: Option<bool>,
    /// Where in the file.
    pub span: Range<usize>,
}

/// A query that has been read. Its spans count bytes of [`Query::text`].
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// `E<> p`
    Possibly(Expression),
    /// `A[] p`
    Invariantly(Expression),
    /// `E[] p`
    PotentiallyAlways(Expression),
    /// `A<> p`
    Eventually(Expression),
    /// `p --> q`
    LeadsTo(Expression, Expression),
    /// `sup{p}: e, f`
    Extremum {
        /// Which.
        kind: Extremum,
        /// Only states in which this holds count.
        condition: Option<Expression>,
        /// Of these; never empty.
        expressions: Vec<Expression>,
    },
}

/// What is asked of an expression over the reachable states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// `sup`
    Supremum,
    /// `inf`
    Infimum,
    /// `bounds`: both.
    Bounds,
}
