//! What a step computes, against values worked out by hand.

use crate::support::Linear;
use certus_lang::system::{ActionRole, AtomId, BoundOp, Bounds, Expect, Formula, PathProbability};
use certus_lang::system::{ProbabilityQuery, Quantifier};
use certus_lang::{LowerOptions, System, load_str};

fn load(text: &str) -> System {
    load_str(text, &mut Linear, &LowerOptions::default()).unwrap_or_else(|d| panic!("{d}"))
}

/// The outputs of a step by name.
fn run(system: &System, inputs: &[&[f64]]) -> impl Fn(&str) -> Vec<f64> + use<> {
    let values = certus_graph::eval::evaluate::<f64>(&system.step, inputs).expect("an evaluation");
    let names: Vec<String> = system.step.outputs().iter().map(|p| p.name.clone()).collect();
    move |name: &str| {
        let at = names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name} in {names:?}"));
        values[at].clone()
    }
}

/// The define `e` over `x` (length 3), `y` and `b`, at (1, -2, 3), 0.5 and true.
fn value(expr: &str) -> Vec<f64> {
    let text = format!(
        "system t\nstate x[3]\nstate y\nnext x = x\nnext y = y\ndefine b = y > 0\ndefine e = {expr}\nproperty p = G y < 1\n"
    );
    let out = run(&load(&text), &[&[1.0, -2.0, 3.0], &[0.5]]);
    out("e")
}

#[track_caller]
fn check(expr: &str, expected: &[f64]) {
    let found = value(expr);
    let close = found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0));
    assert!(close, "{expr}: found {found:?}, expected {expected:?}");
}

#[test]
fn arithmetic() {
    check("x + y", &[1.5, -1.5, 3.5]);
    check("1 - x - y", &[-0.5, 2.5, -2.5]);
    check("-x^2", &[-1.0, -4.0, -9.0]);
    check("2^-1 * y", &[0.25]);
    check("y^-2", &[4.0]);
    check("6 / x / 2", &[3.0, -1.5, 1.0]);
    check("2 * 3 + y * 4 - 1", &[7.0]);
    check("abs(x)", &[1.0, 2.0, 3.0]);
    check("sign(x)", &[1.0, -1.0, 1.0]);
    check("sign(y - 0.5)", &[0.0]);
    check("relu(x)", &[1.0, 0.0, 3.0]);
    check("floor(-y)", &[-1.0]);
    check("sqrt(y + 3.5) + exp(y - 0.5) + log(y + 0.5)", &[3.0]);
    check("sin(y)^2 + cos(y)^2 + tan(y) - sin(y) / cos(y)", &[1.0]);
    check("tanh(y) + sigmoid(y)", &[0.5_f64.tanh() + 1.0 / (1.0 + (-0.5_f64).exp())]);
    check("clamp(x, -1, y)", &[0.5, -1.0, 0.5]);
    check("clamp(x, -1, 2)", &[1.0, -1.0, 2.0]);
    check("deg(180) * y", &[std::f64::consts::FRAC_PI_2]);
    check("wrap(y + 2 * pi)", &[0.5]);
    check("wrap(y + pi) - (y - pi)", &[0.0]);
    check("if b then x else 0", &[1.0, -2.0, 3.0]);
    check("if y > 3 then x else y", &[0.5, 0.5, 0.5]);
}

#[test]
fn vectors() {
    check("x[0] + x[-1]", &[4.0]);
    check("x[1..]", &[-2.0, 3.0]);
    check("x[..-1]", &[1.0, -2.0]);
    check("x[-2..3]", &[-2.0, 3.0]);
    check("[y, x, 7][1..]", &[1.0, -2.0, 3.0, 7.0]);
    check("shift(x, y)", &[-2.0, 3.0, 0.5]);
    check("shift(x, [y, 9])", &[3.0, 0.5, 9.0]);
    check("concat(x, y, concat())", &[1.0, -2.0, 3.0, 0.5]);
    check("interleave(x, -x)", &[1.0, -1.0, -2.0, 2.0, 3.0, -3.0]);
    check("repeat(x[..2], 2)", &[1.0, -2.0, 1.0, -2.0]);
    check("[for i in 0..3: i * x[i]]", &[0.0, -2.0, 6.0]);
    check("[for i in 0..2: [for j in i..3: x[j] + 10 * i]]", &[1.0, -2.0, 3.0, 8.0, 13.0]);
    check("[for i in 0..3: if i < 2 & x[i] > y then x[2 - i] else i]", &[3.0, 1.0, 2.0]);
    check("[for i in 0..3: y]", &[0.5, 0.5, 0.5]);
    check("[for i in 0..3: max(x[i], i, y)]", &[1.0, 1.0, 3.0]);
    check("sum(x * [1, 10, 100])", &[281.0]);
    check("max(x) + min(x)", &[1.0]);
    check("max(x, y, 2)", &[2.0, 2.0, 3.0]);
    check("min(1, y)", &[0.5]);
    check("len(x) + len(y) + len(x[1..])", &[6.0]);
    check("x > 0", &[1.0, 0.0, 1.0]);
    check("all(x > -3) & !all(x > 0) & any(x > 2)", &[1.0]);
    check("x in [-2, 1]", &[1.0, 1.0, 0.0]);
    check("x in [[0, 0, 4], [1, 1, 5]]", &[1.0, 0.0, 0.0]);
    check("[for i in 0..3: x[i] > 0 -> x[i] > 2]", &[0.0, 1.0, 1.0]);
    check("[b, !b, b <-> y > 0]", &[1.0, 0.0, 1.0]);
    check("concat(y, x[1..1] * y, repeat(x, 0), [for i in 3..0: x])", &[0.5]);
    check("sum(x[2..2]) + y", &[0.5]);
    check("all(x[0..0] > y) & !any(x[0..0] > y)", &[1.0]);
}

#[test]
fn a_pendulum_step() {
    let system = load(
        "system pendulum
        const m = 1, l = 1, grav = 9.8
        state eta in [-pi, pi]
        state omega in [-10, 10]
        policy a = clamp(net(\"linear_2x1\", eta, omega), -15, 15)
        step 0.01 euler
        der eta = omega
        der omega = grav / l * sin(eta) + a / (m * l^2)
        init eta in [-deg(20), deg(20)] & abs(omega) <= deg(20)
        reward -(eta^2 + 0.1 * omega^2)
        terminal abs(eta) > deg(90)
        property upright = G (abs(eta) < deg(90) & abs(omega) < deg(90)) expect holds",
    );
    let (eta, omega) = (0.3_f64, -0.7_f64);
    let out = run(&system, &[&[eta], &[omega]]);
    let a = eta + 2.0 * omega;
    assert_eq!(out("a"), [a]);
    assert_eq!(out("next(eta)"), [eta + 0.01 * omega]);
    let expected = omega + 0.01 * (9.8 * eta.sin() + a);
    assert!((out("next(omega)")[0] - expected).abs() < 1e-15);
    assert!((out("reward")[0] + (eta * eta + 0.1 * omega * omega)).abs() < 1e-15);
    assert_eq!(out("terminal.truth"), [0.0]);
    assert_eq!(out("init.truth"), [1.0 * f64::from(u8::from(omega.abs() <= 20_f64.to_radians()))]);
    // Terminal states stay where they are.
    let stuck = run(&system, &[&[2.0], &[-0.5]]);
    assert_eq!((stuck("next(eta)"), stuck("next(omega)")), (vec![2.0], vec![-0.5]));
    let limit = 20.0 * std::f64::consts::PI / 180.0;
    assert_eq!(system.init_box, (vec![-limit, -limit], vec![limit, limit]));
    assert!(system.init_is_box);
    assert_eq!(system.dt, Some(0.01));
    assert_eq!(system.properties[0].expect, Some(Expect::Holds));
    let clipped = run(&system, &[&[3.0], &[9.0]]);
    assert_eq!(clipped("a"), [15.0]);
}

#[test]
fn runge_kutta_agrees_with_a_plain_one() {
    let system = load(
        "system drag
        state p in [-5, 5]
        state v in [-5, 5]
        state clock in [0, 100]
        input u in [-1, 1]
        policy y = net(\"linear_2x1\", p, v)
        define friction = 0.3 * v * abs(v)
        define force = u + y / 10 - friction
        step 0.2 rk4
        der p = v
        der v = force - sin(p) + 0.01 * clock
        next clock = clock + dt
        property q = G p < 5",
    );
    let (p, v, clock, u) = (0.4, -1.3, 7.0, 0.25);
    let y = p + 2.0 * v;
    let f = |p: f64, v: f64| (v, u + y / 10.0 - 0.3 * v * v.abs() - p.sin() + 0.01 * clock);
    let h = 0.2;
    let k1 = f(p, v);
    let k2 = f(p + h / 2.0 * k1.0, v + h / 2.0 * k1.1);
    let k3 = f(p + h / 2.0 * k2.0, v + h / 2.0 * k2.1);
    let k4 = f(p + h * k3.0, v + h * k3.1);
    let out = run(&system, &[&[p], &[v], &[clock], &[u]]);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
    close(out("next(p)")[0], p + h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0));
    close(out("next(v)")[0], v + h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1));
    close(out("next(clock)")[0], clock + 0.2);
}

#[test]
fn the_toy_and_a_window() {
    let toy = load(
        "system toy
        state v1 in [-1, 1]
        state v2 in [-1, 1]
        policy y = net(\"linear_2x1\", v1, v2)
        input d1 in [0, 0.5]
        input d2 in [0, 0.5]
        next v1 = if y > 0 then v1 + d1 else v1 - d1
        next v2 = if y > 0 then v2 + d2 else v2 - d2
        assume next(v1) in [-1, 1] & next(v2) in [-1, 1]
        property below_ten = G y < 10",
    );
    let names: Vec<&str> = toy.step.inputs().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["v1", "v2", "d1", "d2"]);
    let up = run(&toy, &[&[0.5], &[0.25], &[0.25], &[0.5]]);
    assert_eq!((up("y"), up("next(v1)"), up("next(v2)")), (vec![1.0], vec![0.75], vec![0.75]));
    assert_eq!((up("assume.truth"), up("assume.margin")), (vec![1.0], vec![0.25]));
    assert_eq!((up("atom0.truth"), up("atom0.margin")), (vec![1.0], vec![9.0]));
    let down = run(&toy, &[&[-0.75], &[0.25], &[0.5], &[0.5]]);
    assert_eq!((down("next(v1)"), down("assume.truth")), (vec![-1.25], vec![0.0]));
    assert_eq!(toy.atoms[0].text, "y < 10");

    let window = load(
        "system window
        const T = 4
        state grad[T] in [-1, 1]
        state ratio[T] in [1, 10]
        policy rate = net(\"linear_8x1\", interleave(grad, ratio))
        input g in [-1, 1]
        input r in [1, 10]
        next grad = shift(grad, g)
        next ratio = shift(ratio, r)
        define calm = all(grad in [-0.01, 0.01]) & all(ratio == 1)
        property p1 = F !(calm & rate == 0)",
    );
    let out = run(&window, &[&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &[9.0], &[0.5]]);
    assert_eq!(out("next(grad)"), [2.0, 3.0, 4.0, 9.0]);
    assert_eq!(out("next(ratio)"), [6.0, 7.0, 8.0, 0.5]);
    let interleaved = [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0];
    let rate: f64 = interleaved.iter().enumerate().map(|(i, v)| (i + 1) as f64 * v).sum();
    assert_eq!(out("rate"), [rate]);
    assert_eq!(out("calm"), [0.0]);
}

#[test]
fn choices() {
    let system = load(
        "system choices
        state x in [-10, 10]
        action fixed = argmax(net(\"linear_1x3\", x)) of { low, mid, high }
        action random ~ softmax(net(\"linear_1x2\", x)) of { wait, hit }
        chance luck of { good: 0.75, bad: 0.25 }
        define kick = match random { hit: 2, _: 0 }
        next x = match fixed { low | mid: x - 1, high: x + kick } + match luck { good: 0, bad: -x }
        property p = P<=0.01 [ F<=20 (random == hit & fixed != low) ]
        property q = Pmax=? [ G[1, 3] luck == bad ]",
    );
    let names: Vec<&str> = system.step.inputs().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["x", "luck", "random"]);
    // Scores x, 2x, 3x: the last label for positive x, the first for negative x and for ties.
    let good_hit = run(&system, &[&[1.0], &[1.0, 0.0], &[0.0, 1.0]]);
    assert_eq!(good_hit("fixed"), [0.0, 0.0, 1.0]);
    assert_eq!(good_hit("next(x)"), [3.0]);
    assert_eq!((good_hit("atom0.truth"), good_hit("atom0.margin")), (vec![1.0], vec![1.0]));
    assert_eq!((good_hit("atom1.truth"), good_hit("atom1.margin")), (vec![0.0], vec![-1.0]));
    let bad_wait = run(&system, &[&[-2.0], &[0.0, 1.0], &[1.0, 0.0]]);
    assert_eq!(bad_wait("next(x)"), [-1.0]);
    assert_eq!(run(&system, &[&[0.0], &[0.0, 1.0], &[1.0, 0.0]])("fixed"), [1.0, 0.0, 0.0]);
    let odds = good_hit("random.probabilities");
    assert!((odds[1] / odds[0] - 1_f64.exp()).abs() < 1e-12);
    assert_eq!(good_hit("random.logits"), [1.0, 2.0]);
    assert!(matches!(system.roles.actions[0], ActionRole::Argmax { .. }));
    assert!(matches!(system.roles.actions[1], ActionRole::Softmax { .. }));
    let atom = |i| Box::new(Formula::Atom(AtomId(i)));
    assert_eq!(
        system.properties[0].probability(),
        Some(&PathProbability {
            query: ProbabilityQuery::Bound(BoundOp::LessEqual, 0.01),
            quantifier: Quantifier::None,
            path: Formula::Finally(Bounds { lower: 0, upper: Some(20) }, atom(0)),
        })
    );
    assert_eq!(
        system.properties[1].probability(),
        Some(&PathProbability {
            query: ProbabilityQuery::Value,
            quantifier: Quantifier::Max,
            path: Formula::Globally(Bounds { lower: 1, upper: Some(3) }, atom(1)),
        })
    );
    assert_eq!(system.properties[1].source, "Pmax=? [ G[1, 3] luck == bad ]");
}

#[test]
fn properties_answer_whatever_their_kind() {
    let system = load(
        "system q
        state x in [0, 1]
        chance luck of { bad: 0.25, good: 0.75 }
        next x = x
        property safe = G x < 1
        property soon = F<=3 x > 0
        property start = x < 1
        property rare = P<=0.1 [ F<=5 luck == bad ]
        property worst = Pmax=? [ G x < 1 ]",
    );
    let [safe, soon, start, rare, worst] = &system.properties[..] else { panic!("{:?}", system.properties) };
    let fragments = [safe, soon, start, rare, worst].map(|own| own.fragment());
    let expected = [
        "safety",
        "bounded liveness",
        "initial condition",
        "probability of bounded reachability",
        "probability of a path formula",
    ];
    assert_eq!(fragments, expected);
    // `G φ` is an invariant over every run, not inside of a probability.
    assert_eq!([safe, soon, worst].map(|own| own.invariant().is_some()), [true, false, false]);
    assert_eq!(safe.over_runs(), Ok(safe.path()));
    assert_eq!(rare.over_runs(), Err("rare asks for a probability".to_owned()));
    assert!(safe.is_over_runs() && !rare.is_over_runs() && rare.probability().is_some());
    // An adversary wants the formula to fail, and a path that must be rare to happen.
    assert_eq!(&safe.against_the_environment(), safe.path());
    assert_eq!(rare.against_the_environment(), Formula::Not(Box::new(rare.path().clone())));
    assert_eq!([safe, rare, worst].map(|own| own.kind.has_verdict()), [true, true, false]);
}

#[test]
fn formulas_and_atoms() {
    let system = load(
        "system f
        state x in [-1, 1]
        const k = 3
        next x = -x
        define up = x > 0
        define often = G F up
        property a = G (x > 0 & x < 1 -> F<=k !up)
        property b = up & x < 1 & X up
        property c = often -> (x < 1 W up)
        property d = (if up then F up else G x < 1) & true",
    );
    let texts: Vec<&str> = system.atoms.iter().map(|a| a.text.as_str()).collect();
    assert_eq!(texts, ["up", "x > 0 & x < 1", "!up", "up & x < 1", "x < 1"]);
    let formula = |name: &str| system.property(name).expect("a property").over_runs().unwrap().clone();
    let atom = |i| Formula::Atom(AtomId(i));
    let boxed = |i| Box::new(atom(i));
    let all = Bounds::default();
    assert_eq!(
        formula("a"),
        Formula::Globally(
            all,
            Box::new(Formula::Implies(
                boxed(1),
                Box::new(Formula::Finally(Bounds { lower: 0, upper: Some(3) }, boxed(2)))
            ))
        )
    );
    assert_eq!(formula("b"), Formula::And(vec![atom(3), Formula::Next(boxed(0))]));
    let often = Formula::Globally(all, Box::new(Formula::Finally(all, boxed(0))));
    let weak = Formula::WeakUntil(all, boxed(4), boxed(0));
    assert_eq!(formula("c"), Formula::Implies(Box::new(often), Box::new(weak)));
    // The temporal define has no value in a step.
    assert_eq!(system.defines.len(), 1);
    assert_eq!(system.roles.defines.len(), 1);
}

#[test]
fn parameters() {
    let text = "system spring
        param stiffness in [0.5, 2] = 1
        param top in [1, 9] = 4
        state x in [-1, 1]
        input u in [0, top]
        const twice = 2 * stiffness
        next x = u - twice * x
        init x in [-stiffness / 4, if stiffness > 1 then 0.5 else 0.25]
        property p = G x < 1";
    let set = |overrides: &[(&str, f64)], free: &[&str]| {
        let options = LowerOptions {
            overrides: overrides.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
            free_params: free.iter().map(|n| (*n).to_owned()).collect(),
            ..LowerOptions::default()
        };
        load_str(text, &mut Linear, &options)
    };
    let plain = set(&[], &[]).expect("a system");
    assert_eq!(run(&plain, &[&[0.25], &[1.0]])("next(x)"), [0.5]);
    assert_eq!(plain.init_box, (vec![-0.25], vec![0.25]));
    let changed = set(&[("stiffness", 2.0), ("top", 9.0)], &[]).expect("a system");
    assert_eq!(run(&changed, &[&[0.25], &[1.0]])("next(x)"), [0.0]);
    assert_eq!(changed.init_box, (vec![-0.5], vec![0.5]));
    assert_eq!(changed.inputs[0].upper, [9.0]);
    assert_eq!(changed.params[0].value, 2.0);
    let free = set(&[], &["stiffness"]).expect("a system");
    assert_eq!(run(&free, &[&[0.25], &[1.0], &[0.5]])("next(x)"), [0.75]);
    assert_eq!(free.roles.free_params.len(), 1);
    assert!(!free.init_is_box);
    assert!(set(&[], &["top"]).is_err());
}

#[test]
fn initial_boxes() {
    let init = |text: &str| {
        let text = format!(
            "system i\nstate x[2] in [-9, 9]\nstate y in [-9, 9]\nnext x = x\nnext y = y\n{text}\nproperty p = G y < 1"
        );
        let system = load(&text);
        (system.init_box, system.init_is_box)
    };
    let (nine, low) = (9.0, -9.0);
    assert_eq!(init(""), ((vec![low; 3], vec![nine; 3]), true));
    let both = init("define start = all(x in [-1, 2]) & y == 3\ninit start");
    assert_eq!(both, ((vec![-1.0, -1.0, 3.0], vec![2.0, 2.0, 3.0]), true));
    let several = init("init x[0] >= 1 & 4 >= x[1]\ninit abs(y) <= 2 & -x[1] <= 5");
    assert_eq!(several, ((vec![1.0, -5.0, -2.0], vec![nine, 4.0, 2.0]), true));
    let vector = init("init all(x == [1, 2])");
    assert_eq!(vector, ((vec![1.0, 2.0, low], vec![1.0, 2.0, nine]), true));
    let each = init("init all([for i in 0..2: x[i] <= i])");
    assert_eq!(each, ((vec![low; 3], vec![0.0, 1.0, nine]), true));
    assert_eq!(init("init y < 1"), ((vec![low; 3], vec![nine, nine, 1.0]), false));
    assert_eq!(init("init y <= 1 | y >= 2"), ((vec![low; 3], vec![nine; 3]), false));
    assert_eq!(init("init x[0] <= y"), ((vec![low; 3], vec![nine; 3]), false));
}

#[test]
fn long_chains_of_names_and_operators_are_fine() {
    let mut text = String::from("system long\nstate x in [0, 1]\nnext x = d20000\ndefine d0 = x + 1\n");
    for i in 1..=20_000 {
        text.push_str(&format!("define d{i} = d{} + {}\n", i - 1, if i == 1 { "x" } else { "1" }));
    }
    text.push_str(&format!("property p = G x < {}1\n", "1 + x + ".repeat(5_000)));
    let out = run(&load(&text), &[&[0.5]]);
    assert_eq!(out("next(x)"), [20_001.0]);
}

#[test]
fn formulas_that_grow_are_an_error() {
    let text = |rule: &str| {
        let mut text = String::from("system grow\nstate x in [0, 1]\nnext x = x\ndefine f0 = F x > 0\n");
        for i in 1..=400 {
            text.push_str(&format!("define f{i} = {}\n", rule.replace('f', &format!("f{}", i - 1))));
        }
        text + "property p = f400\n"
    };
    for rule in ["f & f", "X f"] {
        let error = load_str(&text(rule), &mut Linear, &LowerOptions::default()).expect_err("an error");
        assert!(error.to_string().contains("this formula is too large"), "{error}");
    }
}

#[test]
fn the_deepest_expressions_are_lowered() {
    for (open, close) in [("(y + ", ")"), ("wrap(", ")"), ("if b then ", " else 1"), ("max(x, ", ")[0]")] {
        let depth = 45;
        let expr = format!("{}y{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(value(&expr).len(), 1, "{expr}");
    }
    // Conditions that depend on one another, as an initial condition.
    let mut text = String::from("system t\nstate x in [0, 1]\nnext x = x\ndefine c0 = x <= 0.5\n");
    for i in 1..=20_000 {
        text.push_str(&format!("define c{i} = c{} & c{}\n", i - 1, i / 2));
    }
    let system = load(&(text + "init c20000\nproperty p = G c20000\n"));
    assert_eq!(system.init_box, (vec![0.0], vec![0.5]));
}
