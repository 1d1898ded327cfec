//! Diagnostics for texts that are not specifications: the message, the help text, and the location.

use turnpike_mcrl2::syntax::{Symbols, parse_data_expression, parse_specification};
use turnpike_model::Diagnostic;

/// A single error, whose location is marked by `^` in the line below the text.
fn one(source: &str, place: &str, message: &str) {
    let (_, diagnostics) = parse_specification(source);
    let [diagnostic] = &diagnostics[..] else { panic!("{source}\n{diagnostics:#?}") };
    expect(source, diagnostic, place, message);
}

fn expect(source: &str, diagnostic: &Diagnostic, place: &str, message: &str) {
    assert_eq!(diagnostic.to_string(), message, "{source}");
    let range = diagnostic.span.clone().expect("a place").range;
    let expected = place.find('^').map_or(source.len()..source.len(), |start| start..place.len());
    assert_eq!(range, expected, "{source}\n{message}");
}

#[test]
fn semicolons() {
    one(
        "act a init a;",
        "    ^",
        "a `;` is missing after this declaration (every declaration ends with `;`)",
    );
    one(
        "act a; init a",
        "            ^",
        "a `;` is missing after this declaration (every declaration ends with `;`)",
    );
    let source = "proc P = a\n  Q = b;\ninit P;";
    one(source, "         ^", "a `;` is missing after this declaration (every declaration ends with `;`)");
    assert_eq!(parse_specification(source).0.processes().count(), 2);
    one("act a;; init a;", "      ^", "expected the name of an action, found `;` (one `;` is enough)");
    one("act a b; init a;", "      ^", "expected `,`, `:` or `;`, found `b`");
}

#[test]
fn reserved_words() {
    one(
        "map val: Nat; init delta;",
        "    ^^^",
        "`val` is a reserved word and cannot name a map (choose another name, such as `val_`)",
    );
    one(
        "act in; init delta;",
        "    ^^",
        "`in` is a reserved word and cannot name an action (choose another name, such as `in_`)",
    );
    one(
        "sort mu; init delta;",
        "     ^^",
        "`mu` is a reserved word and cannot name a sort (choose another name, such as `mu_`)",
    );
    one(
        "map f: form -> Nat; init delta;",
        "       ^^^^",
        "`form` is a reserved word and cannot name a sort (choose another name, such as `form_`)",
    );
    one(
        "act map, b; init delta;",
        "    ^^^",
        "`map` is a reserved word and cannot name an action (choose another name, such as `map_`)",
    );
    one(
        "map f: Nat; act: Nat; init delta;",
        "            ^^^",
        "`act` is a reserved word and cannot name a map (choose another name, such as `act_`)",
    );
    one(
        "proc init = a; init delta;",
        "     ^^^^",
        "`init` is a reserved word and cannot name a process (choose another name, such as `init_`)",
    );
    one("act a; init ;", "            ^", "expected a process, found `;`");
    one(
        "init a(List);",
        "       ^^^^",
        "`List` is a reserved word and cannot be part of data (expected an expression here)",
    );
    one(
        "act 2b; init delta;",
        "    ^",
        "expected the name of an action, found a number (names start with a letter or `_`)",
    );
    // Built-in functions and old keywords are ordinary names.
    let (_, diagnostics) = parse_specification("act if,nil,min; init if . nil . min;");
    assert_eq!(diagnostics, []);
}

#[test]
fn comparing_and_defining() {
    one(
        "init (x = 1) -> a;",
        "        ^",
        "expected `)` or an operator, found `=` (`=` defines; to compare, write `==`)",
    );
    one(
        "eqn f(x) == y; init delta;",
        "             ^",
        "expected `=` and the right side of the equation, found `;` (the sides of an equation are separated by `=`, not by `==`)",
    );
    one("proc P == a; init P;", "       ^^", "a process is defined with `=`, not with `==` (write `=`)");
    one(
        "eqn f = 1 = 2; init delta;",
        "          ^",
        "expected `;` or an operator, found `=` (`=` defines; to compare, write `==`)",
    );
    one(
        "init P(x := 1);",
        "         ^",
        "expected `,`, `)` or an operator, found `:` (an assignment is written `x = e`)",
    );
    one(
        "init (a | b) -> c;",
        "        ^",
        "expected `)` or an operator, found `|` (`|` is not an operator on data; disjunction is written `||`)",
    );
    one("init (a & b) -> c;", "        ^", "`&` is not an operator (conjunction is written `&&`)");
    one("init a(07);", "       ^^", "a number cannot start with a zero (write `7`)");
}

#[test]
fn brackets() {
    one(
        "init hide({a}, P || (Q . R);",
        "         ^",
        "this `(` is never closed (a `)` is missing before the end of the declaration)",
    );
    one(
        "init (a + b)) . c;",
        "            ^",
        "this `)` closes nothing (remove it, or open a bracket before it)",
    );
    one(
        "init a([1, 2);",
        "       ^^^^^^",
        "this `[` is closed by `)` (a `]` is missing or `)` is one too many)",
    );
}

#[test]
fn conditions_and_operators() {
    one(
        "init #[1] > 0 -> a;",
        "     ^",
        "expected a process, found data: `#` (data stands before `->`; with operators it needs parentheses: `(…) -> p`)",
    );
    one(
        "init x == 1 -> a;",
        "       ^^",
        "`==` is not an operator on processes (a condition with operators needs parentheses: `(…) -> p`)",
    );
    one("init a // b\n;", "       ^", "`/` is not an operator on processes (comments start with `%`)");
    one(
        "init (a . x && y -> b);",
        "            ^^",
        "`&&` is not an operator on processes (a condition with operators needs parentheses: `(…) -> p`)",
    );
    let with_else = "`<>` needs a condition `c -> p` before it, inside the same parentheses and without a `<>` of its own";
    one(
        "init x -> a <> b <> c;",
        "                 ^^",
        &format!("expected `;` or an operator, found `<>` ({with_else})"),
    );
    one(
        "init x -> (a <> b);",
        "             ^^",
        &format!("expected `)` or an operator, found `<>` ({with_else})"),
    );
    one(
        "eqn f = a == forall x:Nat. p(x) == c; init delta;",
        "                                ^^",
        "this `==` may belong inside or outside of what precedes it (add parentheses)",
    );
    one(
        "init a << sum x:Nat. b << c;",
        "                       ^^",
        "this `<<` may belong inside or outside of what precedes it (add parentheses)",
    );
    one(
        "eqn f = a whr x = 1 end + 2; init delta;",
        "                        ^",
        "nothing but another `whr` can follow `whr … end` directly (put parentheses around the expression with its `whr … end`)",
    );
    one("init a . ;", "         ^", "expected a process, found `;`");
    one("init a(1 + );", "           ^", "expected an expression, found `)`");
}

#[test]
fn sorts() {
    let product = "a product of sorts can only stand before `->`, or as the sort of an action (for pairs, declare a `struct`; \
                   for a function as a factor, add parentheses: `(A -> B) # C`)";
    one("map f: A#B; init delta;", "       ^^^", product);
    one("map f: A->A#A; init delta;", "          ^^^", product);
    one("act a:Nat->Nat#Bool; init delta;", "           ^^^^^^^^", product);
    one("map f: List(A#B); init delta;", "            ^^^", product);
    one(
        "sort A = struct ; init delta;",
        "                ^",
        "expected the name of a constructor, found `;`",
    );
    one("sort A = struct c(); init delta;", "                  ^", "expected a sort, found `)`");
    one(
        "sort A, B = Nat; init delta;",
        "          ^",
        "only one sort can be defined at a time (give each sort a definition of its own)",
    );
    one("map f Nat; init delta;", "      ^^^", "expected `,` or `:` and a sort, found `Nat`");
}

#[test]
fn sets_of_actions() {
    one(
        "init hide({}, a);",
        "          ^^",
        "`hide` needs at least one action (without actions, leave `hide` away)",
    );
    one(
        "init block({}, a);",
        "           ^^",
        "`block` needs at least one action (without actions, leave `block` away)",
    );
    one(
        "init comm({a->b}, a);",
        "            ^^",
        "expected `|`: at least two actions communicate, found `->`",
    );
    one(
        "init comm({a|b->tau}, a);",
        "                ^^^",
        "actions cannot communicate to `tau` (communicate to an action and hide that)",
    );
    one("init comm({a|b->c|d}, a);", "                 ^", "expected `,` or `}`, found `|`");
}

#[test]
fn sections() {
    one(
        "act a;",
        "      ",
        "the specification has no `init` (add `init P;`, where P is the initial process)",
    );
    one("", "", "the specification has no `init` (add `init P;`, where P is the initial process)");
    one(
        "init a;\ninit b;",
        "        ^^^^",
        "a specification has only one `init` (the first one is on line 1)",
    );
    one("act init delta;", "^^^", "the section `act` is empty (add a declaration or remove the word)");
    one(
        "var x:Nat; map f:Nat; init delta;",
        "           ^^^",
        "expected `eqn` after `var`, found `map` (variables belong to the equations that follow them)",
    );
    one(
        "a.b; init delta;",
        "^",
        "expected a section: `sort`, `cons`, `map`, `var`, `eqn`, `glob`, `act`, `proc` or `init`, found `a`",
    );
}

#[test]
fn many_errors_and_everything_else_is_read() {
    let source = "\
sort A; 2; B = ;
act a; b:; c: Nat;
proc P = a .; Q = (b; R = c(1).Q;
init P ||;
map f: A -> ; g: A;
";
    let (specification, diagnostics) = parse_specification(source);
    let lines: Vec<usize> = diagnostics
        .iter()
        .map(|diagnostic| source[..diagnostic.span.clone().unwrap().range.start].matches('\n').count() + 1)
        .collect();
    assert_eq!(lines, [1, 1, 2, 3, 3, 4, 5], "{diagnostics:#?}");
    assert_eq!(specification.sorts().count(), 1);
    assert_eq!(specification.actions().count(), 2);
    assert_eq!(specification.processes().count(), 1);
    assert_eq!(specification.maps().count(), 1);
}

#[test]
fn errors_end() {
    let (_, diagnostics) = parse_specification(&"act 1; ( $ ".repeat(10_000));
    assert_eq!(diagnostics.len(), 100);
}

#[test]
fn expressions_alone() {
    let symbols = Symbols::default();
    for (source, place, message) in [
        ("1 +", "   ", "expected an expression, found the end of the text"),
        ("1 + 2;", "     ^", "expected an operator or the end of the expression, found `;`"),
        (
            "x = 3",
            "  ^",
            "expected an operator or the end of the expression, found `=` (`=` defines; to compare, write `==`)",
        ),
        ("f(1", " ^", "this `(` is never closed (a `)` is missing before the end of the declaration)"),
        ("", "", "expected an expression, found the end of the text"),
    ] {
        let (expression, diagnostics) = parse_data_expression(source, &symbols);
        assert!(expression.is_none(), "{source}");
        let [diagnostic] = &diagnostics[..] else { panic!("{source}\n{diagnostics:#?}") };
        expect(source, diagnostic, place, message);
    }
}

#[test]
fn known_words_keep_their_ids() {
    let (specification, _) = parse_specification("map f, g: Nat; init delta;");
    let symbols = &specification.tree.symbols;
    let (expression, _) = parse_data_expression("new + g", symbols);
    let expression = expression.unwrap();
    assert_eq!(expression.tree.symbols.find("g"), symbols.find("g"));
    assert_eq!(expression.tree.symbols.find("new").map(|new| new.index()), Some(symbols.len()));
}
