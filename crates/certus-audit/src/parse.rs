//! The text of a certificate: its header and its records.
//!
//! One record stands on each line; blank lines and lines that begin with `#` are skipped. Nothing here knows what
//! the numbers mean, only that they are finite and in their place.

use std::io::{BufRead, Read};

use crate::error::{Reason, Rejection};
use crate::relaxation::Alpha;

/// No honest record is as long as this many bytes.
const LONGEST_LINE: u64 = 1 << 26;

/// A file that a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The SHA-256 digest of its bytes, in hexadecimal.
    pub digest: String,
    /// Its path, as it was given.
    pub path: String,
}

/// What a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// A network and a specification.
    Verification {
        /// The network.
        network: File,
        /// The specification.
        specification: File,
    },
    /// A query in a file of its own.
    Query(File),
    /// A property of a system, described by whoever wrote the certificate; the questions to refute follow from that.
    Proof(String),
}

/// A certificate of which the header has been read.
#[derive(Debug)]
pub struct Certificate<R> {
    reader: R,
    line: u64,
}

/// Reads the header; what follows is left for [`check`](crate::check).
pub fn read_header<R: BufRead>(reader: R) -> Result<(Header, Certificate<R>), Rejection> {
    let mut certificate = Certificate { reader, line: 0 };
    let first = certificate.next_line()?;
    if first.as_deref() != Some("certus-certificate 1") {
        return Err(certificate.fault(Reason::NotACertificate));
    }
    let line = certificate.next_line()?.ok_or_else(|| certificate.fault(Reason::EndsEarly))?;
    if let Some(proof) = line.strip_prefix("proof ") {
        return Ok((Header::Proof(proof.to_owned()), certificate));
    }
    let (keyword, file) = certificate.file(&line)?;
    let header = match keyword.as_str() {
        "query" => Header::Query(file),
        "network" => {
            let line = certificate.next_line()?.ok_or_else(|| certificate.fault(Reason::EndsEarly))?;
            match certificate.file(&line)? {
                (keyword, specification) if keyword == "specification" => {
                    Header::Verification { network: file, specification }
                }
                _ => return Err(certificate.fault(Reason::Malformed("'specification' was expected"))),
            }
        }
        _ => return Err(certificate.fault(Reason::Malformed("'network', 'query' or 'proof' was expected"))),
    };
    Ok((header, certificate))
}

impl<R: BufRead> Certificate<R> {
    /// A fault in the line that was read last.
    pub(crate) fn fault(&self, reason: Reason) -> Rejection {
        reason.at(self.line)
    }

    /// The next line that is neither blank nor a comment, without blanks around it.
    fn next_line(&mut self) -> Result<Option<String>, Rejection> {
        loop {
            let mut bytes = Vec::new();
            self.line += 1;
            let read = self.reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| self.fault(Reason::Unreadable(error.to_string())))?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == LONGEST_LINE {
                return Err(self.fault(Reason::Malformed("the line is too long")));
            }
            let text = str::from_utf8(&bytes).map_err(|_| self.fault(Reason::Malformed("this is not UTF-8")))?;
            let text = text.trim_ascii();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some(text.to_owned()));
            }
        }
    }

    /// A line of the header: what kind of file, its digest and its path.
    fn file(&self, line: &str) -> Result<(String, File), Rejection> {
        let mut words = line.splitn(3, ' ');
        let (keyword, digest, path) = (words.next(), words.next(), words.next());
        let (Some(keyword), Some(digest), Some(path)) = (keyword, digest, path) else {
            return Err(self.fault(Reason::Malformed("a file needs a digest and a path")));
        };
        if digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.fault(Reason::Malformed("a digest has 64 hexadecimal digits")));
        }
        Ok((keyword.to_owned(), File { digest: digest.to_ascii_lowercase(), path: path.to_owned() }))
    }

    /// The next record; there must be one.
    pub(crate) fn record(&mut self) -> Result<Record, Rejection> {
        let line = self.next_line()?.ok_or_else(|| self.fault(Reason::EndsEarly))?;
        record(&line).map_err(|reason| self.fault(reason))
    }

    /// Checks that nothing follows.
    pub(crate) fn finish(&mut self) -> Result<(), Rejection> {
        match self.next_line()? {
            None => Ok(()),
            Some(_) => Err(self.fault(Reason::TrailingRecord)),
        }
    }
}

/// One line of the proof.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Case(usize),
    End,
    /// Ranges are computed afresh.
    Bound,
    /// Ranges are computed afresh and refined; `keep`: all subproblems of this one have them too.
    Refine {
        keep: bool,
    },
    Clip(Combination, Vec<Claim>),
    SplitInput {
        input: usize,
        at: f64,
    },
    SplitNode {
        place: Place,
        at: f64,
    },
    Either(usize),
    Close(Combination),
    Empty,
}

/// An element of a node of the lowered graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) node: usize,
    pub(crate) element: usize,
}

/// A sum of required atoms and of sides of splits, with the lines to bound it with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Combination {
    pub(crate) atoms: Vec<(usize, f64)>,
    pub(crate) ranges: Vec<(Place, f64)>,
    pub(crate) alphas: Vec<(Place, Alpha)>,
}

/// A new bound of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Claim {
    pub(crate) input: usize,
    pub(crate) is_upper: bool,
    pub(crate) bound: f64,
}

fn record(line: &str) -> Result<Record, Reason> {
    let mut words = line.split_ascii_whitespace();
    let record = match words.next() {
        Some("case") => Record::Case(natural(words.next())?),
        Some("end") => Record::End,
        Some("bound") => Record::Bound,
        Some("refine") => match words.next() {
            None => Record::Refine { keep: false },
            Some("keep") => Record::Refine { keep: true },
            Some(_) => return Err(Reason::Malformed("'refine' stands alone or with 'keep'")),
        },
        Some("empty") => Record::Empty,
        Some("either") => Record::Either(natural(words.next())?),
        Some("split") => match words.next() {
            Some("input") => Record::SplitInput { input: natural(words.next())?, at: number(words.next())? },
            Some("node") => {
                let place = Place { node: natural(words.next())?, element: natural(words.next())? };
                Record::SplitNode { place, at: number(words.next())? }
            }
            _ => return Err(Reason::Malformed("a split is of an 'input' or of a 'node'")),
        },
        Some("close") => return Ok(Record::Close(combination(words)?)),
        Some("clip") => {
            let rest = line.strip_prefix("clip").unwrap_or(line);
            let mut parts = rest.split(';');
            let combination = combination(parts.next().unwrap_or("").split_ascii_whitespace())?;
            let claims = parts.map(claim).collect::<Result<Vec<_>, _>>()?;
            if claims.is_empty() {
                return Err(Reason::Malformed("a clip needs a new bound"));
            }
            return Ok(Record::Clip(combination, claims));
        }
        _ => return Err(Reason::Malformed("no record begins with this word")),
    };
    match words.next() {
        None => Ok(record),
        Some(_) => Err(Reason::Malformed("there are words after the record")),
    }
}

fn combination<'a>(words: impl Iterator<Item = &'a str>) -> Result<Combination, Reason> {
    let mut combination = Combination::default();
    for word in words {
        let (name, value) = word.split_once(':').ok_or(Reason::Malformed("a weight follows a ':'"))?;
        if let Some(atom) = name.strip_prefix('a') {
            let weight = number(Some(value))?;
            if weight < 0.0 {
                return Err(Reason::Malformed("the weight of an atom is negative"));
            }
            combination.atoms.push((natural(Some(atom))?, weight));
        } else if let Some(name) = name.strip_prefix('n') {
            combination.ranges.push((place(name)?, number(Some(value))?));
        } else if let Some(name) = name.strip_prefix('t') {
            let (lower, upper) = value.split_once('/').ok_or(Reason::Malformed("a slope α is two numbers"))?;
            let alpha = Alpha { lower: number(Some(lower))?, upper: number(Some(upper))? };
            if !(0.0..=1.0).contains(&alpha.lower) || !(0.0..=1.0).contains(&alpha.upper) {
                return Err(Reason::Malformed("a slope α lies between 0 and 1"));
            }
            combination.alphas.push((place(name)?, alpha));
        } else {
            return Err(Reason::Malformed("a weight is of an 'a', an 'n' or a 't'"));
        }
    }
    Ok(combination)
}

fn claim(text: &str) -> Result<Claim, Reason> {
    let mut words = text.split_ascii_whitespace();
    let (name, relation, bound) = (words.next(), words.next(), number(words.next())?);
    let input = natural(name.and_then(|name| name.strip_prefix('x')))?;
    let is_upper = match relation {
        Some("<=") => true,
        Some(">=") => false,
        _ => return Err(Reason::Malformed("a new bound is written with '<=' or '>='")),
    };
    match words.next() {
        None => Ok(Claim { input, is_upper, bound }),
        Some(_) => Err(Reason::Malformed("there are words after the new bound")),
    }
}

fn place(name: &str) -> Result<Place, Reason> {
    let (node, element) = name.split_once('.').ok_or(Reason::Malformed("an element is written node.element"))?;
    Ok(Place { node: natural(Some(node))?, element: natural(Some(element))? })
}

/// A natural number in plain digits.
fn natural(word: Option<&str>) -> Result<usize, Reason> {
    let digits = word.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|word| word.parse().ok()).ok_or(Reason::Malformed("a natural number was expected"))
}

/// A finite number.
fn number(word: Option<&str>) -> Result<f64, Reason> {
    let number = word.and_then(|word| word.parse::<f64>().ok()).filter(|number| number.is_finite());
    number.ok_or(Reason::Malformed("a finite number was expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn headers_name_their_files() {
        let text =
            format!("# made today\ncertus-certificate 1\n\nnetwork {DIGEST} my net#1.onnx\nspecification {DIGEST} p\n");
        let (header, certificate) = read_header(text.as_bytes()).unwrap();
        let file = |path: &str| File { digest: DIGEST.to_owned(), path: path.to_owned() };
        assert_eq!(header, Header::Verification { network: file("my net#1.onnx"), specification: file("p") });
        assert_eq!(certificate.line, 5);
        let text = format!("certus-certificate 1\nquery {} q", DIGEST.to_uppercase());
        assert_eq!(read_header(text.as_bytes()).unwrap().0, Header::Query(file("q")));
    }

    #[test]
    fn headers_that_are_none_are_refused_with_their_line() {
        let refused = |text: &str| read_header(text.as_bytes()).unwrap_err();
        assert_eq!(refused(""), Reason::NotACertificate.at(1));
        assert_eq!(refused("certus-certificate 2\n"), Reason::NotACertificate.at(1));
        assert_eq!(refused("certus-certificate 1\n"), Reason::EndsEarly.at(2));
        assert_eq!(refused(&format!("certus-certificate 1\nnetwork {DIGEST} n\nquery {DIGEST} n")).line, 3);
        assert_eq!(refused("certus-certificate 1\nquery 12 n").line, 2);
        assert_eq!(refused(&format!("certus-certificate 1\nquery {DIGEST}")).line, 2);
    }

    #[test]
    fn records_are_read() {
        let place = Place { node: 3, element: 14 };
        assert_eq!(record("split node 3 14 -0.5"), Ok(Record::SplitNode { place, at: -0.5 }));
        assert_eq!(record("split input 2 1e-3"), Ok(Record::SplitInput { input: 2, at: 1e-3 }));
        assert_eq!(record("either 1"), Ok(Record::Either(1)));
        let combination = Combination {
            atoms: vec![(0, 1.0), (2, 0.25)],
            ranges: vec![(place, -2.0)],
            alphas: vec![(place, Alpha { lower: 0.5, upper: 1.0 })],
        };
        assert_eq!(record("close a0:1.0 a2:0.25  n3.14:-2.0 t3.14:0.5/1.0"), Ok(Record::Close(combination.clone())));
        let claims =
            vec![Claim { input: 0, is_upper: true, bound: 0.5 }, Claim { input: 7, is_upper: false, bound: -1.0 }];
        let text = "clip a0:1.0 a2:0.25 n3.14:-2.0 t3.14:0.5/1.0 ; x0 <= 0.5 ; x7 >= -1.0";
        assert_eq!(record(text), Ok(Record::Clip(combination, claims)));
    }

    #[test]
    fn malformed_records_are_refused() {
        for text in [
            "refine 1",
            "close a0",
            "close a0:-1.0",
            "close a0:NaN",
            "close a0:inf",
            "close b0:1",
            "close a-1:1",
            "close n3:1",
            "close t1.1:0.5",
            "close t1.1:0.5/2",
            "close t1.1:NaN/0",
            "close a0:1 ; x0 <= 1",
            "clip a0:1",
            "clip a0:1 ; x0 < 1",
            "clip a0:1 ; x0 <= 1 2",
            "clip a0:1 ; y0 <= 1",
            "clip a0:1 ;",
            "split input 0",
            "split input 0 nan",
            "split node 1 2",
            "split 1 2",
            "either",
            "either +1",
            "case",
            "case x",
            "unsat",
            "end 1",
            "empty a0:1",
            "close a:1",
        ] {
            assert!(record(text).is_err(), "{text}");
        }
    }
}
