//! The syntax tree of UPPAAL models and queries.
//!
//! The parser already does the following: locations are numbers, not names; branchpoints are
//! removed (one edge per path through them, updates concatenated); old syntax is translated to new
//! syntax (`const K 10` is a `const int`, commas in guards are conjunctions, parameters are
//! references where they were). Unsupported constructs never reach the tree, except
//! [`ExpressionKind::Rate`]. Names are not resolved and nothing is typed.
//!
//! Every `span` counts bytes of the source file, also in texts of XML files with entities.
//! Recursion over a tree is safe: nothing nests deeper than [`HEIGHT`], and long chains of `&&` and
//! `||` are balanced.

use std::ops::Range;

/// Limit on the height of expressions, and on the nesting of statements, types and initialisers.
pub const HEIGHT: u32 = 250;

/// An occurrence of a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Identifier {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Range<usize>,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The syntax of the source: integers of the old one have the same types and ranges.
    pub dialect: Dialect,
    /// Global declarations in order.
    pub declarations: Vec<Declaration>,
    /// Templates in order. XTA calls them processes.
    pub templates: Vec<Template>,
    /// Instantiations and the system line.
    pub system: System,
    /// Queries as written; see [`super::parse_query`]. An unsupported query does not invalidate the
    /// model.
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
    /// `const int N = 3, M[2] = {1, 2};` and other declarations with a type: variables, clocks,
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
    /// Its place.
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
    /// The common type; a `scalar[n]` in it is one set.
    pub ty: Type,
    /// Never empty.
    pub variables: Vec<Variable>,
    /// Including the semicolon.
    pub span: Range<usize>,
}

/// One name of a declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: Identifier,
    /// Array dimensions, the outermost first; empty for scalars.
    pub dimensions: Vec<Dimension>,
    /// The initial value.
    pub initial: Option<Initializer>,
    /// From the name to the end of the value.
    pub span: Range<usize>,
}

/// Type names that are declared together.
#[derive(Clone, Debug, PartialEq)]
pub struct Typedef {
    /// The common type.
    pub ty: Type,
    /// Never empty; without initial values.
    pub names: Vec<Variable>,
    /// Including the semicolon.
    pub span: Range<usize>,
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Dimension {
    /// This many cells, with indices from 0.
    Size(Expression),
    /// One cell for each value of a type.
    Index(Type),
}

/// An initial value.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// One value.
    Value(Expression),
    /// `{1, 2}` or `{x: 1, y: 2}`
    List {
        /// Elements or fields in source order; never empty.
        items: Vec<(Option<Identifier>, Initializer)>,
        /// Including the braces.
        span: Range<usize>,
    },
}

/// A type without array dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// The prefixes.
    pub prefix: Prefix,
    /// The type itself.
    pub kind: TypeKind,
    /// Including the prefixes.
    pub span: Range<usize>,
}

/// Prefixes of a type. The parser does not check that they fit the type.
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
    /// `int`; also the constants of the old syntax.
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
    /// The common type.
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
    /// The body.
    pub body: Block,
    /// From the result type to the closing brace.
    pub span: Range<usize>,
}

/// A parameter of a function, a template or an instantiation.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its type.
    pub ty: Type,
    /// `&`: denotes the argument itself rather than its value.
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
    /// Including the semicolon.
    pub span: Range<usize>,
}

/// An item with a priority.
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
    /// Including the braces.
    pub span: Range<usize>,
}

/// A statement of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its form.
    pub kind: StatementKind,
    /// Its place.
    pub span: Range<usize>,
}

/// The forms of statements. Lists of expressions are evaluated in order; as a condition the last
/// one counts, and an empty list is true.
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
        /// Executed if it holds.
        then: Box<Statement>,
        /// Executed if it does not hold.
        otherwise: Option<Box<Statement>>,
    },
    /// `while (c) body`
    While {
        /// Never empty.
        condition: Vec<Expression>,
        /// Executed while it holds.
        body: Box<Statement>,
    },
    /// `do body while (c);`
    DoWhile {
        /// Executed at least once.
        body: Box<Statement>,
        /// Never empty.
        condition: Vec<Expression>,
    },
    /// `for (initial; condition; step) body`
    For {
        /// Evaluated first.
        initial: Vec<Expression>,
        /// May be empty.
        condition: Vec<Expression>,
        /// Evaluated after each iteration.
        step: Vec<Expression>,
        /// Executed while the condition holds.
        body: Box<Statement>,
    },
    /// `for (i : T) body`
    Iterate {
        /// Takes every value of the type, in ascending order.
        variable: Identifier,
        /// The type.
        ty: Type,
        /// Executed for each value.
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
    /// Its form.
    pub kind: ExpressionKind,
    /// Its place, including surrounding parentheses.
    pub span: Range<usize>,
}

/// The forms of expressions.
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
    /// Index of the initial location; `None` only if there are no locations.
    pub initial: Option<usize>,
    /// Edges in order. A path through a branchpoint is one edge, in the position of the edge that
    /// leads into the branchpoint.
    pub edges: Vec<Edge>,
    /// The head of the template.
    pub span: Range<usize>,
}

/// A location.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The name; of an anonymous one `_` and its id.
    pub name: String,
    /// Whether it has no name that could be referred to.
    pub anonymous: bool,
    /// The invariant.
    pub invariant: Option<Expression>,
    /// No delay.
    pub urgent: bool,
    /// No delay, and the next transition leaves a committed location.
    pub committed: bool,
    /// The place of the name, or of what replaces it.
    pub span: Range<usize>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Index of the location it leaves.
    pub source: usize,
    /// Index of the location it leads to.
    pub target: usize,
    /// Variables chosen nondeterministically.
    pub select: Vec<Select>,
    /// The guard.
    pub guard: Option<Expression>,
    /// The synchronisation.
    pub sync: Option<Synchronisation>,
    /// The updates, in order.
    pub update: Vec<Expression>,
    /// The head of the edge.
    pub span: Range<usize>,
}

/// `i : T`: a nondeterministically chosen value.
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
    /// Including the mark.
    pub span: Range<usize>,
}

/// The sides of a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `!`
    Send,
    /// `?`
    Receive,
    /// Neither: all processes that know the channel take part, as in CSP.
    Together,
}

/// The declarations after the templates.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Declarations for arguments, which templates do not see.
    pub declarations: Vec<Declaration>,
    /// In order; later ones may instantiate earlier ones.
    pub instantiations: Vec<Instantiation>,
    /// `system A, B < C;`: names of templates and instantiations, the lowest priority first; one
    /// level if there are no priorities. Never empty.
    pub levels: Vec<Vec<Identifier>>,
    /// The system line.
    pub span: Range<usize>,
    /// The channels of processes, listed after the system line.
    pub alphabets: Vec<Alphabet>,
}

/// `IO P(1) { a, b[2] }`: the channels that a process synchronises on.
#[derive(Clone, Debug, PartialEq)]
pub struct Alphabet {
    /// A name of the system line.
    pub process: Identifier,
    /// Selects among the processes of that name; empty for all of them.
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
    /// Parameters that stay free.
    pub parameters: Vec<Parameter>,
    /// A template or an earlier instantiation.
    pub template: Identifier,
    /// One for each of its parameters.
    pub arguments: Vec<Expression>,
    /// Including the semicolon.
    pub span: Range<usize>,
}

/// A query as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The formula; line breaks are blanks.
    pub text: String,
    /// The comment on it; may be empty.
    pub comment: String,
    /// Whether the model expects that it holds.
    pub expect: Option<bool>,
    /// Its place in the file.
    pub span: Range<usize>,
}

/// A parsed query. Its spans count bytes of [`Query::text`].
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
        /// Which extremum.
        kind: Extremum,
        /// Only states that meet this are measured.
        condition: Option<Expression>,
        /// What is measured; never empty.
        expressions: Vec<Expression>,
    },
}

/// An extremum over the reachable states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// `sup`
    Supremum,
    /// `inf`
    Infimum,
    /// `bounds`: both.
    Bounds,
}
