//! Tries things.
use certus_lang::{FileNetworks, LowerOptions, Networks, Open, load_file};
use certus_shield::synthesis::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let name = &a[1];
    let prop = a.get(2).cloned().unwrap_or_default();
    let degree = a.get(3).and_then(|d| d.parse().ok()).filter(|d| *d > 0);
    let form = match a.get(4).map(String::as_str) {
        Some("poly") => Form::Polynomial,
        Some("hedron") => Form::Polyhedron,
        _ => Form::Auto,
    };
    let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
    let system = load_file(format!("zoo/{name}/{name}.certus"), &options).unwrap();
    let property = system.properties.iter().find(|p| p.name == prop).unwrap_or(&system.properties[0]);
    let net = FileNetworks::new(format!("zoo/{name}")).load(&system.networks[0].path).unwrap();
    let t = std::time::Instant::now();
    let verbose = std::env::var("V").is_ok();
    let r = synthesise(
        &system,
        property,
        &net,
        &Options {
            degree,
            form,
            threads: 2,
            deadline: Some(t + std::time::Duration::from_secs(120)),
            ..Options::default()
        },
        &Default::default(),
        &|s| {
            if verbose {
                eprintln!("{:.2?} {s}", t.elapsed())
            }
        },
    );
    match r {
        Ok(s) => {
            println!(
                "{name}: OK {:?} boxes {} {:?} {:?}",
                t.elapsed(),
                s.accepted.boxes,
                s.accepted.branches,
                s.origins
            );
            if verbose {
                println!(
                    "{:?}\n{}",
                    s.shield
                        .domain
                        .iter()
                        .map(|r| (
                            r.lower.as_ref().map(certus_audit::shield::rounded),
                            r.upper.as_ref().map(certus_audit::shield::rounded)
                        ))
                        .collect::<Vec<_>>(),
                    program_text(&s.shield, &s.states, "a")
                );
            }
        }
        Err(e) => println!("{name}: {e:?} {:?}", t.elapsed()),
    }
}
