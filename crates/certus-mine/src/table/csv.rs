//! Comma-separated text with a header.
//!
//! Fields may stand in quotation marks, a doubled mark is one mark, and a quoted field may go over line ends. Lines
//! without quotation marks, nearly all in logs of numbers, are only cut at their commas.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use super::{Cell, RowWriter, Visit, places};
use crate::MineError;

/// The longest record, bytes: a file of something else has no line ends at all.
const LONGEST: usize = 1 << 24;
const BUFFER: usize = 1 << 20;

pub(super) fn scan(path: &Path, columns: &[&str], visit: &mut Visit<'_>) -> Result<(), MineError> {
    let file = File::open(path).map_err(|error| MineError::in_file(path, error))?;
    read(path, BufReader::with_capacity(BUFFER, file), columns, visit)
}

fn read(path: &Path, mut input: impl BufRead, columns: &[&str], visit: &mut Visit<'_>) -> Result<(), MineError> {
    let mut record = Vec::new();
    let mut line = 0;
    if !next(path, &mut input, &mut record, &mut line)? {
        return Err(MineError::in_file(path, "the file is empty: expected a header with the names of the columns"));
    }
    let mut fields = Vec::new();
    let text = text(path, &record, line)?;
    split(text.trim_start_matches('\u{feff}'), &mut fields);
    let header: Vec<String> = fields.iter().map(|field| unquoted(field).trim().to_owned()).collect();
    let places = places(path, &header, columns)?;
    let mut owned: Vec<(usize, String)> = Vec::new();
    while next(path, &mut input, &mut record, &mut line)? {
        let text = self::text(path, &record, line)?;
        let mut fields = Vec::with_capacity(header.len());
        split(text, &mut fields);
        if fields.len() != header.len() {
            let message = format!("line {line} has {} fields, the header has {}", fields.len(), header.len());
            return Err(MineError::in_file(path, message));
        }
        owned.clear();
        for (wanted, &place) in places.iter().enumerate() {
            if fields[place].starts_with('"') {
                owned.push((wanted, unquoted(fields[place])));
            }
        }
        let mut cells: Vec<Cell<'_>> = places.iter().map(|&place| cell(fields[place].trim())).collect();
        for (wanted, text) in &owned {
            cells[*wanted] = cell(text.trim());
        }
        visit(&cells)?;
    }
    Ok(())
}

fn cell(text: &str) -> Cell<'_> {
    if text.is_empty() { Cell::Missing } else { Cell::Text(text) }
}

/// Reads a record without its line end into `record`; false at the end of the file. Blank lines are skipped.
fn next(path: &Path, input: &mut impl BufRead, record: &mut Vec<u8>, line: &mut usize) -> Result<bool, MineError> {
    record.clear();
    loop {
        let before = record.len();
        let read = input.read_until(b'\n', record).map_err(|error| MineError::in_file(path, error))?;
        *line += usize::from(read > 0);
        if record.len() > LONGEST {
            return Err(MineError::in_file(
                path,
                format!("line {line} has more than {LONGEST} bytes: is this a table?"),
            ));
        }
        let open = record.iter().filter(|&&byte| byte == b'"').count() % 2 == 1;
        if read > 0 && open {
            continue;
        }
        if open {
            return Err(MineError::in_file(path, format!("line {line}: a quotation mark is not closed")));
        }
        while record.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            record.pop();
        }
        if read == 0 && before == 0 {
            return Ok(false);
        }
        if !record.is_empty() {
            return Ok(true);
        }
    }
}

fn text<'a>(path: &Path, record: &'a [u8], line: usize) -> Result<&'a str, MineError> {
    std::str::from_utf8(record).map_err(|_| MineError::in_file(path, format!("line {line} is not UTF-8 text")))
}

/// Cuts a record at the commas outside of quotation marks.
fn split<'a>(record: &'a str, fields: &mut Vec<&'a str>) {
    fields.clear();
    let mut quoted = false;
    let mut start = 0;
    for (place, byte) in record.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                fields.push(&record[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    fields.push(&record[start..]);
}

/// A field without its quotation marks.
fn unquoted(field: &str) -> String {
    match field.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => field.to_owned(),
    }
}

/// Writes a table of numbers with a last column of text.
pub struct CsvWriter<W: Write> {
    output: W,
}

impl<W: Write> CsvWriter<W> {
    /// Begins a table with its header.
    pub fn new(mut output: W, header: &[String]) -> std::io::Result<Self> {
        writeln!(output, "{}", header.join(","))?;
        Ok(CsvWriter { output })
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output
    }
}

impl<W: Write> RowWriter for CsvWriter<W> {
    fn row(&mut self, values: &[f64], label: &str) -> std::io::Result<()> {
        for value in values {
            write!(self.output, "{value},")?;
        }
        writeln!(self.output, "{label}")
    }

    fn finish(&mut self) -> std::io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, columns: &[&str]) -> Result<Vec<Vec<String>>, String> {
        let mut rows = Vec::new();
        let visit = &mut |cells: &[Cell<'_>]| {
            rows.push(cells.iter().map(|cell| format!("{cell:?}")).collect());
            Ok(())
        };
        read(Path::new("t.csv"), text.as_bytes(), columns, visit).map_err(|error| error.to_string())?;
        Ok(rows)
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let text = "a,b, c\r\n1,,x\r\n\r\n2, 3 ,\"y, \"\"z\"\"\"\n";
        let expected = [["Text(\"x\")", "Missing"], ["Text(\"y, \\\"z\\\"\")", "Text(\"3\")"]];
        assert_eq!(rows(text, &["c", "b"]).unwrap(), expected);
    }

    #[test]
    fn quoted_fields_go_over_line_ends() {
        assert_eq!(rows("a,b\n\"1\n2\",3\n", &["b"]).unwrap(), [["Text(\"3\")"]]);
        assert!(rows("a,b\n\"1,3\n", &["b"]).unwrap_err().contains("line 2: a quotation mark is not closed"));
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        assert_eq!(rows("a,b\n1,2\n1,2,3\n", &["a"]).unwrap_err(), "t.csv: line 3 has 3 fields, the header has 2");
        assert_eq!(rows("a,b\n", &["c"]).unwrap_err(), "t.csv: no column is called `c`; the columns are a, b");
        assert!(rows("a,a\n", &["a"]).unwrap_err().contains("occurs twice"));
        assert!(rows("", &["a"]).unwrap_err().contains("empty"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let values = [0.1, -1e-300, 3.0, 1.0 / 3.0];
        let header: Vec<String> = ["a", "b", "c", "d", "l"].map(str::to_owned).into();
        let mut writer = CsvWriter::new(Vec::new(), &header).unwrap();
        writer.row(&values, "+").unwrap();
        let text = String::from_utf8(writer.into_inner()).unwrap();
        let mut seen = Vec::new();
        read(Path::new("t"), text.as_bytes(), &["a", "b", "c", "d", "l"], &mut |cells| {
            seen.extend(cells[..4].iter().filter_map(Cell::number));
            assert_eq!(cells[4], Cell::Text("+"));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, values);
    }
}
