//! The sorts of small specifications, each of which tests a rule of the language.

use turnpike_mcrl2::syntax::{Parentheses, parse_specification};
use turnpike_mcrl2::typed::check_specification;

/// The sorts of these are correct.
const ACCEPTED: [&str; 37] = [
    "act a,b; init a||b;",
    "act a,b; init allow({a,b}, a||b);",
    "act a,b; init a.delta || b;",
    "act a; init tau.delta || a.delta;",
    "act a,c:Nat; init comm({a|a->c}, a(1)||a(1)||a(1));",
    "act a,b,c:Nat; init allow({c,a}, comm({a|a|b->c}, a(1)||a(1)||b(1)||a(1)));",
    "act r,s,c:Real; init allow({c}, comm({r|s->c}, (sum x:Real. r(x).delta) || s(3/2).delta));",
    "act a:Nat; init sum n:Nat. (n<4) -> a(n).delta;",
    "act a:Int; init sum n:Int. (n<2 && -3<n) -> a(n).delta;",
    "act a:List(Bool); init sum l:List(Bool). (#l<=2) -> a(l).delta;",
    "act a:Set(Bool); init sum s:Set(Bool). a(s).delta;",
    "act a:Nat; map f:Nat->Nat; var n:Nat; eqn f(0)=2; f(n)=1; init a(f(0)).delta;",
    "act a:Nat; map f:Nat#Nat->Nat; var n,m:Nat; eqn f(n,n)=2; n!=m -> f(n,m)=1; init a(f(1+1,2)).a(f(5,0)).delta;",
    "act a:Nat; map ite:Bool#Nat#Nat->Nat; f:Nat->Nat; var x,y,n:Nat; eqn ite(true,x,y)=x; ite(false,x,y)=y; f(n)=ite(n==0,0,f(Int2Nat(n-1))); init a(f(5)).delta;",
    "act a:Nat; proc P(l:List(Nat)) = a(head(l)).P(tail(l)); init P([1]);",
    "act a:Nat; proc P(l:List(Nat)) = (head(l)>0) -> a(head(l)).P(tail(l)); init P([1]);",
    "act a:Int; init a(-7 div 2).a(-7 mod 3).a(round(5/2)).a(floor(-7/2)).delta;",
    "act a:Real; init a(1/3+1/6).a(-1/3).a(1/0).delta;",
    "sort S=struct A|B(x:Nat)|C(y:Nat,z:Bool); act a:Bool; init a(A<B(0)).a(B(100)<C(0,false)).a(C(1,true)<C(1,false)).delta;",
    "act a:Bool; init a({1}<{2}).a({1}<={1,2}).a([2]<[1,5]).a([]<[1]).a(false<true).delta;",
    "sort D; cons d1,d2:D; act a:Bool; init a(d1==d2).a(d1==d1).delta;",
    "act a:Bag(Nat); init a({1:2,3:0,1:1}).a(Set2Bag({1,2})).delta;",
    "act a:Nat->Nat; proc P(f:Nat->Nat) = a(f).P(f[1->2]) + a(f).P(f[2->3]) + a(f).P(f[1->0]) + a(f).P(f[2->0]); init P(lambda x:Nat.0);",
    "act a,b:Nat; proc P(n:Nat) = b(n).(sum n:Nat.(n==7||n==8) -> a(n).P()); init P(1);",
    "act a:Nat; proc P(n,m:Nat) = a(n).P(m=n,n=m); init P(1,2);",
    "act a,b,c; init rename({a->b,b->a}, a.b.c.delta);",
    "act a,b,c; init hide({a}, (a|b).a.c.delta);",
    "act a,b; init block({b}, (a|b).delta + a.delta);",
    "act a,b,c; proc P = a.P.b + c; init P;",
    "act a,b; proc P(n:Nat) = (n<3) -> a.P(n+1) <> b; init P(0).a.delta;",
    "act throw:Bool; a; init a.dist b:Bool[if(b,1/3,2/3)].throw(b).delta;",
    "act a,b,c; init a@1.b@3.c@2.delta;",
    "act a:Bool; init a(exists n:Nat. n<3 && n>1).a(forall n:Nat. n>=0).a((lambda x:Nat.x)==(lambda y:Nat.y)).delta;",
    "act a:Nat; a:Bool; init a(1).a(true).delta;",
    "act a:Nat; b:Bool; glob x:Nat; glob y:Bool; init a(x).b(y).delta;",
    "act a; proc P = a.(P||P); init P;",
    "act a; proc P = P + a; init P;",
];

/// The sorts of these are wrong. Two others are refused for their recursion, but their sorts are
/// correct.
const REFUSED: [&str; 3] = [
    "act a: Nat; proc P(n: Nat) = a(n).P(n-1); init P(3);",
    "act a: Nat; a: Int; init a(1);",
    "act a, b, c, d; init comm({a|b->c, a|d->b}, a||b||d);",
];

#[test]
fn sorts_of_small_specifications() {
    for (source, accepted) in
        ACCEPTED.map(|one| (one, true)).into_iter().chain(REFUSED.map(|one| (one, false)))
    {
        let (specification, diagnostics) = parse_specification(source);
        assert!(diagnostics.is_empty(), "{source}: {diagnostics:?}");
        let (again, diagnostics) = parse_specification(&specification.to_string());
        assert_eq!(diagnostics, [], "{source}");
        assert_eq!(again.text(Parentheses::All), specification.text(Parentheses::All), "{source}");
        let (program, diagnostics) = check_specification(&specification);
        assert_eq!(program.is_some(), accepted, "{source}: {diagnostics:?}");
    }
}
