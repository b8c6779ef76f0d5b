//! Feed-forward networks in NNet files, evaluated in exact rationals.
//!
//! The format of the ACAS Xu networks (K. Julian, Stanford, 2016), read by code of its own: comment lines, then
//! comma-separated the numbers of layers, inputs and outputs, the layer sizes, a flag, minima and maxima of the inputs
//! (which clip nothing), means and ranges of inputs and outputs, and per layer the rows of weights and the biases. Every
//! layer but the last is followed by a rectified linear unit. A weight is the double nearest to what is written.

use crate::real::{Rational, Real, rational};

/// Sizes beyond this belong to no network that is interpreted.
const LARGEST: usize = 1 << 12;

/// A network.
#[derive(Clone, Debug)]
pub struct Network {
    inputs: usize,
    /// Mean and range of each input.
    input_scales: Vec<(Rational, Rational)>,
    /// Mean and range of the outputs.
    output_scale: (Rational, Rational),
    /// Rows of weights, each with its bias.
    layers: Vec<Vec<(Vec<Rational>, Rational)>>,
}

impl Network {
    /// Reads a file's text.
    pub fn read(text: &str) -> Result<Network, String> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        let mut numbers = || -> Result<Vec<Rational>, String> {
            let line = lines.next().ok_or("the network's file ends too soon")?;
            let entries = line.split(',').map(str::trim).filter(|entry| !entry.is_empty());
            let number = |entry: &str| entry.parse::<f64>().ok().and_then(rational);
            entries.map(|entry| number(entry).ok_or_else(|| format!("{entry} is no number"))).collect()
        };
        let header = numbers()?;
        let sizes = numbers()?.iter().map(size).collect::<Option<Vec<usize>>>().ok_or("no layer sizes")?;
        let [inputs, .., outputs] = sizes.as_slice() else { return Err("no layers".to_owned()) };
        if header.len() < 3
            || [&header[0], &header[1], &header[2]].map(size) != [Some(sizes.len() - 1), Some(*inputs), Some(*outputs)]
        {
            return Err("the header does not fit the layer sizes".to_owned());
        }
        let (_flag, _minima, _maxima) = (numbers()?, numbers()?, numbers()?);
        let (means, ranges) = (numbers()?, numbers()?);
        if means.len() != inputs + 1 || ranges.len() != inputs + 1 || ranges[..*inputs].iter().any(Rational::is_zero) {
            return Err("no means and ranges".to_owned());
        }
        let mut layers = Vec::new();
        for pair in sizes.windows(2) {
            let rows = (0..pair[1]).map(|_| numbers()).collect::<Result<Vec<_>, _>>()?;
            let biases = (0..pair[1]).map(|_| numbers()).collect::<Result<Vec<_>, _>>()?;
            if rows.iter().any(|row| row.len() != pair[0]) || biases.iter().any(|bias| bias.len() != 1) {
                return Err("a row of weights has another length than its layer".to_owned());
            }
            layers.push(rows.into_iter().zip(biases.into_iter().flatten()).collect());
        }
        let scales: Vec<(Rational, Rational)> = means.into_iter().zip(ranges).collect();
        let (input_scales, output_scale) = (scales[..*inputs].to_vec(), scales[*inputs].clone());
        Ok(Network { inputs: *inputs, input_scales, output_scale, layers })
    }

    /// What the network gives; an error if it takes another number of inputs.
    pub fn apply(&self, inputs: &[Real]) -> Result<Vec<Real>, String> {
        if inputs.len() != self.inputs {
            return Err(format!("the network takes {} numbers, not {}", self.inputs, inputs.len()));
        }
        let exact = |value: &Rational| Real::Exact(value.clone());
        let mut values = Vec::with_capacity(inputs.len());
        for (input, (mean, range)) in inputs.iter().zip(&self.input_scales) {
            values.push(input.minus(&exact(mean)).over(&exact(range)).ok_or("an input has the range 0")?);
        }
        for (place, layer) in self.layers.iter().enumerate() {
            let row = |(weights, bias): &(Vec<Rational>, Rational)| {
                let terms = weights.iter().zip(&values).map(|(weight, value)| exact(weight).times(value));
                terms.fold(exact(bias), |sum, term| sum.plus(&term))
            };
            values = layer.iter().map(row).collect();
            if place + 1 < self.layers.len() {
                values = values.iter().map(|value| value.max(&Real::zero())).collect();
            }
        }
        let (mean, range) = &self.output_scale;
        Ok(values.iter().map(|value| value.times(&exact(range)).plus(&exact(mean))).collect())
    }
}

fn size(number: &Rational) -> Option<usize> {
    let size =
        usize::try_from(number.clone().try_into().ok().and_then(|whole: dashu_int::IBig| i64::try_from(whole).ok())?)
            .ok()?;
    Some(size).filter(|size| (1..=LARGEST).contains(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::whole;

    const SMALL: &str = "// a network by hand\n2,2,1,2,\n2,2,1,\n0,\n-1,-1,\n1,1,\n1.0,0.0,3.0,\n2.0,1.0,10.0,\n\
                         1.0,-1.0,\n0.5,2.0,\n0.25,\n-1.0,\n1.0,-2.0,\n0.125,\n";

    #[test]
    fn a_network_by_hand() {
        let network = Network::read(SMALL).unwrap();
        // Scaled to (1.5, 0.5); hidden values 1.25 and 0.75; 1.25 - 1.5 + 0.125 = -0.125 before the output's scale.
        let half = whole(1) / whole(2);
        let given = network.apply(&[Real::Exact(whole(4)), Real::Exact(half)]).unwrap();
        assert_eq!(given, [Real::Exact(whole(7) / whole(4))]);
        assert!(network.apply(&[Real::zero()]).is_err());
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for (from, to) in [("2,2,1,2", "3,2,1,2"), ("2,2,1,\n0", "2,0,1,\n0"), ("0.125,", ""), ("0.25", "x")] {
            assert!(Network::read(&SMALL.replacen(from, to, 1)).is_err(), "{from}");
        }
    }
}
