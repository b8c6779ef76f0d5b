    /// A branch whose invariant contains a state and, if one is found, as large a box around it as possible. With the
    /// identity for the whole of the initial states if that is the box and the invariant is a polynomial.
    fn branch(&mut self, point: &[f64], first: bool) -> Option<(Branch, &'static str, Option<Identity>)> {
        let init = self.plant.init.clone();
        let mut share = 1.0;
        let rounds = if init.len() <= MOST_CUT { 14 } else { 1 };
        for round in 0..rounds {
            let region: Vec<(f64, f64)> =
                init.iter()
                    .zip(point)
                    .map(|(&(a, b), x)| {
                        if share >= 1.0 { (a, b) } else { ((x - share * (b - a)).max(a), (x + share * (b - a)).min(b)) }
                    })
                    .collect();
            // Random search pays where fitting alone did not, and is not repeated for every box.
            let programs: Vec<(&'static str, Policy)> = self
                .programs(&region, round == 0 || round == 6)
                .into_iter()
                .filter(|(_, policy)| {
                    Simulator::new(&self.plant).survives(policy, &region, TRIAL_STEPS, self.options.seed).good
                })
                .collect();
            // What is cheap to try is tried with every program first.
            for stage in self.stages() {
                for (origin, policy) in &programs {
                    if self.stopped() {
                        return None;
                    }
                    self.tried += 1;
                    let box_share = 100.0 * share;
                    (self.progress)(format!("attempt {} ({origin}, {stage:?}), box {box_share:.0} %", self.tried));
                    if let Some((branch, identity)) = self.verify(policy, &region, stage) {
                        return Some((branch, origin, identity.filter(|_| first && round == 0)));
                    }
                }
            }
            share *= if round == 0 { 0.45 } else { 0.7 };
        }
        None
    }

    /// Programs worth trying for a box.
    fn programs(&self, region: &[(f64, f64)], search: bool) -> Vec<(&'static str, Policy)> {
        let mut all = Vec::new();
        let fit = fitted(&self.sketch, &self.points, &self.actions);
        all.extend(fit.clone().map(|policy| ("fitted to the network", readable(&policy))));
        if search {
            let zero: Policy = vec![Poly::zero(self.plant.states()); self.plant.actions()];
            let start = fit.unwrap_or(zero);
            let search = Search {
                rounds: 60,
                directions: 4,
                steps: 160,
                seed: self.options.seed,
                threads: self.options.threads.max(1),
            };
            let good = Simulator::new(&self.plant).survives(&start, region, TRIAL_STEPS, self.options.seed).good;
            if !good {
                (self.progress)("random search".to_owned());
                let found = random_search(&self.plant, &self.network, &self.sketch, &start, region, search, self.stop);
                all.push(("random search", readable(&found)));
            }
        }
        let middle: Vec<f64> = region.iter().map(|(a, b)| 0.5 * (a + b)).collect();
        let mut rests: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for near in [vec![0.0; middle.len()], middle] {
            rests.extend(equilibrium(&self.plant, &near).filter(|rest| !rests.contains(rest)));
        }
        for rest in &rests {
            all.extend(regulators(&self.plant, rest).into_iter().map(|p| ("regulator", readable(&p))));
        }
        all
    }

    /// What is tried for every program, in this order.
    fn stages(&self) -> Vec<Stage> {
        let form = self.options.form;
        // The effort grows with the fourth power of the number of variables and more: asked for, it is made.
        let small = self.plant.states() + self.plant.choices.len() <= MOST_CUT;
        let mut stages = Vec::new();
        if form != Form::Polynomial && self.plant.is_linear() {
            stages.push(Stage::Polyhedron(FEW_HALFSPACES));
        }
        if form != Form::Polyhedron {
            stages.push(Stage::Polynomial(self.options.degree.unwrap_or(2)));
        }
        if form != Form::Polynomial && self.plant.is_linear() && self.plant.states() <= 2 * MOST_CUT {
            stages.push(Stage::Polyhedron(MANY_HALFSPACES));
        }
        if form != Form::Polyhedron && self.options.degree.is_none() && small {
            stages.push(Stage::Polynomial(4));
        }
        stages
    }

    /// An invariant for a program that contains a box, accepted by the audit.
    fn verify(&self, policy: &Policy, region: &[(f64, f64)], stage: Stage) -> Option<(Branch, Option<Identity>)> {
        let degree = match stage {
            Stage::Polyhedron(most) => return self.polyhedron(policy, region, most).map(|branch| (branch, None)),
            Stage::Polynomial(degree) => degree,
        };
        for contraction in self.contractions(policy) {
            if self.stopped() {
                return None;
            }
            let found = self.barrier(policy, region, Kind { degree, contraction, inside: 1e-5 });
            if let Some(found) = found
                && self.accepted(&found.branch, Some(&found.start), region)
            {
                return Some((found.branch, Some(found.start)));
            }
        }
        None
    }

    /// A polynomial invariant; for many states, an ellipsoid first and its proof then.
    fn barrier(&self, policy: &Policy, region: &[(f64, f64)], kind: Kind) -> Option<Found> {
        let deadline = self.options.deadline;
        if self.plant.states() > MOST_CUT && kind.degree == 2 {
            let barrier = ellipsoid::search(&self.plant, policy, region, kind.contraction, deadline)?;
            // The proof may use a little more than the ellipsoid was made with.
            let slack = kind.contraction + 0.2 * (1.0 - kind.contraction);
            let kind = Kind { contraction: short_power(slack), inside: 1e-9, ..kind };
            return barrier::certify(&self.plant, policy, region, kind, &barrier, deadline);
        }
        barrier::search(&self.plant, policy, region, kind, deadline)
    }

    fn polyhedron(&self, policy: &Policy, region: &[(f64, f64)], most: usize) -> Option<Branch> {
        for strict_from in [1, 2] {
            let options = polyhedron::Options { strictness: 1e-6, strict_from, most };
            let branch = polyhedron::search(&self.plant, policy, options, self.options.deadline);
            if let Some(branch) = branch
                && self.accepted(&branch, None, region)
            {
                return Some(branch);
            }
        }
        None
    }

    /// Numbers λ worth trying: between what the linearisation contracts by, and one.
    fn contractions(&self, policy: &Policy) -> Vec<f64> {
        let states = self.plant.states();
        let rest = vec![0.0; states];
        let actions: Vec<f64> = policy.iter().map(|p| p.value(&rest)).collect();
        let (a, b) = self.plant.linearised(&rest, &actions);
        let closed: Vec<Vec<f64>> = (0..states)
            .map(|i| {
                (0..states)
                    .map(|j| {
                        let through: f64 = b[i].iter().zip(policy).map(|(b, p)| b * p.derivative(j).value(&rest)).sum();
                        a[i][j] + through
                    })
                    .collect()
            })
            .collect();
        let radius = spectral_radius(&closed).powi(2).min(0.99999);
        [0.5, 0.9, 0.2].iter().map(|share| short_power(radius + (1.0 - radius) * share)).collect()
    }

    /// Whether the audit accepts a branch for a box.
    fn accepted(&self, branch: &Branch, identity: Option<&Identity>, region: &[(f64, f64)]) -> bool {
        let mut model = self.plant.model.clone();
        let exact = region.iter().map(|&(a, b)| Some((rational(a)?, rational(b)?))).collect::<Option<Vec<_>>>();
        let Some(exact) = exact else { return false };
        model.init = exact;
        let cover = Cover::Inside { branch: 0, identity: identity.cloned() };
        let shield = Shield {
            path: String::new(),
            digest: String::new(),
            property: String::new(),
            settings: Vec::new(),
            domain: self.domain.clone(),
            branches: vec![branch.clone()],
            cover,
        };
        check(&model, &shield, &mut || {}).is_ok()
    }
}

/// A number of at most 24 binary digits after the point: it enters products of exact numbers.
fn short_power(value: f64) -> f64 {
    (value * 16_777_216.0).round() / 16_777_216.0
}

