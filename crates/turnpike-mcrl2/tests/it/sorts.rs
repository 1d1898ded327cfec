//! Tables of the sorts of expressions and of errors.

use crate::sorts_support::well_sorted;
use turnpike_mcrl2::syntax::{Symbols, parse_data_expression, parse_specification};
use turnpike_mcrl2::typed::{Behaviour, Expression, Program, SortId, SymbolKind, check_specification};
use turnpike_model::diagnostic::{Diagnostic, Severity};

/// Checks the sorts of a well-formed text.
fn check(source: &str) -> (Option<Program>, Vec<Diagnostic>) {
    let (specification, diagnostics) = parse_specification(source);
    assert!(diagnostics.is_empty(), "{source}: {diagnostics:?}");
    check_specification(&specification)
}

fn errors(source: &str) -> Vec<String> {
    let (program, diagnostics) = check(source);
    let errors: Vec<String> =
        diagnostics.iter().filter(|one| one.severity == Severity::Error).map(ToString::to_string).collect();
    assert_eq!(program.is_none(), !errors.is_empty(), "{source}: {errors:?}");
    errors
}

/// The declarations for the expressions of the tables.
const CONTEXT: &str = "
sort D; E = struct A | B(field: Nat)?isB | C(field: Nat, other: Bool); F = struct k(Nat)?isn | k(Bool)?isb;
cons d1, d2: D;
map f, f': Nat -> Nat; g: Nat # Bool -> D; h: Pos -> Bool; curried: Nat -> Nat -> Bool;
    over: Nat -> Bool; over: Bool -> Nat; result: Nat -> Nat; result: Nat -> Bool; up: Nat -> Nat; up: Int -> Int;
    two: Nat # Nat -> Nat; pair: List(Nat) -> FSet(Nat);
glob p: Pos; n: Nat; i: Int; r: Real; b: Bool; lp: List(Pos); ln: List(Nat); fs: FSet(Nat); s: Set(Nat);
    fb: FBag(Nat); bag: Bag(Nat); d: D; e: E; v: Nat -> Nat; w: Nat # Nat -> Nat;
init delta;";

/// The smallest sort of an expression, or the first error.
fn sort_of(program: &Program, text: &str) -> Result<String, String> {
    let mut program = program.clone();
    let (expression, diagnostics) = parse_data_expression(text, &program.words);
    let expression = expression.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let globals = program.globals.clone();
    match program.check_expression(&expression.tree, expression.root, &globals, None) {
        Ok(id) => {
            well_sorted(&program);
            Ok(program.sort_text(program.sort_of(id)))
        }
        Err(diagnostics) => Err(diagnostics[0].to_string()),
    }
}

// Long because it is one table.
#[test]
fn expressions_have_the_smallest_sort() {
    let (program, _) = check(CONTEXT);
    let program = program.expect("a correct specification");
    let table = [
        // Numbers.
        ("0", "Nat"),
        ("1", "Pos"),
        ("-1", "Int"),
        ("1/2", "Real"),
        ("p+n", "Pos"),
        ("n+p", "Pos"),
        ("succ(n)", "Pos"),
        ("max(p,i)", "Pos"),
        ("exp(p,n)", "Pos"),
        ("n+n", "Nat"),
        ("p*n", "Nat"),
        ("min(p,n)", "Nat"),
        ("max(n,i)", "Nat"),
        ("pred(p)", "Nat"),
        ("abs(i)", "Nat"),
        ("n div p", "Nat"),
        ("i mod p", "Nat"),
        ("sqrt(p)", "Nat"),
        ("exp(n,n)", "Nat"),
        ("p-p", "Int"),
        ("pred(n)", "Int"),
        ("-n", "Int"),
        ("i div p", "Int"),
        ("min(n,i)", "Int"),
        ("floor(r)", "Int"),
        ("p/p", "Real"),
        ("abs(r)", "Real"),
        ("exp(r,n)", "Real"),
        // Literals.
        ("[1,0]", "List(Nat)"),
        ("[0,1]", "List(Nat)"),
        ("[1,-1]", "List(Int)"),
        ("[1,1/2]", "List(Real)"),
        ("if(b,1,0)", "Nat"),
        ("if(b,p,i)", "Int"),
        ("{1}", "FSet(Pos)"),
        ("{1: 2}", "FBag(Pos)"),
        ("1 |> [0]", "List(Nat)"),
        ("[[1],[0]]", "List(List(Nat))"),
        ("[f, f']", "List(Nat -> Nat)"),
        // Sets and bags.
        ("fs*s", "FSet(Nat)"),
        ("s*fs", "FSet(Nat)"),
        ("fs-s", "FSet(Nat)"),
        ("fs+s", "Set(Nat)"),
        ("s-fs", "Set(Nat)"),
        ("!fs", "Set(Nat)"),
        ("fs+{p}", "FSet(Nat)"),
        ("fs-{p}", "FSet(Nat)"),
        ("s+{1}", "Set(Nat)"),
        ("fb+bag", "Bag(Nat)"),
        ("fb*bag", "FBag(Nat)"),
        ("count(1,fb)", "Nat"),
        ("pick({1})", "Pos"),
        ("Set2Bag({1,2})", "Bag(Pos)"),
        ("Bag2Set(bag)", "Set(Nat)"),
        ("{x: Nat | x < n}", "Set(Nat)"),
        ("{x: Nat | x}", "Bag(Nat)"),
        ("{x: Nat | 1}", "Bag(Nat)"),
        ("{x: Nat | x < n} == fs", "Bool"),
        ("#fb", "Nat"),
        // Lists.
        ("[p]==ln", "Bool"),
        ("[p]++ln==ln", "Bool"),
        ("p|>ln", "List(Nat)"),
        ("ln<|p", "List(Nat)"),
        ("ln.p", "Nat"),
        ("head(ln)+1", "Pos"),
        ("tail(rtail([1,2]))", "List(Pos)"),
        // Comparison.
        ("n-1==i", "Bool"),
        ("n-1>=0", "Bool"),
        ("n==n-1", "Bool"),
        ("-n==n", "Bool"),
        ("r==n", "Bool"),
        ("d1==d", "Bool"),
        ("[] == []", "Bool"),
        ("#[] == 0", "Bool"),
        ("1 in {}", "Bool"),
        ("head([]) == 1", "Bool"),
        ("succ == succ", "Bool"),
        ("v == lambda x: Nat. x", "Bool"),
        // Functions.
        ("h(n+1)", "Bool"),
        ("f(Int2Nat(i))", "Nat"),
        ("v[p->p]", "Nat -> Nat"),
        ("f[1->2][3->0]", "Nat -> Nat"),
        ("(lambda x: Nat. 0)[1->2]", "Nat -> Nat"),
        ("curried(1)(2)", "Bool"),
        ("curried(1)", "Nat -> Bool"),
        ("(lambda x, y: Nat. x + y)(1, 2)", "Nat"),
        ("lambda x: Nat, y: Bool. x", "Nat # Bool -> Nat"),
        ("if(b, f, v)(3)", "Nat"),
        ("w(1, 2)", "Nat"),
        ("pair([1, 2])", "FSet(Nat)"),
        // Structs.
        ("field(e)", "Nat"),
        ("isB(B(1))", "Bool"),
        ("C(1, true) < A", "Bool"),
        ("[A, B(0)]", "List(E)"),
        ("isn(k(1)) && isb(k(true))", "Bool"),
        ("g(1, true)", "D"),
        // Overloading.
        ("over(1)", "Bool"),
        ("over(over(1))", "Nat"),
        ("over(true)", "Nat"),
        ("result(1) && b", "Bool"),
        ("result(1) + 1", "Pos"),
        ("up(p)", "Nat"),
        ("up(i)", "Int"),
        ("up(up(p)) == 0", "Bool"),
        // Binders.
        ("forall x: Nat, y: Bool. x > 0 => y", "Bool"),
        ("exists x: Nat. exists x: Nat. x == 0", "Bool"),
        ("x==y whr x=n+1, y=p end", "Bool"),
        ("x whr x=n-1 end", "Int"),
        ("x ++ ln whr x=ln end", "List(Nat)"),
        ("(x whr x = y end) whr y = 1 end", "Pos"),
    ];
    for (text, sort) in table {
        assert_eq!(sort_of(&program, text).as_deref(), Ok(sort), "{text}");
    }
}

#[test]
fn wrong_expressions_are_explained() {
    let (program, _) = check(CONTEXT);
    let program = program.expect("a correct specification");
    let table = [
        (
            "n div n",
            "div cannot be applied to the sorts (Nat, Nat) (Nat2Pos(…) converts it, when the value is in Pos)",
        ),
        ("n mod n", "mod cannot be applied"),
        ("n div 0", "div cannot be applied"),
        ("lp ++ ln", "++ cannot be applied to the sorts (List(Pos), List(Nat))"),
        ("n |> lp", "|> cannot be applied"),
        ("lp<|n", "<| cannot be applied"),
        ("n in lp", "in cannot be applied"),
        ("lp == ln", "== cannot be applied"),
        (
            "f(i)",
            "the argument of f must have sort Nat, but has sort Int (Int2Nat(…) converts it, when the value is in Nat)",
        ),
        ("h(n)", "the argument of h must have sort Pos, but has sort Nat"),
        ("v[i->p]", "a function update cannot be applied to the sorts (Nat -> Nat, Int, Pos)"),
        ("w[1->2]", "a function update cannot be applied"),
        ("B(-1)", "the argument of B must have sort Nat"),
        (
            "#s",
            "# cannot be applied to the sort Set(Nat) (it takes List(S) -> Nat; FSet(S) -> Nat; FBag(S) -> Nat)",
        ),
        ("{i}==fs", "== cannot be applied"),
        ("true==1", "== cannot be applied to the sorts (Bool, Pos)"),
        ("f==g", "== cannot be applied"),
        ("f(1,2)", "f takes 1 argument, not 2 (f: Nat -> Nat)"),
        ("d1(1)", "d1 is a constant and takes no arguments"),
        ("ln.i", ". cannot be applied"),
        ("n.1", ". cannot be applied to the sorts (Nat, Pos)"),
        ("x whr x=y, y=p end", "unknown variable, constant or function y"),
        ("exists x: Nat. exists x: Bool. x", "variable x of sort Bool hides one of sort Nat"),
        ("exists x, x: Nat. true", "variable x is declared twice"),
        ("exists f: Nat. true", "variable f has the name of a declared function or constant"),
        ("exists head: Nat. true", "variable head has the name of a built-in function"),
        ("exists x: Nat. x", "what follows exists must have sort Bool, but has sort Nat"),
        (
            "{x: Nat | i}",
            "the condition of a set (or a Nat, the count of a bag) must have sort Bool, but has sort Int",
        ),
        ("{1: i}", "the count in a bag must have sort Nat"),
        ("[1, true]", "this element has sort Bool, those before it have sort Pos"),
        ("feild(e)", "unknown variable, constant or function feild (did you mean `field`?)"),
        ("result(1)", "result is ambiguous here (it may be result: Nat -> Nat; result: Nat -> Bool)"),
        ("result(1) == result(1)", "result is ambiguous here"),
        (
            "over(d1)",
            "no over takes arguments of the sorts (D) (there is over: Nat -> Bool; over: Bool -> Nat)",
        ),
        ("x + 1", "unknown variable, constant or function x"),
        ("n(1)", "this has sort Nat and cannot be applied to the sorts (Pos)"),
        ("pair({1})", "the argument of pair must have sort List(Nat), but has sort FSet(Pos)"),
        ("pair([1]) == {x: Nat | b} + [1]", "+ cannot be applied"),
        ("max(1, true)", "no max takes arguments of the sorts (Pos, Bool)"),
        ("exists x: Natt. true", "unknown sort Natt (did you mean `Nat`?)"),
    ];
    for (text, message) in table {
        let found = sort_of(&program, text).expect_err(text);
        assert!(found.starts_with(message), "{text}: {found}");
    }
}

#[test]
fn specifications_that_are_accepted() {
    let table = [
        "map N: Nat; map N: Nat; eqn N = 3; init delta;",
        "map f: Nat -> Nat; map f: Nat -> Nat; init delta;",
        "sort S; cons c: S; cons c: S; map f: S -> S; init delta;",
        "sort S; cons c: S; d: S -> S; cons d: S -> S; init delta;",
        "sort S; S; map c: S; init delta;",
        "sort S, S; cons c: S; init delta;",
        "sort B = List(struct f(B) | c); act a: B; init a([f([]), c]).delta;",
        "sort B = FSet(struct f(C) | c); C = List(B); act a: B; init a({f([]), c}).delta;",
        "sort B = List(struct f(g: B)?is_f | c); map h: B -> Bool; var b: B; eqn h(b) = is_f(head(b)) && g(head(b)) == []; init delta;",
        "act a: Nat; a: Bool; init a(1).a(true).delta;",
        "act a: Nat; b: Bool; glob x: Nat; glob y: Bool; init a(x).b(y).delta;",
        "act a,b: Nat; proc P(n: Nat) = b(n).(sum n: Nat. (n==7||n==8) -> a(n).P()); init P(1);",
        "act a: Nat; proc P(n,m: Nat) = a(n).P(m=n,n=m); init P(1,2);",
        "act a; b: Bool; proc P(x: Nat) = sum x: Bool. b(x).P(1); init P(0);",
        "proc P(n: Nat) = delta; P(b: Bool) = delta; P = P(1) + P(true); init P;",
        "act throw: Bool; a; init a.dist b: Bool[if(b,1/3,2/3)].throw(b).delta;",
        "act a; init a@1 . a@(1/2);",
        "sort S = struct A|B(x:Nat)|C(y:Nat,z:Bool); act a: Bool; init a(A<B(0)).a(C(1,true)<C(1,false)).delta;",
        "sort A = Nat; B = List(A); map f: B -> List(Nat); var b: B; eqn f(b) = b; init delta;",
        "sort T = struct leaf | node(List(T)); F = struct c(FSet(F)); init delta;",
        "sort S = struct p(x: Nat) | q(x: Nat); map f: S -> Nat; var s: S; eqn f(s) = x(s); init delta;",
        "sort L = List(struct item(key: Nat) | none); map f: Nat -> L; var n: Nat; eqn f(n) = [item(n), none]; init delta;",
        "sort S = struct a; S = struct a; map f: Nat -> Nat; f: Nat -> Nat; init delta;",
        "sort S = struct a | b; cons c: S; init delta;",
        "map f: Nat -> Nat; var n: Nat; eqn n > 0 -> f(n) = n + 1; f(0) = 1; init delta;",
        "sort D; cons d1, d2: D; eqn d1 == d2 = false; head([]) = 7; init delta;",
        "act a,b,c: Nat; init allow({c,a}, comm({a|a|b->c}, a(1)||b(1)));",
        "act a,b,c; init comm({a|b->a}, rename({a->b,b->a}, hide({c}, block({c}, allow({}, a)))));",
        "map if_: Nat; c: Nat; c: Nat -> Nat; eqn c = c(1); act head, if; init head.if;",
        "act a: Nat -> Nat; proc P(f: Nat -> Nat) = a(f).P(f[1->2]); init P(lambda x: Nat. 0);",
        "act a: Bool; init a(exists n: Nat. n<3 && n>1).a((lambda x: Nat. x)==(lambda y: Nat. y)).delta;",
        "map f: struct x | y -> Bool; init delta;",
        "map N: Pos; f: Nat -> Nat; eqn N = 3; var n: Nat; eqn f(n) = (n + 1) mod N; init delta;",
    ];
    for source in table {
        assert_eq!(errors(source), Vec::<String>::new(), "{source}");
    }
}

// Long because it is one table.
#[test]
fn specifications_that_are_refused() {
    let table = [
        (
            "act a: Nat; proc P(n: Nat) = a(n).P(n-1); init P(3);",
            "the argument of process P must have sort Nat, but has sort Int",
        ),
        ("act a: Nat; a: Int; init a(1);", "several declarations of action a fit (a: Nat; a: Int)"),
        ("act a,b,c,d; init comm({a|b->c,a|d->b}, a||b||d);", "a communicates in two ways"),
        ("act a,b,c,d; init comm({a|b->c,a|d->c}, a||b||d);", "a communicates in two ways"),
        (
            "act a,b,c,d; init comm({a|b->c,c|d->d}, a||b||d);",
            "c is the result of one rule and communicates in another",
        ),
        ("act a: Nat; b,c; init comm({a|b->c}, b);", "a and b take different data"),
        ("act a,b; c: Nat; init comm({a|b->c}, b);", "a cannot become c, which takes other data"),
        ("act a,b,c; init rename({a->b,a->c}, a);", "a is renamed twice"),
        ("act a; b: Nat; init rename({a->b}, a);", "a cannot be renamed to b"),
        ("act snd; init allow({send}, snd);", "unknown action send (did you mean `snd`?)"),
        ("proc P = delta; init hide({P}, P);", "P is a process, but an action is needed here"),
        ("act a; init b;", "unknown action or process b"),
        ("act a; init a(1);", "action a takes no data"),
        ("act a: Nat; init a;", "action a takes 1 argument, not 0 (a: Nat)"),
        ("act a: Nat; a: Nat; init a(1);", "action a: Nat is declared twice"),
        ("act a; proc a = delta; init a;", "a is declared as an action and as a process"),
        ("proc P = delta; P = delta; init P;", "process P is declared twice"),
        ("proc P(n: Nat) = delta; init P;", "process P takes 1 argument, not 0"),
        ("proc P(n: Nat) = delta; init P();", "parameter n gets no value"),
        ("proc P(n: Nat) = delta; init P(m = 1);", "unknown parameter of P: m"),
        ("proc P(n: Nat) = P(n = 1, n = 2); init P(1);", "parameter n is assigned twice"),
        ("proc P(n: Nat) = P(n = true); init P(1);", "parameter n must have sort Nat, but has sort Bool"),
        ("proc P(n: Nat) = sum n: Bool. P(); init P(1);", "parameter n must have sort Nat, but the variable"),
        ("act a; init a();", "a is an action, not a process"),
        ("init 1 -> delta;", "a condition must have sort Bool, but has sort Pos"),
        ("init delta @ true;", "a time stamp must have sort Real, but has sort Bool"),
        ("init dist x: Bool[x]. delta;", "a probability must have sort Real, but has sort Bool"),
        ("sort A = B; B = A; init delta;", "sort A is defined by itself"),
        ("sort A = List(A); init delta;", "sort A is defined by itself"),
        (
            "sort A = struct c(Set(A)) | d; init delta;",
            "sort A contains itself below a function, a Set or a Bag",
        ),
        ("sort A = struct c(B) | d; B = Nat -> A; init delta;", "sort A contains itself below a function"),
        ("sort S = struct c(S); init delta;", "sort S is empty"),
        ("sort D; cons c: D -> D; init delta;", "sort D is empty"),
        ("cons c: Nat; init delta;", "Nat cannot have new constructors"),
        ("cons c: Nat -> List(Nat); init delta;", "List(Nat) cannot have new constructors"),
        (
            "sort B = Set(struct f(B) | c); init delta;",
            "sort struct f | c contains itself below a function, a Set or a Bag",
        ),
        ("sort B = struct f(B) -> Nat; init delta;", "sort struct f contains itself below a function"),
        ("sort D; map c: D; cons c: D; init delta;", "c is declared twice as a constant"),
        ("sort D; D = Nat; init delta;", "sort D is declared twice"),
        ("map f: D; init delta;", "unknown sort D"),
        (
            "map c: Nat; c: Bool; init delta;",
            "c is declared twice as a constant (it is a constant of sort Nat already",
        ),
        ("sort S = struct a; T = struct a | b; init delta;", "a is declared twice as a constant"),
        ("map head: Nat; init delta;", "head is a built-in function and cannot be declared again"),
        (
            "map f: struct x | y -> Bool; eqn f(x) = true; init delta;",
            "unknown variable, constant or function x",
        ),
        (
            "map f: Nat -> Nat; var n: Nat; eqn f(n) = n - 1; init delta;",
            "the right side of this equation must have sort Nat, but has sort Int",
        ),
        (
            "map f: Nat -> Nat; var n: Nat; eqn n -> f(n) = n; init delta;",
            "the condition of an equation must have sort Bool",
        ),
        ("map f: Nat; var f: Nat; eqn f = 1; init delta;", "variable f has the name of a declared function"),
        (
            "map f: FSet(Nat); eqn f = {x: Nat | true}; init delta;",
            "the right side of this equation must have sort FSet(Nat), but has sort Set(Nat)",
        ),
        (
            "var n: Nat; eqn n = n; map f: Nat -> Nat; eqn f(n) = n; init delta;",
            "unknown variable, constant or function n (the variables of an `eqn` section are declared in a `var` section just before it)",
        ),
        (
            "act a: Bool; proc P(n: Nat) = a(exists n: Bool. n).P(n); init P(0);",
            "variable n of sort Bool hides one of sort Nat",
        ),
    ];
    for (source, message) in table {
        let found = errors(source);
        assert!(found.first().is_some_and(|one| one.starts_with(message)), "{source}: {found:?}");
    }
}

#[test]
fn several_errors_are_reported_in_the_order_of_the_text() {
    let source =
        "map f: Nat -> Nat; var n: Nat; eqn f(n) = m; f(true) = 1;\nact a: Nat;\ninit a(x).b.a(true);";
    let (_, diagnostics) = check(source);
    let messages: Vec<&str> = diagnostics.iter().map(|one| &one.message[..]).collect();
    assert_eq!(
        messages,
        [
            "unknown variable, constant or function m",
            "the argument of f must have sort Nat, but has sort Bool",
            "unknown variable, constant or function x",
            "unknown action or process b",
            "the argument of action a must have sort Nat, but has sort Bool",
        ]
    );
    let span = diagnostics[0].span.clone().expect("a place");
    assert_eq!(&source[span.range], "m");
}

#[test]
fn equations_that_cannot_be_used_are_warned_about() {
    let table = [
        (
            "map f: Nat -> Nat; var p: Pos; eqn f(p) = 1; init delta;",
            "this pattern never matches: p has sort Pos, but Nat is matched here",
        ),
        (
            "map f: Nat -> Nat; var n, m: Nat; eqn f(n) = m; init delta;",
            "this equation is never used: m does not occur on its left side",
        ),
        ("sort S = struct a(x: Nat) | b(x: Bool); init delta;", "projection x has different sorts in S"),
    ];
    for (source, message) in table {
        let (program, diagnostics) = check(source);
        assert!(program.is_some(), "{source}");
        assert_eq!(diagnostics[0].message, message, "{source}");
    }
}

#[test]
fn calls_are_written_out() {
    let (program, _) = check("act a: Int; proc P(n: Nat, b: Bool) = a(n).P(b = !b); init P(1, true);");
    let program = program.expect("a correct specification");
    let Some(Behaviour::Binary(_, action, call)) = program.processes[0].body.map(|id| program.behaviour(id))
    else {
        panic!("a sequence");
    };
    let Behaviour::Action { arguments, .. } = program.behaviour(*action) else { panic!("an action") };
    let Expression::Upcast(inner) = program.expression(arguments[0]) else { panic!("a conversion") };
    let parameters = &program.processes[0].parameters;
    assert_eq!(program.expression(*inner), &Expression::Variable(parameters[0]));
    let Behaviour::Call { arguments, .. } = program.behaviour(*call) else { panic!("a call") };
    assert_eq!(program.expression(arguments[0]), &Expression::Variable(parameters[0]));
    assert!(matches!(program.expression(arguments[1]), Expression::Call { .. }));
    well_sorted(&program);
}

#[test]
fn structs_bring_their_functions() {
    let (program, _) = check("sort S = struct a | b(x: Nat, y: Bool)?isB | c(x: Nat); init delta;");
    let program = program.expect("a correct specification");
    let find = |name: &str| program.words.find(name).map(|word| program.symbols_named(word)).expect("a word");
    let sort = program.sort_named(program.words.find("S").expect("a word")).expect("a sort");
    let constructors: Vec<&str> =
        program.constructors(sort).iter().map(|&one| program.text(program.symbol(one).name)).collect();
    assert_eq!(constructors, ["a", "b", "c"]);
    let [x] = find("x") else { panic!("one projection") };
    assert_eq!(program.symbol(*x).kind, SymbolKind::Projection { sort, fields: [(1, 0), (2, 0)].into() });
    let [is_b] = find("isB") else { panic!("one recogniser") };
    assert_eq!(program.symbol(*is_b).kind, SymbolKind::Recogniser { sort, index: 1 });
    assert_eq!(program.sort_text(program.symbol(find("b")[0]).sort), "Nat # Bool -> S");
}

#[test]
fn expressions_of_other_trees_join_a_program() {
    let (program, _) =
        check("sort E = struct low | high; map f: Nat -> E; act a: Nat; proc P(n: Nat) = a(n); init P(0);");
    let mut program = program.expect("a correct specification");
    let parameters = program.processes[0].parameters.clone();
    let (expression, _) = parse_data_expression("exists x: E. f(n) == x && n < 12345", &Symbols::default());
    let expression = expression.expect("a correct expression");
    let typed = program.check_expression(&expression.tree, expression.root, &parameters, Some(SortId::BOOL));
    assert_eq!(typed.map(|id| program.sort_of(id)), Ok(SortId::BOOL));
    well_sorted(&program);
    let (expression, _) = parse_data_expression("hgih == low", &program.words);
    let expression = expression.expect("a correct expression");
    let wrong = program.check_expression(&expression.tree, expression.root, &parameters, None);
    assert_eq!(wrong.expect_err("an error")[0].help.as_deref(), Some("did you mean `high`?"));
}
