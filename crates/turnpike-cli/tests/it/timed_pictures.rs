//! Simulation graphs of timed automata that fit on a page, and pictures of their runs.

use std::path::Path;

use crate::common::{folder, turnpike_in};

/// The two automata of figure 1 of the paper on Deep Random Search, as its text describes them. In A1 the edge `a` can be taken for ever
/// before x exceeds 1; in A2 every edge of a loop waits for x >= 1 and resets x.
fn figure_1(name: &str, a: &str) -> String {
    format!(
        "system:{name}\nevent:a\nevent:b\nevent:c\nprocess:A\nclock:1:x\n\
         location:A:q0{{initial: : labels: accepting}}\nlocation:A:q1{{labels: accepting}}\n\
         edge:A:q0:q0:a{{{a}}}\nedge:A:q0:q1:b{{}}\nedge:A:q1:q1:c{{provided: x>=1 : do: x=0}}\n"
    )
}

const A1: &str = "provided: x<=1";
const A2: &str = "provided: x>=1 : do: x=0";

/// Worked out by hand. Nodes are closed under the passing of time, as in the paper's definition 5:
///
/// - A1: (q0, x>=0) is the initial node. `a` leaves 0<=x<=1, and after time has passed x>=0 again: a loop. `b` leads to
///   (q1, x>=0). There `c` resets x, and time passes: a loop. 2 nodes, 3 edges.
/// - A2: `a` resets x, and time passes: a loop, too. The same graph, although only A1 has Zeno runs: a simulation
///   graph does not tell them apart.
///
/// When time passes before the edges instead, nodes are what an edge leaves behind:
///
/// - A1: (q0, x=0) is initial. `a` leads to (q0, 0<=x<=1), where `a` loops; from both `b` leads to (q1, x>=0), and `c` from there to
///   (q1, x=0), where `c` loops. 4 nodes, 6 edges.
/// - A2: `a` loops at (q0, x=0); then (q1, x>=0) and (q1, x=0) as before. 3 nodes, 4 edges.
#[test]
fn simulation_graphs_of_figure_1() {
    let (a1, a2) = (figure_1("A1", A1), figure_1("A2", A2));
    let folder = folder(&[("A1.tck", &a1), ("A2.tck", &a2)]);
    let graph = [(0, 'a', 0), (0, 'b', 1), (1, 'c', 1)];
    let a1_before = [(0, 'a', 1), (0, 'b', 2), (1, 'a', 1), (1, 'b', 2), (2, 'c', 3), (3, 'c', 3)];
    let a2_before = [(0, 'a', 0), (0, 'b', 1), (1, 'c', 2), (2, 'c', 2)];
    let after: &[&str] = &[];
    let before: &[&str] = &["--delay-first"];
    for (model, flags, nodes, edges) in [
        ("A1", after, 2, &graph[..]),
        ("A2", after, 2, &graph[..]),
        ("A1", before, 4, &a1_before[..]),
        ("A2", before, 3, &a2_before[..]),
    ] {
        let file = format!("{model}.tck");
        let counted = format!("generated: {nodes} states, {} transitions (complete)", edges.len());
        for output in ["g.aut", "g.dot"] {
            let arguments = [&["generate", &file, "-o", output], flags].concat();
            turnpike_in(folder.path(), &arguments, "").expect(0, &[&counted]);
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
        let aut = read("g.aut");
        let mut lines = aut.lines();
        assert_eq!(lines.next().map(str::trim_end), Some(&*format!("des (0,{},{nodes})", edges.len())));
        let expected: Vec<String> =
            edges.iter().map(|(from, edge, to)| format!("({from},\"A@{edge}\",{to})")).collect();
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{model} {flags:?}");
        let dot = read("g.dot");
        for (from, edge, to) in edges {
            let arrow = format!("s{from} -> s{to} [label=\"A@{edge}\"];");
            assert!(dot.contains(&arrow), "{arrow} is missing in {dot}");
        }
        assert_eq!(dot.matches(" -> s").count(), edges.len() + 1, "one more for the initial node");
    }
}

/// A picture as an XML document, with the number of elements of some classes.
fn counted(path: &Path, classes: &[&str]) -> Vec<usize> {
    let text = std::fs::read_to_string(path).expect("a picture");
    let document = roxmltree::Document::parse(&text).expect("well-formed XML");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let of = |class: &str| {
        let has = |value: &str| value.split(' ').any(|name| name == class);
        document.descendants().filter(|node| node.attribute("class").is_some_and(has)).count()
    };
    classes.iter().map(|class| of(class)).collect()
}

#[test]
fn witnesses_become_charts() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/timed");
    let folder = folder(&[]);
    let search = |model: &str, more: &[&str]| {
        let model = models.join(model);
        let model = model.to_str().expect("a path in UTF-8");
        let arguments = [&["search", model, "--strategy", "bfs", "--trace", "w.json"], more].concat();
        turnpike_in(folder.path(), &arguments, "").expect(1, &["wrote: w.json"]);
        let show = ["show", "w.json", "--chart", "who.svg", "--gantt", "when.svg"];
        turnpike_in(folder.path(), &show, "").expect(0, &["wrote who.svg", "wrote when.svg"]);
    };
    let chart = |classes| counted(&folder.path().join("who.svg"), classes);
    let gantt = |classes| counted(&folder.path().join("when.svg"), classes);

    // Fischer's processes never synchronise: six steps, each of one process, which is elsewhere afterwards. Two delays.
    let both = "state P(1).critical && P(2).critical";
    search("fischer.xta", &["--set", "WAIT=1", "--set", "WRITE=2", "--find", both]);
    assert_eq!(chart(&["lifeline", "arrow", "dot", "moment"]), [3, 0, 6, 2]);
    // The boxes of three processes at first, and the six places they come to.
    assert_eq!(chart(&["process", "place"]), [3, 3 + 6]);
    // A stay of every process, and one more for every step; the last ones are not over.
    assert_eq!(gantt(&["bar", "open", "process-name"]), [3 + 6, 3, 3]);

    // Trains talk to the controller: three come, one is told to stop, and the controller forgets the last one.
    let both =
        "state exists (i : train_t) exists (j : train_t) i < j && Train(i).crossing && Train(j).crossing";
    search("train_gate.xta", &["--set", "FAULTY=true", "--find", both]);
    assert_eq!(chart(&["lifeline", "arrow", "dot"]), [4, 4, 3]);
    assert_eq!(gantt(&["process-name"]), [4]);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = folder(&[("w.txt", "P@a\nP@b\n"), ("other.txt", "send(1)\n")]);
    let show = |arguments: &[&str]| turnpike_in(folder.path(), &[&["show"], arguments].concat(), "");
    show(&["w.txt", "--chart", "w.svg"]).expect(0, &["wrote w.svg"]);
    show(&["w.txt", "--gantt", "g.svg"]).expect(2, &["w.txt", "no times", "help"]);
    show(&["w.txt", "--chart", "w.png"]).expect(2, &["--chart draws an .svg file"]);
    show(&["other.txt", "--chart", "o.svg"]).expect(0, &["wrote o.svg"]);
    assert!(!folder.path().join("g.svg").exists() && folder.path().join("o.svg").exists());
    show(&["--help"]).expect(0, &["--gantt", "turnpike show witness.json --chart who.svg --gantt when.svg"]);
}
