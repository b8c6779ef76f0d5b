use certus_audit::shield::*;
use certus_lang::{LowerOptions, Open, load_file};
use certus_shield::{barrier, linear, plant::*, polynomial::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let name = &a[1];
    let prop = a.get(2).cloned().unwrap_or_default();
    let degree: usize = a.get(3).map_or(2, |d| d.parse().unwrap());
    let rho: f64 = a.get(4).map_or(1.0, |d| d.parse().unwrap());
    let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
    let system = load_file(format!("zoo/{name}/{name}.certus"), &options).unwrap();
    let property = system.properties.iter().find(|p| p.name == prop).unwrap_or(&system.properties[0]);
    let model = read_model(&system, property, &[]).unwrap();
    // bound domain by single-variable property pieces
    let mut dom: Vec<Range> = model.domain.clone();
    for p in &model.unsafe_pieces { if p.constraints.len()==1 && !p.bounds_domain { let q=Poly::of(&p.constraints[0].polynomial); let s=q.slopes(); let nz: Vec<usize>=(0..s.len()).filter(|&i| s[i]!=0.0).collect(); if nz.len()==1 && q.degree()==1 { let i=nz[0]; let v=-q.coefficient(&vec![0;s.len()])/s[i]; if s[i]>0.0 {dom[i].upper=rational(v)} else {dom[i].lower=rational(v)} } } }
    if let Some(d)=a.get(5) { for kv in d.split(',') { let (i,v)=kv.split_once('=').unwrap(); let v:f64=v.parse().unwrap(); let i:usize=i.parse().unwrap(); dom[i]=Range{lower:rational(-v),upper:rational(v)}; } }
    let model = read_model(&system, property, &dom).unwrap();
    let plant = Plant::new(model);
    let n=plant.states();
    let (aa,bb)=plant.linearised(&vec![0.0;n], &vec![0.0;plant.actions()]);
    let q: Vec<f64>=plant.domain.iter().map(|d| 1.0/d.1.abs().min(1e3).powi(2)).collect();
    let r: Vec<f64>=plant.limits.iter().map(|d| rho/d.1.abs().min(1e3).powi(2)).collect();
    let k=linear::regulator(&aa,&bb,&q,&r).unwrap();
    println!("K {k:?}");
    let policy: Policy = readable(&k.iter().map(|row| { let mut p=Poly::zero(n); for (i,c) in row.iter().enumerate(){ let mut m=vec![0;n]; m[i]=1; p.add(m,*c);} p}).collect());
    let closed=linear::plus(&aa,&linear::multiply(&bb,&k),1.0);
    let rad=linear::spectral_radius(&closed);
    println!("radius {rad}  domain {:?}", plant.domain);
    for share in [0.5,0.9] {
    let lambda=rad*rad+(1.0-rad*rad)*share;
    let t=std::time::Instant::now();
    let found=barrier::search(&plant,&policy,&plant.init,barrier::Kind{degree,contraction:lambda,inside:1e-5},None);
    println!("lambda {lambda} sdp {:?}", t.elapsed());
    let Some(found)=found else {println!("nothing"); continue};
    println!("mean {}", found.mean);
    let shield=Shield{path:String::new(),digest:String::new(),property:property.name.clone(),settings:vec![],domain:dom.clone(),branches:vec![found.branch],cover:Cover::Inside{branch:0,identity:Some(found.start)}};
    let t=std::time::Instant::now();
    println!("{:?} {:?}", check(&plant.model,&shield,&mut ||{}), t.elapsed());
    }
}
