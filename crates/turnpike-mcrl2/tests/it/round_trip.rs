//! Random trees are printed and parsed again. They are compared by their texts with all
//! parentheses, which differ for different trees.

use proptest::prelude::*;
use turnpike_mcrl2::syntax::*;

/// Creates a specification from bytes. Each byte determines a choice, and all nodes are leaves
/// after the last byte.
struct Grower {
    bytes: Vec<u8>,
    position: usize,
    tree: Tree,
}

const NAMES: [&str; 8] = ["a", "b'", "_c", "x", "if", "Sum", "nil", "P"];

impl Grower {
    fn choose(&mut self, options: usize) -> usize {
        let byte = self.bytes.get(self.position).copied().unwrap_or(0);
        self.position += 1;
        byte as usize % options
    }

    fn name(&mut self) -> Name {
        let word = NAMES[self.choose(NAMES.len())];
        Name { symbol: self.tree.symbols.intern(word), span: Span::default() }
    }

    fn several<T>(&mut self, least: usize, mut one: impl FnMut(&mut Self) -> T) -> Box<[T]> {
        let length = least + self.choose(3);
        (0..length).map(|_| one(self)).collect()
    }

    fn variables(&mut self) -> Box<[Variable]> {
        let mut variables: Vec<Variable> = Vec::new();
        for _ in 0..=self.choose(3) {
            let name = self.name();
            let together = self.choose(2) == 1;
            let sort = match variables.last() {
                Some(last) if together => last.sort,
                _ => self.sort(),
            };
            variables.push(Variable { name, sort });
        }
        variables.into()
    }

    fn sort(&mut self) -> SortId {
        use BuiltinSort::*;
        use Container::*;
        let sort = match self.choose(8) {
            0 | 1 => Sort::Builtin([Nat, Bool, Pos, Int, Real][self.choose(5)]),
            2 | 3 => Sort::Name(self.name().symbol),
            4 => Sort::Container([List, Set, Bag, FSet, FBag][self.choose(5)], self.sort()),
            5 | 6 => Sort::Function { domain: self.several(1, Self::sort), codomain: self.sort() },
            _ => Sort::Struct(self.several(1, |grower| Constructor {
                name: grower.name(),
                fields: grower.several(0, |grower| Field {
                    projection: (grower.choose(2) == 1).then(|| grower.name()),
                    sort: grower.sort(),
                }),
                recogniser: (grower.choose(2) == 1).then(|| grower.name()),
            })),
        };
        self.tree.add_sort(sort, Span::default())
    }

    fn data(&mut self) -> DataId {
        let data = match self.choose(16) {
            0 | 1 => Data::Name(self.name().symbol),
            2 => {
                let digits = ["0", "7", "123456789012345678901"][self.choose(3)];
                Data::Number(self.tree.symbols.intern(digits))
            }
            3 => Data::Bool(self.choose(2) == 1),
            4 => Data::List(self.several(0, Self::data)),
            5 => Data::Set(self.several(0, Self::data)),
            6 => Data::Bag(self.several(0, |grower| (grower.data(), grower.data()))),
            7 => {
                let variable = Variable { name: self.name(), sort: self.sort() };
                Data::Comprehension { variable, body: self.data() }
            }
            8 => Data::Apply { function: self.data(), arguments: self.several(1, Self::data) },
            9 => Data::Update { function: self.data(), key: self.data(), value: self.data() },
            10 => {
                use UnaryOperator::*;
                Data::Unary([Not, Minus, Size][self.choose(3)], self.data())
            }
            11..=13 => {
                let operator = BinaryOperator::ALL[self.choose(BinaryOperator::ALL.len())];
                Data::Binary(operator, self.data(), self.data())
            }
            14 => {
                use Binder::*;
                let binder = [Forall, Exists, Lambda][self.choose(3)];
                Data::Binder { binder, variables: self.variables(), body: self.data() }
            }
            _ => Data::Where { body: self.data(), definitions: self.several(1, Self::assignment) },
        };
        self.tree.add_data(data, Span::default())
    }

    fn assignment(&mut self) -> Assignment {
        Assignment { name: self.name(), value: self.data() }
    }

    fn process(&mut self) -> ProcessId {
        let process = match self.choose(20) {
            0 => Process::Delta,
            1 => Process::Tau,
            2 | 3 => Process::Action { name: self.name(), arguments: self.several(0, Self::data) },
            4 => Process::Call { name: self.name(), assignments: self.several(0, Self::assignment) },
            5..=9 => {
                let operator = ProcessOperator::ALL[self.choose(ProcessOperator::ALL.len())];
                Process::Binary(operator, self.process(), self.process())
            }
            10 => Process::At { process: self.process(), time: self.data() },
            11 => Process::Sum { variables: self.variables(), body: self.process() },
            12 => Process::Dist { variables: self.variables(), weight: self.data(), body: self.process() },
            13 | 14 => Process::If {
                condition: self.data(),
                then: self.process(),
                otherwise: (self.choose(2) == 1).then(|| self.process()),
            },
            15 => Process::Block { actions: self.several(1, Self::name), body: self.process() },
            16 => Process::Hide { actions: self.several(1, Self::name), body: self.process() },
            17 => Process::Allow {
                actions: self.several(0, |grower| MultiAction { names: grower.several(1, Self::name) }),
                body: self.process(),
            },
            18 => Process::Rename {
                renamings: self.several(0, |grower| Renaming { from: grower.name(), to: grower.name() }),
                body: self.process(),
            },
            _ => Process::Comm {
                rules: self
                    .several(0, |grower| CommRule { from: grower.several(2, Self::name), to: grower.name() }),
                body: self.process(),
            },
        };
        self.tree.add_process(process, Span::default())
    }

    fn function(&mut self) -> FunctionDeclaration {
        FunctionDeclaration { names: self.several(1, Self::name), sort: self.sort(), span: Span::default() }
    }

    fn section(&mut self) -> Section {
        let span = Span::default();
        match self.choose(7) {
            0 => Section::Sorts(
                self.several(1, |grower| match grower.choose(2) {
                    0 => SortDeclaration::Basic { names: grower.several(1, Self::name), span },
                    _ => SortDeclaration::Alias { name: grower.name(), sort: grower.sort(), span },
                })
                .into(),
            ),
            1 => Section::Constructors(self.several(1, Self::function).into()),
            2 => Section::Maps(self.several(1, Self::function).into()),
            3 => Section::Globals(self.variables().into()),
            4 => Section::Equations {
                variables: if self.choose(2) == 1 { self.variables().into() } else { Vec::new() },
                equations: self
                    .several(1, |grower| Equation {
                        condition: (grower.choose(2) == 1).then(|| grower.data()),
                        left: grower.data(),
                        right: grower.data(),
                        span,
                    })
                    .into(),
            },
            5 => Section::Actions(
                self.several(1, |grower| ActionDeclaration {
                    names: grower.several(1, Self::name),
                    sorts: grower.several(0, Self::sort),
                    span,
                })
                .into(),
            ),
            _ => Section::Processes(
                self.several(1, |grower| ProcessDeclaration {
                    name: grower.name(),
                    parameters: if grower.choose(2) == 1 { grower.variables() } else { Box::default() },
                    body: grower.process(),
                    span,
                })
                .into(),
            ),
        }
    }

    fn specification(mut self) -> Specification {
        let mut sections = Vec::new();
        for _ in 0..self.choose(5) {
            sections.push(self.section());
        }
        sections.push(Section::Init(Init { process: self.process(), span: Span::default() }));
        Specification { tree: self.tree, sections, added_from: u32::MAX }
    }
}

fn specification() -> impl Strategy<Value = Specification> {
    prop::collection::vec(any::<u8>(), 0..300)
        .prop_map(|bytes| Grower { bytes, position: 0, tree: Tree::default() }.specification())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back_the_same(specification in specification()) {
        let all = specification.text(Parentheses::All);
        for parentheses in [Parentheses::Needed, Parentheses::All] {
            let text = specification.text(parentheses);
            let (again, diagnostics) = parse_specification(&text);
            prop_assert_eq!(&diagnostics, &[], "{}", text);
            prop_assert_eq!(again.text(Parentheses::All), all.clone(), "{}", text);
            prop_assert_eq!(again.sections.len(), specification.sections.len());
        }
    }

    /// All texts are parsed or refused without a panic, and all locations are within the text.
    #[test]
    fn any_text_is_read_or_refused(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..60),
        cut in any::<prop::sample::Index>(),
    ) {
        let source = words.concat();
        let cut = (0..=cut.index(source.len() + 1)).rev().find(|&at| source.is_char_boundary(at)).unwrap_or(0);
        for source in [&source[..], &source[cut..]] {
            let (specification, diagnostics) = parse_specification(source);
            for diagnostic in &diagnostics {
                let range = diagnostic.span.clone().expect("a place").range;
                prop_assert!(source.get(range).is_some(), "{:?}", diagnostic);
            }
            if diagnostics.is_empty() {
                let (again, diagnostics) = parse_specification(&specification.to_string());
                prop_assert_eq!(diagnostics, []);
                prop_assert_eq!(again.text(Parentheses::All), specification.text(Parentheses::All));
            }
            parse_data_expression(source, &Symbols::default());
        }
    }
}

const WORDS: &[&str] = &[
    "act ", "proc ", "init ", "init a;", "map ", "eqn ", "var ", "sort ", "glob ", "cons ", "; ", "; ", "a",
    "P", "x", "(", ")", "(", ")", "[", "]", "{", "}", ",", ":", "?", " = ", " -> ", " -> ", " <> ", " + ",
    " . ", " || ", "||_", "|", "@", "<<", "#", "!", "-", "sum ", "dist ", "x:Nat", "forall ", "lambda ",
    " whr ", " end ", "struct ", "List(", "hide(", "allow({", "comm({", "a|b", "0", "12", "00", "é", "%",
    "\n", "tau", "delta", "==", "&", "&&", "in ", "val",
];
