//! Forges certificates, and says how many the audit accepted: `cargo run -p certus-tasks --example forge -- 10000 [SEED]`.

#[path = "../tests/it/forge/mod.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod forge;

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1).map(|own| own.parse::<u64>());
    let (Some(Ok(count)), seed) = (arguments.next(), arguments.next().transpose()) else {
        eprintln!("how many?");
        return std::process::ExitCode::from(2);
    };
    let seed = seed.ok().flatten().unwrap_or(1);
    let ground = forge::Ground::new("campaign");
    let tally = forge::campaign(&ground, count as usize, 0x9e37_79b9_7f4a_7c15 ^ seed);
    println!(
        "{} forgeries, {} of them of false claims; {} accepted, {} of these with model errors assumed; {} accepted for something false",
        tally.forged,
        tally.of_false_claims,
        tally.accepted,
        tally.assumed,
        tally.wrong.len()
    );
    tally.wrong.iter().for_each(|text| println!("{text}"));
    std::process::ExitCode::from(u8::from(!tally.wrong.is_empty()))
}
