//! Precedence: each row is a text, and the same text with all parentheses.

use turnpike_mcrl2::syntax::{Parentheses, Section, Symbols, parse_data_expression, parse_specification};

fn data(source: &str) -> String {
    let (expression, diagnostics) = parse_data_expression(source, &Symbols::default());
    let expression = expression.unwrap_or_else(|| panic!("{source}: {diagnostics:?}"));
    expression.tree.data_text(expression.root, Parentheses::All)
}

fn process(source: &str) -> String {
    let (specification, diagnostics) = parse_specification(&format!("init {source};"));
    assert_eq!(diagnostics, [], "{source}");
    let init = specification.init().expect("no diagnostics");
    specification.tree.process_text(init.process, Parentheses::All)
}

fn sort(source: &str) -> String {
    let (specification, diagnostics) = parse_specification(&format!("map f: {source}; init delta;"));
    assert_eq!(diagnostics, [], "{source}");
    let map = specification.maps().next().expect("no diagnostics");
    specification.tree.sort_text(map.sort, Parentheses::All)
}

fn check(read: fn(&str) -> String, rows: &[(&str, &str)]) {
    for &(source, expected) in rows {
        assert_eq!(read(source), expected, "{source}");
        // The text with parentheses has the same parse tree.
        assert_eq!(read(expected), expected, "{source}");
    }
}

#[test]
fn data_operators() {
    check(
        data,
        &[
            ("m / 2 * 3", "m / (2 * 3)"),
            ("m div 2 * 3", "m div (2 * 3)"),
            ("m mod 2 / 3", "(m mod 2) / 3"),
            ("3 * l . 0", "(3 * l) . 0"),
            ("- l . 0", "(-l) . 0"),
            ("# l ++ k", "(#l) ++ k"),
            ("-m * m", "(-m) * m"),
            ("-f(1) * 3", "(-f(1)) * 3"),
            ("a * -b", "a * (-b)"),
            ("- -!#x", "-(-(!(#x)))"),
            ("a => b => c", "a => (b => c)"),
            ("a || b || c", "a || (b || c)"),
            ("a && b && c", "a && (b && c)"),
            ("a == b == c", "(a == b) == c"),
            ("a < b < c", "(a < b) < c"),
            ("n-m-k", "(n - m) - k"),
            ("1 |> l <| 4 <| 5", "1 |> ((l <| 4) <| 5)"),
            ("1 |> 2 |> l", "1 |> (2 |> l)"),
            ("l ++ k ++ m <| 1", "((l ++ k) ++ m) <| 1"),
            ("{1} + {2} * {3} - {4}", "({1} + ({2} * {3})) - {4}"),
            ("x in l == true", "(x in l) == true"),
            ("a => b || c && d == e < f", "a => (b || (c && (d == (e < f))))"),
            ("a < b |> c ++ d + e / f * g", "a < (b |> (c ++ (d + (e / (f * g)))))"),
            ("a != b >= c <= d > e", "a != (((b >= c) <= d) > e)"),
        ],
    );
}

#[test]
fn binders_end_where_the_operator_before_them_ends() {
    check(
        data,
        &[
            ("a && forall x:Nat. p(x) || c", "(a && (forall x: Nat. p(x))) || c"),
            ("a || forall x:Nat. p(x) && c", "a || (forall x: Nat. (p(x) && c))"),
            ("a && forall x:Nat. p(x) && c", "a && (forall x: Nat. (p(x) && c))"),
            ("!forall x:Nat. p(x) || c", "(!(forall x: Nat. p(x))) || c"),
            ("exists x:Nat. p(x) whr y=3 end", "(exists x: Nat. p(x)) whr y = 3 end"),
            ("forall x:Nat. exists y:Nat. x < y => b", "forall x: Nat. (exists y: Nat. ((x < y) => b))"),
            ("lambda x,y:Nat, b:Bool. x + y", "lambda x, y: Nat, b: Bool. (x + y)"),
            ("lambda f: Nat -> Nat. f(0)", "lambda f: Nat -> Nat. f(0)"),
            ("a && b + forall x:Nat. p && c", "a && ((b + (forall x: Nat. p)) && c)"),
        ],
    );
}

#[test]
fn data_without_operators() {
    check(
        data,
        &[
            ("f(x)(y, z)[1 -> 2][3->4](5)", "f(x)(y, z)[1 -> 2][3 -> 4](5)"),
            ("(f)[a+1->b||c]", "f[a + 1 -> b || c]"),
            ("(lambda x:Nat.0)[2 -> 3]", "(lambda x: Nat. 0)[2 -> 3]"),
            ("[]", "[]"),
            ("[1,[2], []]", "[1, [2], []]"),
            ("{}", "{}"),
            ("{ : }", "{:}"),
            ("{1,2+3}", "{1, 2 + 3}"),
            ("{1:2,x:0}", "{1: 2, x: 0}"),
            ("{x:Nat|x<3}", "{ x: Nat | x < 3 }"),
            ("{x: {y: Nat | y < 2} == z}", "{x: ({ y: Nat | y < 2 } == z)}"),
            ("{x: Nat | x in {y: 1, z: 2}}", "{ x: Nat | x in {y: 1, z: 2} }"),
            ("{f: Nat -> Bool | f(1)}", "{ f: (Nat -> Bool) | f(1) }"),
            ("a && p(x) whr x=1, y = 2 end", "(a && p(x)) whr x = 1, y = 2 end"),
            ("a whr x = y whr y = 1 end end whr z = 2 end", "(a whr x = y whr y = 1 end end) whr z = 2 end"),
            ("(a whr x = 1 end) + 1", "(a whr x = 1 end) + 1"),
            ("nil + if(b, min, x')", "nil + if(b, min, x')"),
            ("true => false", "true => false"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ],
    );
}

#[test]
fn processes() {
    check(
        process,
        &[
            ("a + b . c || d", "a + ((b . c) || d)"),
            ("a || b + c", "(a || b) + c"),
            ("sum m:Nat. e(m) . a + b", "(sum m: Nat. (e(m) . a)) + b"),
            ("sum m:Nat. e(m) || a", "sum m: Nat. (e(m) || a)"),
            ("a || sum k:Nat. b + c", "(a || (sum k: Nat. b)) + c"),
            ("a . sum k:Nat. b || c", "(a . (sum k: Nat. b)) || c"),
            ("a . sum m:Nat. e(m) . b + c", "(a . (sum m: Nat. (e(m) . b))) + c"),
            ("a + sum m:Nat. b + c", "(a + (sum m: Nat. b)) + c"),
            ("a | b @ 3 . c", "((a | b) @ 3) . c"),
            ("a.b@3", "a . (b @ 3)"),
            ("a@n.b", "(a @ n) . b"),
            ("a@(1+2).b", "(a @ (1 + 2)) . b"),
            ("a@f(x)(y).b", "(a @ f(x)(y)) . b"),
            ("a @ 1 @ 2", "(a @ 1) @ 2"),
            ("a . b . c", "a . (b . c)"),
            ("a || b || c", "a || (b || c)"),
            ("a+b+c", "(a + b) + c"),
            ("a|b|c", "(a | b) | c"),
            ("a << b << c . d", "(a << b) << (c . d)"),
            ("p||_q || r", "(p ||_ q) || r"),
            ("a ||_ b ||_ c", "a ||_ (b ||_ c)"),
            ("((a))", "a"),
            ("(a+b) . (c)", "(a + b) . c"),
            (
                "dist b:Bool[if(b,1/3,2/3)].throw(b).delta",
                "dist b: Bool[if(b, 1 / 3, 2 / 3)]. (throw(b) . delta)",
            ),
            ("a.dist n:Nat[1/2].b + tau", "(a . (dist n: Nat[1 / 2]. b)) + tau"),
        ],
    );
}

#[test]
fn conditions() {
    check(
        process,
        &[
            ("x -> a . b + c", "(x -> (a . b)) + c"),
            ("x -> a <> b . c + d", "(x -> a <> (b . c)) + d"),
            ("x -> a + b <> c", "x -> (a + b) <> c"),
            ("x -> y -> a <> b", "x -> (y -> a <> b)"),
            ("x -> a <> y -> b <> c", "x -> a <> (y -> b <> c)"),
            ("x -> a . y -> b <> c", "x -> (a . (y -> b <> c))"),
            ("x -> sum m:Nat. y -> e(m).a <> b", "x -> (sum m: Nat. (y -> (e(m) . a) <> b))"),
            ("x -> a || b", "(x -> a) || b"),
            ("sum m:Nat. x -> e(m).a + b", "(sum m: Nat. (x -> (e(m) . a))) + b"),
            ("x -> a + y -> b <> c", "(x -> a) + (y -> b <> c)"),
            ("x -> a + y -> b <> c <> d", "x -> (a + (y -> b <> c)) <> d"),
            ("x -> y -> a <> b <> c", "x -> (y -> a <> b) <> c"),
            ("x -> a + b . c <> d + a", "(x -> (a + (b . c)) <> d) + a"),
            ("x -> a || b <> c || d", "(x -> (a || b) <> c) || d"),
            ("x -> a + (y -> b) <> c", "x -> (a + (y -> b)) <> c"),
            ("(#[1] > 0) -> a", "((#[1]) > 0) -> a"),
            ("!x -> a", "(!x) -> a"),
            ("!f(x)(y) -> a", "(!f(x)(y)) -> a"),
            ("(a) -> b", "a -> b"),
            ("(f)(x) -> P(x)", "f(x) -> P(x)"),
            ("P(x) + f(x) -> P(x) . (a + b)", "P(x) + (f(x) -> (P(x) . (a + b)))"),
            ("(f[1->2](1)) -> a", "(f[1 -> 2](1)) -> a"),
            ("a . x -> b <> c . d + e", "(a . (x -> b <> (c . d))) + e"),
            ("x -> sum f: Nat -> Nat. a <> b", "x -> (sum f: Nat -> Nat. a) <> b"),
        ],
    );
}

#[test]
fn calls_and_operators_around_processes() {
    check(
        process,
        &[
            ("P()", "P()"),
            ("P(m=n,n=m+1)", "P(m = n, n = m + 1)"),
            ("P(m==n)", "P(m == n)"),
            ("P(1, x)", "P(1, x)"),
            ("block({a,b}, P || Q)", "block({a, b}, P || Q)"),
            ("hide({a}, allow({}, delta))", "hide({a}, allow({}, delta))"),
            ("allow({a, a|b|a}, P).Q", "allow({a, a|b|a}, P) . Q"),
            ("rename({a->b,b->a}, rename({}, P))", "rename({a -> b, b -> a}, rename({}, P))"),
            ("comm({a|a->c, r|s|s->d}, comm({}, P))", "comm({a|a -> c, r|s|s -> d}, comm({}, P))"),
        ],
    );
}

#[test]
fn sorts() {
    check(
        sort,
        &[
            ("A # B -> C", "A # B -> C"),
            ("(A # B) # C -> D", "A # B # C -> D"),
            ("A # (B # C) -> D", "A # B # C -> D"),
            ("A -> B -> C", "A -> (B -> C)"),
            ("(A -> B) -> C", "(A -> B) -> C"),
            ("(A->B)#C->D", "(A -> B) # C -> D"),
            ("A -> A # A -> B", "A -> (A # A -> B)"),
            ("List(Set(Bag(FSet(FBag(Bool)))))", "List(Set(Bag(FSet(FBag(Bool)))))"),
            ("Pos # Nat # Int -> Real", "Pos # Nat # Int -> Real"),
            ("struct c", "struct c"),
            (
                "struct c(p:A, B -> C, q: struct d|e)?r | f?g | h(A)",
                "struct c(p: A, B -> C, q: struct d | e)?r | f?g | h(A)",
            ),
            ("List(struct a | b) -> A", "List(struct a | b) -> A"),
        ],
    );
}

#[test]
fn sections_in_any_order() {
    let source = "
        proc P(x,y:Nat, b:Bool) = a(x) . P(); Q = c;
        init P(1, 2, true);
        glob g:Nat; h,i:Bool;
        act a:Nat; b,c; d:(Nat->Nat)#Bool; e: A # B; f: Nat -> Nat;
        sort A,B; C = List(A); D = struct d1 | d2(x':Nat)?is_d2;
        cons e1,e2:A;
        map m:A#A->A; k:Nat;
        var u,v:A; w:Bool;
        eqn m(u,v) = v; w -> m(u,u) = u; f[1->2](u) = m(u, u);
        eqn k = 3;
        glob z:Nat;";
    let (specification, diagnostics) = parse_specification(source);
    assert_eq!(diagnostics, []);
    let expected = "\
proc
  P(x, y: Nat, b: Bool) = a(x) . P();
  Q = c;

init
  P(1, 2, true);

glob
  g: Nat;
  h, i: Bool;

act
  a: Nat;
  b, c;
  d: (Nat -> Nat) # Bool;
  e: A # B;
  f: Nat -> Nat;

sort
  A, B;
  C = List(A);
  D = struct d1 | d2(x': Nat)?is_d2;

cons
  e1, e2: A;

map
  m: A # A -> A;
  k: Nat;

var
  u, v: A;
  w: Bool;
eqn
  m(u, v) = v;
  w -> m(u, u) = u;
  f[1 -> 2](u) = m(u, u);

eqn
  k = 3;

glob
  z: Nat;
";
    assert_eq!(specification.to_string(), expected);
    assert_eq!(specification.sections.len(), 10);
    assert!(matches!(specification.sections[1], Section::Init(_)));
    assert_eq!(specification.globals().count(), 4);
    assert_eq!(specification.processes().count(), 2);
    assert_eq!(specification.actions().count(), 5);
    assert_eq!((specification.sorts().count(), specification.constructors().count()), (3, 1));
    assert_eq!(specification.equations().map(|(_, equations)| equations.len()).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn nodes_know_their_places() {
    let source = "act a; init (x && (y)) -> a . (b + c) @ 3;";
    let (specification, diagnostics) = parse_specification(source);
    assert_eq!(diagnostics, []);
    let tree = &specification.tree;
    let texts: Vec<&str> = tree.process_ids().map(|id| &source[tree.process_span(id).range()]).collect();
    assert_eq!(
        texts,
        ["a", "b", "c", "b + c", "(b + c) @ 3", "a . (b + c) @ 3", "(x && (y)) -> a . (b + c) @ 3"]
    );
    let texts: Vec<&str> = tree.data_ids().map(|id| &source[tree.data_span(id).range()]).collect();
    assert_eq!(texts, ["x", "y", "x && (y)", "3"]);
    for id in tree.process_ids() {
        tree.process(id).for_each_child(|child| assert!(child < id));
    }
    for id in tree.sort_ids() {
        tree.sort(id).for_each_child(|child| assert!(child < id));
    }
    for id in tree.data_ids() {
        tree.data(id).for_each_child(|child| assert!(child < id));
    }
}
