//! Compares the fast parser with the rule that it implements: of all parse trees of a text, it
//! selects the one whose outermost operator binds weakest, and so on for the operands. The oracle
//! tries all operators as the outermost one.

use proptest::prelude::*;
use turnpike_mcrl2::syntax::{
    Associativity, BinaryOperator, Parentheses, ProcessOperator, Symbols, parse_data_expression,
    parse_specification,
};

#[derive(Clone, Copy, Debug)]
enum Word {
    Atom,
    Prefix(&'static str, u8),
    Infix(&'static str, u8, Associativity),
    Postfix(&'static str, u8),
}

fn text(words: &[Word]) -> String {
    let word = |word: &Word| match word {
        Word::Atom => "a".to_owned(),
        Word::Prefix(text, _) => (*text).to_owned(),
        Word::Infix(text, ..) => format!(" {text} "),
        Word::Postfix(text, _) => format!(" {text}"),
    };
    words.iter().map(word).collect()
}

/// The parse tree with all parentheses. `doubtful` says whether there are equal left-associative
/// operators before and after a prefix. The body of the prefix could end before the second one or
/// include it, and the parser may refuse such a text.
fn read(words: &[Word], doubtful: &mut bool) -> String {
    let mut operand = |words: &[Word]| {
        let text = read(words, doubtful);
        if words.len() > 1 { format!("({text})") } else { text }
    };
    let level = |index: usize| match words[index] {
        Word::Infix(_, level, _) => Some(level),
        Word::Prefix(_, level) if index == 0 => Some(level),
        Word::Postfix(_, level) if index + 1 == words.len() => Some(level),
        _ => None,
    };
    let Some(lowest) = (0..words.len()).filter_map(level).min() else { return "a".to_owned() };
    let weakest: Vec<usize> = (0..words.len()).filter(|&index| level(index) == Some(lowest)).collect();
    let (first, last) = (weakest[0], weakest[weakest.len() - 1]);
    match words[first] {
        Word::Atom => unreachable!("atoms have no level"),
        Word::Prefix(text, _) => format!("{text}{}", operand(&words[1..])),
        Word::Postfix(text, _) => format!("{} {text}", operand(&words[..words.len() - 1])),
        Word::Infix(text, _, Associativity::Right) => {
            format!("{} {text} {}", operand(&words[..first]), operand(&words[first + 1..]))
        }
        Word::Infix(_, level, Associativity::Left) => {
            let Word::Infix(text, ..) = words[last] else { unreachable!("levels do not mix kinds") };
            let whole = format!("{} {text} {}", operand(&words[..last]), operand(&words[last + 1..]));
            let prefix = |word: &Word| matches!(word, Word::Prefix(_, weaker) if *weaker <= level);
            *doubtful |= words[first..last].iter().any(prefix);
            whole
        }
    }
}

fn compare(words: &[Word], source: &str, found: Option<String>) -> Result<(), TestCaseError> {
    let mut doubtful = false;
    let expected = read(words, &mut doubtful);
    match found {
        Some(found) => prop_assert_eq!(found, expected, "{}", source),
        None => prop_assert!(doubtful, "{} is refused", source),
    }
    Ok(())
}

/// Prefixes, an atom and postfixes, and then possibly an operator and the same again.
fn sequence(
    prefixes: Vec<Word>,
    infixes: Vec<Word>,
    postfixes: Vec<Word>,
) -> impl Strategy<Value = Vec<Word>> {
    let operand = (
        prop::collection::vec(prop::sample::select(prefixes), 0..=2),
        prop::collection::vec(prop::sample::select(postfixes), 0..=1),
        prop::bool::weighted(0.3),
        prop::sample::select(infixes),
    );
    prop::collection::vec(operand, 1..=6).prop_map(|operands| {
        let mut words = Vec::new();
        for (index, (prefixes, postfixes, with_postfix, infix)) in operands.into_iter().enumerate() {
            if index > 0 {
                words.push(infix);
            }
            words.extend(prefixes);
            words.push(Word::Atom);
            words.extend(postfixes.into_iter().filter(|_| with_postfix));
        }
        words
    })
}

fn data_words() -> impl Strategy<Value = Vec<Word>> {
    let infixes = BinaryOperator::ALL.map(|op| Word::Infix(op.text(), op.level(), op.associativity()));
    let prefixes = vec![Word::Prefix("!", 13), Word::Prefix("-", 13), Word::Prefix("forall x: Nat. ", 1)];
    let end = Word::Postfix("whr w = 1 end", 0);
    (sequence(prefixes, infixes.to_vec(), vec![end]), any::<bool>()).prop_map(move |(mut words, with_end)| {
        // `whr` in the middle of a text is ambiguous, and refused.
        words.retain(|word| !matches!(word, Word::Postfix(..)));
        words.extend(with_end.then_some(end));
        words
    })
}

fn process_words() -> impl Strategy<Value = Vec<Word>> {
    let infixes = ProcessOperator::ALL.map(|op| Word::Infix(op.text(), op.level(), op.associativity()));
    let prefixes = vec![
        Word::Prefix("sum x: Nat. ", 2),
        Word::Prefix("dist x: Nat[p]. ", 2),
        Word::Prefix("c -> ", 5),
        Word::Prefix("f(x) -> ", 5),
    ];
    sequence(prefixes, infixes.to_vec(), vec![Word::Postfix("@ 1", 8)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn data_is_read_by_the_rule(words in data_words()) {
        let source = text(&words);
        let (expression, _) = parse_data_expression(&source, &Symbols::default());
        let found = expression.map(|found| found.tree.data_text(found.root, Parentheses::All));
        compare(&words, &source, found)?;
    }

    #[test]
    fn processes_are_read_by_the_rule(words in process_words()) {
        let source = text(&words);
        let (specification, _) = parse_specification(&format!("init {source};"));
        let found = specification.init().map(|init| specification.tree.process_text(init.process, Parentheses::All));
        compare(&words, &source, found)?;
    }
}
