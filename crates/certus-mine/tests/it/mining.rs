//! Algorithm 1 on small worlds: what a specification promises of the rows it was mined from.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Folder, config, csv, references, table};
use certus_mine::bins::Partition;
use certus_mine::mining::{BinBox, mine};
use certus_mine::observations::Rows;
use certus_mine::outputs::OutputSet;
use certus_mine::quality::{allowed, measure};
use certus_mine::refine::refine;
use certus_mine::regions::{Regions, collect, ranges};
use certus_mine::search::search;
use proptest::prelude::*;

fn regions() -> Regions {
    let config = config();
    let mut rows = references();
    let found = ranges(&config.layout, &mut rows, 0.0).unwrap();
    collect(&config.layout, &mut rows, Partition::new(20, found).unwrap()).unwrap()
}

/// Algorithm 1 once more, by its text: every set, plain DBSCAN over points in a list.
fn by_the_book(regions: &Regions, representation: f64, labels: usize, most: usize) -> Vec<BinBox> {
    let dimensions = regions.dimensions();
    let mut interesting: Vec<(Vec<u16>, OutputSet)> = Vec::new();
    for bin in 0..regions.len() {
        let rows = |reference: usize| regions.counts(bin, reference).iter().sum::<u64>() as f64;
        let bins = (regions.partition.parts as f64).powi(dimensions as i32);
        let important = |reference: usize| rows(reference) >= (regions.rows(reference) as f64 / bins).max(1.0);
        if (0..regions.references()).all(important) {
            let union = (0..regions.references()).map(|r| regions.decided(bin, r)).reduce(OutputSet::union).unwrap();
            if union.len() < labels {
                interesting.push((regions.bin(bin).to_vec(), union));
            }
        }
    }
    let least = (representation * interesting.len() as f64).max(10.0).floor() as usize;
    let radius = (((least as f64).powf(1.0 / dimensions as f64) - 1.0) / 2.0).ceil() as u16;
    let near = |a: &[u16], b: &[u16]| a.iter().zip(b).all(|(x, y)| x.abs_diff(*y) <= radius);
    let mut merged: BTreeMap<(Vec<u16>, Vec<u16>), OutputSet> = BTreeMap::new();
    for omega in 1u64..(1 << labels) - 1 {
        let omega = OutputSet(omega);
        if omega.len() > most {
            continue;
        }
        let points: Vec<&(Vec<u16>, OutputSet)> = interesting.iter().filter(|(_, own)| own.is_within(omega)).collect();
        let around =
            |p: usize| -> Vec<usize> { (0..points.len()).filter(|&q| near(&points[p].0, &points[q].0)).collect() };
        let mut done: BTreeSet<usize> = BTreeSet::new();
        for start in 0..points.len() {
            if done.contains(&start) || around(start).len() < least {
                continue;
            }
            let mut cluster = BTreeSet::new();
            let mut stack = vec![start];
            while let Some(point) = stack.pop() {
                if done.contains(&point) || !cluster.insert(point) {
                    continue;
                }
                if around(point).len() >= least {
                    stack.extend(around(point));
                }
            }
            done.extend(&cluster);
            let bound = |pick: fn(u16, u16) -> u16| -> Vec<u16> {
                (0..dimensions).map(|d| cluster.iter().map(|&p| points[p].0[d]).reduce(pick).unwrap()).collect()
            };
            let union = cluster.iter().map(|&p| points[p].1).reduce(OutputSet::union).unwrap();
            let known = merged.entry((bound(u16::min), bound(u16::max))).or_default();
            *known = known.union(union);
        }
    }
    let boxes = merged.into_iter().map(|((first, last), allowed)| BinBox { first, last, allowed });
    boxes.filter(|own| own.allowed.len() <= most).collect()
}

#[test]
fn boxes_are_those_of_the_text() {
    let config = config();
    let regions = regions();
    let mined = mine(&regions, &config.settings, 3, 2).unwrap();
    assert!(mined.boxes.len() > 2, "{:?}", mined.boxes);
    assert_eq!(mined.boxes, by_the_book(&regions, 0.01, 3, 2));
    assert_eq!(mined, mine(&regions, &config.settings, 3, 1).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn boxes_are_those_of_the_text_for_any_rows(
        rows in prop::collection::vec((0u8..12, 0u8..12, 0usize..3), 100..400), most in 1usize..3, part in 1usize..4
    ) {
        let mut config = config();
        config.settings.most_outputs = most;
        let layout = &config.layout;
        let split = rows.len() * part / 5;
        let of = |name: &str, rows: &[(u8, u8, usize)]| {
            // Neighbouring bins decide alike more often than not, or nothing would be dense.
            let row = |&(x, y, label): &(u8, u8, usize)| {
                let label = if x < 8 { usize::from(x > 4) } else { label };
                (vec![f64::from(x), f64::from(y), 0.0], label)
            };
            Rows::of(name, rows.iter().map(row))
        };
        let mut references = vec![of("a", &rows[..split]), of("b", &rows[split..])];
        let partition = Partition::new(12, vec![(0.0, 12.0), (0.0, 12.0)]).unwrap();
        let regions = collect(layout, &mut references, partition).unwrap();
        let mined = mine(&regions, &config.settings, 3, 2).unwrap();
        prop_assert_eq!(mined.boxes, by_the_book(&regions, 0.01, 3, most));
    }
}

#[test]
fn specifications_fit_what_they_were_mined_from() {
    let config = config();
    let regions = regions();
    let mined = mine(&regions, &config.settings, 3, 2).unwrap();
    let specifications = mined.specifications(&regions, &config.layout, &config.settings);
    let mut rows = references();
    for rows in &mut rows {
        let (quality, alone) = measure(&specifications, &config.layout, rows).unwrap();
        assert!(quality.support() > 0.5, "{quality:?}");
        // A row counts as obeying only if every box around it allows it, so each box alone does no worse.
        assert!(alone.iter().all(|own| own.covered <= quality.covered));
        let mut covered = 0;
        rows.each(&config.layout, &mut |values, label| {
            let all = allowed(&specifications, values);
            covered += u64::from(all.is_some());
            if let Some(all) = all.filter(|_| specifications.iter().filter(|own| own.applies(values)).count() == 1) {
                assert!(!all.is_empty() && label < 3);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(covered, quality.covered);
    }
    assert!(mined.coverage > 0.5 && mined.representation.iter().all(|share| *share <= mined.coverage));
}

#[test]
fn refining_keeps_support_and_raises_confidence() {
    let mut config = config();
    config.settings.most_outputs = 2;
    let regions = regions();
    let before = mine(&regions, &config.settings, 3, 2).unwrap();
    let mut after = before.clone();
    let (redundant, merged) = refine(&mut after, &regions, 2);
    assert_eq!(after.boxes.len() + redundant + merged, before.boxes.len());
    let total = |boxes: &certus_mine::mining::Mined| {
        let specifications = boxes.specifications(&regions, &config.layout, &config.settings);
        let mut rows = references();
        let qualities: Vec<_> =
            rows.iter_mut().map(|rows| measure(&specifications, &config.layout, rows).unwrap().0).collect();
        let sum = |of: fn(&certus_mine::quality::Quality) -> u64| qualities.iter().map(of).sum::<u64>();
        (sum(|own| own.covered), sum(|own| own.obeyed))
    };
    let ((covered, obeyed), (more, better)) = (total(&before), total(&after));
    assert!(more >= covered, "{more} {covered}");
    assert!(better as f64 / more as f64 >= obeyed as f64 / covered as f64, "{better}/{more} {obeyed}/{covered}");
}

#[test]
fn tables_are_the_same_kept_or_streamed() {
    let config = config();
    let folder = Folder::new("streamed");
    let path = folder.write("careful.csv", &csv(&table(false, 500)));
    let mut kept = Rows::read_keeping("careful", std::slice::from_ref(&path), &config.layout, true).unwrap();
    let mut streamed = Rows::read_keeping("careful", &[path], &config.layout, false).unwrap();
    let all = |rows: &mut Rows| {
        let mut seen = Vec::new();
        rows.each(&config.layout, &mut |values, label| {
            seen.push((values.to_vec(), label));
            Ok(())
        })
        .unwrap();
        seen
    };
    let (first, second) = (all(&mut kept), all(&mut streamed));
    assert_eq!(first, table(false, 500));
    assert_eq!(first, second);
    assert_eq!(kept.tally, streamed.tally);
    assert_eq!(kept.tally.used, 500);
}

#[test]
fn what_cannot_be_used_is_counted() {
    let mut config = config();
    config.layout.columns[0].valid = Some((0.0, 1.0));
    let folder = Folder::new("faults");
    let text = "time_2,speed,buffer,time_1\n\
        1,low,0.5,1\n1,low,,1\n1,low,x,1\n1,low,1.5,1\n1,low,nan,1\n,what,2,inf\n1,,0.5,1\n1,high,1,1\n";
    let path = folder.write("faults.csv", text);
    let rows = Rows::read("faults", &[path], &config.layout).unwrap();
    assert_eq!((rows.tally.rows, rows.tally.used), (8, 2));
    let faults: Vec<[u64; 3]> =
        rows.tally.faults.iter().map(|own| [own.missing, own.not_a_number, own.out_of_range]).collect();
    // Buffer, the newest time, the time before, the label.
    assert_eq!(faults, [[1, 2, 2], [0, 1, 0], [1, 0, 0], [1, 1, 0]]);
}

#[test]
fn a_search_orders_settings_by_what_was_held_out() {
    let mut config = config();
    config.search = Some(certus_mine::config::Choices {
        history: vec![1, 2],
        parts: vec![5, 20],
        most_outputs: vec![1, 2],
        ..Default::default()
    });
    let rows = references();
    let choices = config.search.clone().unwrap();
    let trials = search(&config.layout, &rows, &[], &config.settings, &choices, 2, &|| false).unwrap();
    assert_eq!(trials.len(), 8);
    assert!(trials.is_sorted_by(|a, b| a.score() >= b.score()));
    for trial in &trials {
        // One block of 200 in five is held out.
        assert_eq!((trial.train[0].rows, trial.held_out[0].rows), (3200, 800));
    }
    let stopped = search(&config.layout, &rows, &[], &config.settings, &choices, 2, &|| true).unwrap();
    assert!(stopped.is_empty());
}

#[test]
fn quantiles_leave_the_outermost_values_out() {
    let config = config();
    let rows = (0..1000).map(|i| (vec![f64::from(i), 1.0, 0.0], 0));
    let mut rows = vec![Rows::of("a", rows)];
    assert_eq!(ranges(&config.layout, &mut rows, 0.0).unwrap()[0], (0.0, 999.0));
    assert_eq!(ranges(&config.layout, &mut rows, 0.1).unwrap()[0], (99.0, 900.0));
    let mut none: Vec<Rows> = vec![Rows::of("a", [])];
    assert!(ranges(&config.layout, &mut none, 0.0).unwrap_err().to_string().contains("no usable row"));
}
