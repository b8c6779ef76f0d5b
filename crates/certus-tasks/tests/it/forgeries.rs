//! No forged certificate is accepted for something false.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::forge::{Ground, Parts, Tally, campaign, digest, judge, pipe};
use certus_tasks::audit::{Audit, Judgement, audit};

fn audited(certificate: &Path) -> Judgement {
    let task = Audit { certificate: certificate.to_owned(), ..Audit::default() };
    let (judgement, _) =
        audit(&task, &Arc::new(AtomicBool::new(false)), |_| {}).unwrap_or_else(|failure| panic!("{failure}"));
    judgement.unwrap()
}

#[test]
fn honest_certificates_are_accepted_and_forged_ones_only_if_they_are_true() {
    let ground = Ground::new("some");
    let mut honest = Tally::default();
    for own in &ground.honest {
        let before = honest.accepted;
        judge(&ground, &own.text, &mut honest);
        assert_eq!(honest.accepted, before + 1, "{}", own.name);
    }
    assert!(honest.wrong.is_empty(), "{:?}", honest.wrong);
    let tally = campaign(&ground, 600, 0x5eed_0f0f_1234_5677);
    assert!(tally.wrong.is_empty(), "{} wrong; the first:\n{}", tally.wrong.len(), tally.wrong[0]);
    // The campaign is worth something: it claims much that is false, and some of what it changes stays true.
    assert!(tally.of_false_claims > 150 && tally.accepted > 10, "{tally:?}");
}

/// Seam 14: a path that serves one file to the digest and another to the proof.
#[cfg(unix)]
#[test]
fn a_path_that_leads_to_two_files_proves_nothing_of_the_other() {
    let ground = Ground::new("pipes");
    let own = ground.honest.iter().find(|own| own.name.starts_with("small of decay")).unwrap();
    let bytes = |name: &str| std::fs::read(ground.path(name)).unwrap();
    let about = |path: &Path, digest: String| {
        let mut parts = Parts::of(&own.text);
        parts.header["system"] = serde_json::json!({"path": path.display().to_string(), "sha256": digest});
        let certificate = ground.path("swapped.certificate");
        std::fs::write(&certificate, parts.text()).unwrap();
        certificate
    };
    // One pipe that first serves what the digest names and then what the trees prove.
    let two_faced = ground.path("two_faced.certus");
    pipe(&two_faced, vec![bytes("growth.certus"), bytes("decay.certus")]);
    let judgement = audited(&about(&two_faced, digest(&ground.path("growth.certus"))));
    assert!(matches!(judgement, Judgement::Rejected { .. }));
    // And one that serves them the other way round.
    let turned = ground.path("turned.certus");
    pipe(&turned, vec![bytes("decay.certus"), bytes("growth.certus")]);
    let judgement = audited(&about(&turned, digest(&ground.path("growth.certus"))));
    assert!(matches!(judgement, Judgement::Rejected { .. }));
    // And one that serves what the digest names, once.
    let honest = ground.path("honest.certus");
    pipe(&honest, vec![bytes("decay.certus"), bytes("growth.certus")]);
    let judgement = audited(&about(&honest, digest(&ground.path("decay.certus"))));
    assert!(matches!(judgement, Judgement::Accepted(_)));
    // A link that leads to another file than it did.
    let link = ground.path("link.certus");
    std::os::unix::fs::symlink(ground.path("decay.certus"), &link).unwrap();
    let certificate = about(&link, digest(&link));
    assert!(matches!(audited(&certificate), Judgement::Accepted(_)));
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(ground.path("growth.certus"), &link).unwrap();
    assert!(matches!(audited(&certificate), Judgement::Rejected { .. }));
}

#[test]
fn settings_and_assumptions_are_said_first() {
    let ground = Ground::new("said");
    let claim = |name: &str| {
        let own = ground.honest.iter().find(|own| own.name.starts_with(name)).unwrap();
        let path = ground.path("said.certificate");
        std::fs::write(&path, &own.text).unwrap();
        match audited(&path) {
            Judgement::Accepted(own) => own,
            _ => panic!("{name} was not accepted"),
        }
    };
    let own = claim("tiny of decay.certus by Words { proof: ForAllTime");
    assert_eq!(own.claim, "that tiny holds for all time, with gust = 0 in place of the file's 1");
    assert!(own.particulars.contains(&("property", "tiny: G abs(x) <= 0.15".to_owned())), "{:?}", own.particulars);
    let own = claim("stays of leaves");
    assert!(own.claim.ends_with("that no run meets a model error before is assumed, not proved"), "{}", own.claim);
    // Its own last step is what a bounded property reaches.
    assert_eq!(claim("soon of clock").claim, "that soon holds up to step 4");
}
