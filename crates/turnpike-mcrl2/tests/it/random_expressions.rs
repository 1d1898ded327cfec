//! Random well-typed expressions, for tests that compare other evaluators with the rewriter. Their
//! free variables are `n0`, `n1`, `b0`, `l0`, `s0` and `e0`.

/// The declarations for the expressions, including partial equations.
pub(crate) const SPECIFICATION: &str = "
    sort S = struct A | B(x: Nat)?is_b | C(y: Nat, z: Bool)?is_c;
    map len: List(Nat) -> Nat; part: Nat -> Nat; ite: Bool # Nat # Nat -> Nat; k: Nat # Nat -> Nat; del: Nat # List(Nat) -> List(Nat);
        kind: S -> Nat; both: S # S -> Nat; elements: List(Nat) -> FSet(Nat); down: Nat -> List(Nat); twice: (Nat -> Nat) # Nat -> Nat;
        add: Nat -> Nat -> Nat; pick2: Bool # List(Nat) # List(Nat) -> List(Nat);
    var n, m: Nat; l, h: List(Nat); b, c: Bool; s, t: S; f: Nat -> Nat;
    eqn len([]) = 0; len(n |> l) = len(l) + 1;
        part(0) = 1; part(2) = 3; n > 4 -> part(n) = n;
        ite(true, n, m) = n; ite(false, n, m) = m;
        k(n, m) = n;
        del(n, []) = []; n == m -> del(n, m |> l) = l; n != m -> del(n, m |> l) = m |> del(n, l);
        kind(A) = 0; kind(B(n)) = n + 1; kind(C(n, true)) = n; kind(C(n, false)) = n + 10;
        both(A, s) = 1; both(B(n), B(n)) = 2; both(C(n, b), C(m, b)) = n + m;
        elements([]) = {}; elements(n |> l) = {n} + elements(l);
        down(n) = if(n == 0, [], n |> down(Int2Nat(n - 1)));
        twice(f, n) = f(f(n)); add(n)(m) = n + m;
        pick2(true, l, h) = l ++ l; pick2(false, l, h) = h;
    init delta;";

/// The sort of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Nat,
    Bool,
    List,
    Struct,
    Set,
}

impl Kind {
    /// All sorts.
    pub(crate) const ALL: [Kind; 5] = [Nat, Bool, List, Struct, Set];
}

use Kind::{Bool, List, Nat, Set, Struct};

/// Templates of expressions, in which `@` is an operand.
fn forms(kind: Kind) -> &'static [(&'static str, &'static [Kind])] {
    match kind {
        Nat => &[
            ("(@ + @)", &[Nat, Nat]),
            ("(@ * @)", &[Nat, Nat]),
            ("Int2Nat(@ - @)", &[Nat, Nat]),
            ("max(@, @)", &[Nat, Nat]),
            ("min(@, @)", &[Nat, Nat]),
            ("succ(@)", &[Nat]),
            ("Int2Nat(pred(@))", &[Nat]),
            ("abs(-(@) + @)", &[Nat, Nat]),
            ("(@ div (@ + 1))", &[Nat, Nat]),
            ("((@ - @) mod (@ + 1))", &[Nat, Nat, Nat]),
            ("exp(@, @ mod 3)", &[Nat, Nat]),
            ("sqrt(@)", &[Nat]),
            ("Int2Nat(floor(@ / (@ + 1)))", &[Nat, Nat]),
            ("Int2Nat(ceil(@ / (@ + 1)))", &[Nat, Nat]),
            ("Int2Nat(round(@ / (@ + 1)))", &[Nat, Nat]),
            ("rhead(@)", &[List]),
            ("count(@, {@: 2, 3: @})", &[Nat, Nat, Nat]),
            ("if(@, @, @)", &[Bool, Nat, Nat]),
            ("ite(@, @, @)", &[Bool, Nat, Nat]),
            ("k(@, @)", &[Nat, Nat]),
            ("len(@)", &[List]),
            ("#(@)", &[List]),
            ("#(@)", &[Set]),
            ("head(@)", &[List]),
            ("((@) . (@))", &[List, Nat]),
            ("part(@)", &[Nat]),
            ("kind(@)", &[Struct]),
            ("both(@, @)", &[Struct, Struct]),
            ("x(@)", &[Struct]),
            ("twice(lambda q: Nat. q + @, @)", &[Nat, Nat]),
            ("twice(add(@), @)", &[Nat, Nat]),
            ("(lambda q: Nat. 0)[@ -> @](@)", &[Nat, Nat, Nat]),
            ("(w + w whr w = @ end)", &[Nat]),
        ],
        Bool => &[
            ("(@ == @)", &[Nat, Nat]),
            ("(@ < @)", &[Nat, Nat]),
            ("(@ >= @)", &[Nat, Nat]),
            ("(@ > @)", &[Nat, Nat]),
            ("(@ <= @)", &[Nat, Nat]),
            ("(@ != @)", &[List, List]),
            ("(@ < @)", &[List, List]),
            ("(@ == @)", &[Struct, Struct]),
            ("(@ <= @)", &[Struct, Struct]),
            ("(@ && @)", &[Bool, Bool]),
            ("(@ || @)", &[Bool, Bool]),
            ("(@ => @)", &[Bool, Bool]),
            ("!@", &[Bool]),
            ("(@ in @)", &[Nat, List]),
            ("(@ in @)", &[Nat, Set]),
            ("(@ == @)", &[Set, Set]),
            ("(@ < @)", &[Set, Set]),
            ("is_b(@)", &[Struct]),
            ("z(@)", &[Struct]),
        ],
        List => &[
            ("(@ |> @)", &[Nat, List]),
            ("(@ <| @)", &[List, Nat]),
            ("(@ ++ @)", &[List, List]),
            ("tail(@)", &[List]),
            ("rtail(@)", &[List]),
            ("del(@, @)", &[Nat, List]),
            ("down(@ mod 4)", &[Nat]),
            ("[@, @]", &[Nat, Nat]),
            ("if(@, @, @)", &[Bool, List, List]),
            ("pick2(@, @, @)", &[Bool, List, List]),
        ],
        Struct => &[("B(@)", &[Nat]), ("C(@, @)", &[Nat, Bool]), ("if(@, @, @)", &[Bool, Struct, Struct])],
        Set => &[
            ("{@, @}", &[Nat, Nat]),
            ("(@ + @)", &[Set, Set]),
            ("(@ * @)", &[Set, Set]),
            ("(@ - @)", &[Set, Set]),
            ("elements(@)", &[List]),
        ],
    }
}

fn leaves(kind: Kind) -> &'static [&'static str] {
    match kind {
        Nat => &["0", "1", "2", "5", "n0", "n1"],
        Bool => &["true", "false", "b0"],
        List => &["[]", "[1]", "[0, 2]", "l0"],
        Struct => &["A", "B(0)", "C(1, true)", "s0"],
        Set => &["{}", "{1}", "e0"],
    }
}

/// Creates the expression for a sequence of choices.
pub(crate) fn write(kind: Kind, depth: u32, choices: &mut impl Iterator<Item = usize>) -> String {
    let choice = choices.next().unwrap_or(0);
    let (leaves, forms) = (leaves(kind), forms(kind));
    if depth == 0 || choice.is_multiple_of(5) {
        return leaves[choice / 5 % leaves.len()].to_owned();
    }
    let (form, operands) = forms[choice / 5 % forms.len()];
    let mut text = String::new();
    let mut operands = operands.iter();
    for part in form.split_inclusive('@') {
        match part.strip_suffix('@') {
            Some(before) => {
                text.push_str(before);
                let operand = operands.next().expect("as many as there are places");
                text.push_str(&write(*operand, depth - 1, choices));
            }
            None => text.push_str(part),
        }
    }
    text
}

/// The operators in normal forms that are not values.
const PARTIAL: [&str; 14] = [
    "head", "tail", " . ", "part", "both", "x(", "y(", "z(", "Int2Nat", "lambda", "pick", "whr", "forall",
    "exists",
];

/// Whether a normal form is not a value.
pub(crate) fn is_stuck(text: &str) -> bool {
    PARTIAL.iter().any(|name| text.contains(name))
}
