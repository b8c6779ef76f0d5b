use certus_graph::ops::{Affine, Floor};
use certus_graph::Graph;
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{solve, Answer, Budget, Place, Query, Region};
use certus_graph::Interval;

fn main() {
    let mut graph = Graph::new();
    let x = graph.input("x", &[1]);
    let half = graph.apply(Affine::dense(vec![0.5], 1, 1, vec![0.0]).unwrap(), &[x]).unwrap();
    let floor = graph.apply(Floor, &[half]).unwrap();
    graph.output("y", floor);
    let var = |node| Linear::variable(Place { node, element: 0 });
    let c = |v: f64| Linear::constant(Interval::point(v));
    let le = |a: &Linear<Place>, b: &Linear<Place>, strict| {
        Formula::Atom(Atom { linear: a.plus(Interval::point(-1.0), b), strict })
    };
    let eq = |v: f64| Formula::And(vec![le(&var(x), &c(v), false), le(&c(v), &var(x), false)]);
    for (name, init) in [("one", eq(4.0)), ("two", Formula::Or(vec![eq(4.0), eq(8.0)]))] {
        for lo in [4.0, 3.0, 0.0] {
            let bad = Formula::Or(vec![le(&var(half), &var(floor), true), le(&var(floor), &var(half), true)]);
            let f = Formula::And(vec![init.clone(), bad]);
            let q = Query::over_nodes(&graph, Region::new(vec![lo], vec![8.0]), &f).unwrap();
            let a = solve(&q, &Budget::default(), &mut |_| {}).unwrap();
            println!("{name} {lo}: {}", match a { Answer::Sat(w) => format!("sat {:?}", w.inputs), Answer::Unsat(_) => "unsat".into(), Answer::Unknown(r, p) => format!("unknown {r:?} {p:?}") });
        }
    }
}
