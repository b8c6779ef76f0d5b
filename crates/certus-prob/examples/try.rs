use std::time::Instant;
use certus_prob::abstraction::*; use certus_prob::domain::*; use certus_prob::engine::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let overrides = if args.len() > 7 && args[7] != "-" { args[7].split(',').map(|s| { let (a,b)=s.split_once('=').unwrap(); (a.to_string(), b.parse().unwrap())}).collect() } else { vec![] };
    let system = certus_lang::load_file(&args[1], &certus_lang::LowerOptions { overrides, ..Default::default() }).unwrap();
    let certus_lang::system::PropertyKind::Probability { path, .. } = &system.property("worst").unwrap().kind else { panic!() };
    let task = Task::of(&system, path, args.get(8).map(|k| k.parse().unwrap())).unwrap();
    let n = system.state_len();
    let template = match args[2].as_str() { "box" => Template::boxes(n), "oct" => Template::octagons(n), _ => Template::with(n, "own", &[vec![1.0/4.5, 1.0], vec![1.0/4.5, -1.0]]) };
    let start = Instant::now();
    let abstraction = Abstraction::new(&system, &task, template).unwrap();
    println!("modes {} in {:?}", abstraction.modes(), start.elapsed());
    let phi: f64 = args[3].parse().unwrap();
    let refining = Refining { spread: phi, shortest: args[4].parse().unwrap(), samples: 40, seed: 1 };
    let s0 = Polyhedron::of_box(abstraction.template(), &system.init_box.0, &system.init_box.1);
    let budget = Budget { threads: 2, ..Default::default() };
    let options = unfold::Unfolding { steps: task.steps, refining: Some(refining), containment: args[5] == "yes", most_regions: 2_000_000 };
    if args[6] != "x" {
        let start = Instant::now();
        let refining = if phi < 1.0 { Some(refining) } else { None };
        let options = unfold::Unfolding { refining, containment: args[5] == "yes", ..options };
        let budget = Budget { threads: 2, deadline: Some(Instant::now() + std::time::Duration::from_secs_f64(args[6].parse().unwrap())), ..Default::default() };
        let mut n = 0;
        if args[5] == "part" {
            let f = partition::partition(&abstraction, &s0, &|_| true, task.steps, &search::Aim::default(), &budget, &mut |s| { n += 1; if n % 20 == 1 { println!("{:?} {s:?}", start.elapsed()) } });
            println!("{:?} {:?} {:?} {}", start.elapsed(), f.standing, f.start, f.reached.len());
            return;
        }
        let mut n = 0;
        let f = search::search(&abstraction, &s0, &|_| true, &options, &search::Aim::default(), &budget, &mut |s| { n += 1; if n % 10 == 1 { println!("{:?} {s:?}", start.elapsed()) } });
        println!("{:?} {:?} {:?}", start.elapsed(), f.standing, f.start);
        let mut w: Vec<_> = f.cells.iter().collect(); w.sort_by(|a, b| b.upper.total_cmp(&a.upper));
        for c in w.iter().take(4) { println!("{:?} {}", c.region.bounds(), c.upper); }
        return;
    }
    let start = Instant::now();
    let u = unfold::unfold(&abstraction, &[s0.clone()], &options, &budget, &mut |d, n| if d % 5 == 0 { println!("{d} {n}") }).unwrap();
    println!("{:?} regions {} contained {} size {} upper {:?} left {} complete {}", start.elapsed(), u.regions.len(), u.contained, u.model.choice_count(), u.upper, u.left_range, u.complete);
    let start = Instant::now();
    let w = concrete::worst_start(&abstraction, &s0, &|_| true, task.steps, 1, &|| false).unwrap();
    println!("worst {w:?} {:?} {:?}", concrete::exact(&abstraction, &w.0, task.steps, 1e-13, &|| false), start.elapsed());
}
