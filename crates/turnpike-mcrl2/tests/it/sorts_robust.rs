//! Specifications with lost, repeated or exchanged tokens never cause a panic, and deep nesting
//! does not exhaust the stack.

use crate::sorts_support;

use proptest::prelude::*;
use turnpike_mcrl2::syntax::parse_specification;
use turnpike_mcrl2::typed::{Program, check_specification};
use turnpike_model::diagnostic::{Diagnostic, Severity};

const SNIPPETS: [&str; 8] = [
    "sort D , E ; S = struct a ( x : Nat , S ) ? isa | b ( x : Bool ) | c ; L = List ( S ) ; F = D -> E ; cons d : D ; e : D -> E ; init delta ;",
    "map f : Nat # Bool -> Nat ; f : Bool -> Nat ; g : Nat -> Nat -> Bool ; c : Real ; var n , m : Nat ; b : Bool ; \
     eqn b && n > 0 -> f ( n , b ) = n + 1 ; f ( b ) = if ( b , 0 , 1 ) ; g ( n ) ( m ) = n == m ; c = 1 / 2 ; init delta ;",
    "act s , r , c : Nat ; t ; proc P ( n : Nat , l : List ( Nat ) ) = ( n < 3 ) -> s ( n ) . P ( n = n + 1 ) <> t . P ( 0 , [ ] ) ; \
     Q = sum m : Nat . r ( m ) . Q ( ) ; init allow ( { c , t } , comm ( { s | r -> c } , P ( 0 , [ 1 ] ) || Q ) ) ;",
    "map k : Set ( Nat ) # FSet ( Nat ) # Bag ( Nat ) -> Bool ; var s : Set ( Nat ) ; t : FSet ( Nat ) ; u : Bag ( Nat ) ; \
     eqn k ( s , t , u ) = s + t == { x : Nat | x in t * { 1 , 2 } } && ! s <= t && count ( 1 , u + { 1 : 2 } ) > # t ; init delta ;",
    "map h : ( Nat -> Nat ) -> Nat ; var v : Nat -> Nat ; eqn h ( v ) = v [ 1 -> 2 ] ( 3 ) + ( lambda x : Nat , y : Pos . x * y ) ( 1 , 2 ) + z \
     whr z = head ( [ 1 , 2 ] ++ tail ( [ 0 ] ) ) end ; init delta ;",
    "glob z : Nat ; act a : Nat # Bool ; a : Real ; init rename ( { a -> a } , hide ( { a } , block ( { a } , a ( z , forall x : Nat . exists y : Nat . x < y ) @ 1 ) ) ) ;",
    "act a : Bool ; proc P ( n : Nat ) = dist b : Bool [ if ( b , 1 / 3 , 2 / 3 ) ] . a ( b ) . P ( ) + delta @ 2 ; init P ( 1 ) ;",
    "sort A = B ; B = List ( C ) ; C = struct p ( q : A ) | o ; map i : A -> C ; eqn i ( [ ] ) = o ; i ( [ o ] ) = p ( [ o , p ( [ ] ) ] ) ; init tau . tau ;",
];

fn check(source: &str) -> (Option<Program>, Vec<Diagnostic>) {
    let (specification, _) = parse_specification(source);
    check_specification(&specification)
}

#[derive(Clone, Debug)]
enum Mutation {
    Delete(usize),
    Repeat(usize),
    Exchange(usize, usize),
    Copy(usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        any::<usize>().prop_map(Mutation::Delete),
        any::<usize>().prop_map(Mutation::Repeat),
        any::<(usize, usize)>().prop_map(|(from, to)| Mutation::Exchange(from, to)),
        any::<(usize, usize)>().prop_map(|(from, to)| Mutation::Copy(from, to)),
    ]
}

fn mutate(source: &str, mutations: &[Mutation]) -> String {
    let mut tokens: Vec<&str> = source.split_whitespace().collect();
    for mutation in mutations {
        let length = tokens.len().max(1);
        match *mutation {
            _ if tokens.is_empty() => {}
            Mutation::Delete(at) => {
                tokens.remove(at % length);
            }
            Mutation::Repeat(at) => tokens.insert(at % length, tokens[at % length]),
            Mutation::Exchange(from, to) => tokens.swap(from % length, to % length),
            Mutation::Copy(from, to) => tokens[to % length] = tokens[from % length],
        }
    }
    tokens.join(" ")
}

#[test]
fn the_snippets_are_correct() {
    for source in SNIPPETS {
        let (program, diagnostics) = check(source);
        assert!(program.is_some(), "{source}: {diagnostics:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_specifications_get_an_answer(
        snippet in 0..SNIPPETS.len(),
        other in 0..SNIPPETS.len(),
        mutations in proptest::collection::vec(mutation(), 1..6),
    ) {
        let source = mutate(&format!("{} {}", SNIPPETS[snippet], SNIPPETS[other]), &mutations);
        let (program, diagnostics) = check(&source);
        prop_assert_eq!(program.is_none(), diagnostics.iter().any(|one| one.severity == Severity::Error));
        if let Some(program) = &program {
            sorts_support::well_sorted(program);
        }
        for one in &diagnostics {
            let range = one.span.clone().map_or(0..0, |span| span.range);
            prop_assert!(source.get(range).is_some(), "{}", one);
        }
        let source = mutate(SNIPPETS[snippet], &mutations);
        check(&source);
    }
}

#[test]
fn no_depth_of_nesting_exhausts_the_stack() {
    const DEPTH: usize = 20_000;
    let nest = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    let accepted = [
        format!("map f: Nat -> Nat; c: Nat; eqn c = {}; init delta;", nest("f(", "1", ")")),
        format!("map c: Nat; eqn c = {}; init delta;", nest("1 + (", "1", ")")),
        format!("map c: Bool; eqn c = {}; init delta;", nest("exists x: Nat. ", "x == 0", "")),
        format!("map c: List(Nat); eqn c = {}; init delta;", nest("1 |> ", "[]", "")),
        format!("map c: Nat; eqn c = {}; init delta;", nest("(", "1", " whr x = 1 end)")),
        format!("act a; init {};", nest("a . (", "a", ")")),
        format!("act a: Nat; init {};", nest("sum x: Nat. a(x) + ", "delta", "")),
        format!("act a; init {};", nest("hide({a}, ", "a", ")")),
    ];
    for source in accepted {
        let (program, diagnostics) = check(&source);
        assert!(program.is_some(), "{}: {:?}", &source[..60], diagnostics.first());
    }
    let refused = [
        format!("map c: Nat; eqn c = {}; init delta;", nest("[", "1", "]")),
        format!("map c: Nat; eqn c = {}; init delta;", nest("lambda x: Nat. ", "1", "")),
        format!("map c: {}; init delta;", nest("List(", "Nat", ")")),
        format!("map c: {}; init delta;", nest("Nat -> ", "Nat", "")),
        format!(
            "sort {}; init delta;",
            (0..DEPTH).map(|one| format!("A{one} = A{}", one + 1)).collect::<Vec<_>>().join("; ")
        ),
    ];
    for source in refused {
        let (program, diagnostics) = check(&source);
        assert!(program.is_none() && !diagnostics.is_empty(), "{}", &source[..60]);
    }
    // A long chain of structs is not nested.
    let chain: String = (0..500).map(|one| format!("S{one} = struct c{one}(S{}); ", one + 1)).collect();
    let (program, diagnostics) = check(&format!("sort {chain} S500 = struct end_; init delta;"));
    assert!(program.is_some(), "{diagnostics:?}");
}
