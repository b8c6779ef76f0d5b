//! Parquet: columns of numbers and texts, read side by side in batches; tables written in groups of rows.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, Type};

use super::{Cell, RowWriter, Visit, places};
use crate::MineError;

/// Rows that are read at a time.
const BATCH: usize = 8192;

/// One column of a batch.
enum Values {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Texts(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Values::Numbers(values) => values[row].map_or(Cell::Missing, Cell::Number),
            Values::Texts(values) => values[row].as_deref().map_or(Cell::Missing, Cell::Text),
        }
    }
}

pub(super) fn scan(path: &Path, columns: &[&str], visit: &mut Visit<'_>) -> Result<(), MineError> {
    let wrong = |error: &dyn std::fmt::Display| MineError::in_file(path, error);
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let reader = SerializedFileReader::new(file).map_err(|error| wrong(&error))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let header: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let places = places(path, &header, columns)?;
    for &place in &places {
        check(&schema.column(place)).map_err(|message| wrong(&message))?;
    }
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| wrong(&error))?;
        let readers: Result<Vec<ColumnReader>, _> =
            places.iter().map(|&place| group.get_column_reader(place)).collect();
        let mut readers = readers.map_err(|error| wrong(&error))?;
        loop {
            let batch: Result<Vec<Values>, String> =
                readers.iter_mut().zip(&places).map(|(reader, &place)| read(reader, &schema.column(place))).collect();
            let batch = batch.map_err(|error| wrong(&error))?;
            let rows = batch.first().map_or(0, Values::len);
            if batch.iter().any(|values| values.len() != rows) {
                return Err(wrong(&"columns of one row group have different lengths"));
            }
            if rows == 0 {
                break;
            }
            let mut cells = Vec::with_capacity(batch.len());
            for row in 0..rows {
                cells.clear();
                cells.extend(batch.iter().map(|values| values.cell(row)));
                visit(&cells)?;
            }
        }
    }
    Ok(())
}

fn check(column: &ColumnDescriptor) -> Result<(), String> {
    if column.max_rep_level() > 0 {
        return Err(format!("column `{}` is a list; expected one value per row", column.path()));
    }
    Ok(())
}

/// What a whole number must be divided by, where it stands for a decimal.
fn divisor(column: &ColumnDescriptor) -> f64 {
    let scale = match column.logical_type_ref() {
        Some(LogicalType::Decimal(decimal)) => decimal.scale,
        _ if column.converted_type() == ConvertedType::DECIMAL => column.type_scale(),
        _ => 0,
    };
    10f64.powi(scale)
}

fn read(reader: &mut ColumnReader, column: &ColumnDescriptor) -> Result<Values, String> {
    let divisor = divisor(column);
    let numbers = |values: Vec<Option<f64>>| Ok(Values::Numbers(values));
    match reader {
        ColumnReader::BoolColumnReader(reader) => numbers(batch(reader, column, |&value| f64::from(u8::from(value)))?),
        ColumnReader::Int32ColumnReader(reader) => numbers(batch(reader, column, |&value| f64::from(value) / divisor)?),
        ColumnReader::Int64ColumnReader(reader) => numbers(batch(reader, column, |&value| value as f64 / divisor)?),
        ColumnReader::FloatColumnReader(reader) => numbers(batch(reader, column, |&value| f64::from(value))?),
        ColumnReader::DoubleColumnReader(reader) => numbers(batch(reader, column, |&value| value)?),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let text = |value: &ByteArray| String::from_utf8_lossy(value.data()).trim().to_owned();
            Ok(Values::Texts(batch(reader, column, text)?))
        }
        _ => Err(format!("column `{}` has a type that is neither number nor text", column.path())),
    }
}

/// The next values of a column, with the places where there is none.
fn batch<T: DataType, V>(
    reader: &mut ColumnReaderImpl<T>,
    column: &ColumnDescriptor,
    value: impl Fn(&T::T) -> V,
) -> Result<Vec<Option<V>>, String> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let most = column.max_def_level();
    let wanted = (most > 0).then_some(&mut levels);
    let mut rows = 0;
    let mut wanted = wanted;
    while rows < BATCH {
        let read = reader.read_records(BATCH - rows, wanted.as_deref_mut(), None, &mut values);
        let (read, _, _) = read.map_err(|error| format!("column `{}`: {error}", column.path()))?;
        if read == 0 {
            break;
        }
        rows += read;
    }
    if most == 0 {
        return Ok(values.iter().map(|found| Some(value(found))).collect());
    }
    let mut found = values.iter();
    Ok(levels.iter().map(|&level| if level == most { found.next().map(&value) } else { None }).collect())
}

/// Rows of one group, which is what a writer keeps in memory.
const GROUP: usize = 1 << 16;

/// Writes a table of numbers with a last column of text.
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    numbers: Vec<Vec<f64>>,
    labels: Vec<ByteArray>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a table; the last name is that of the texts.
    pub fn new(output: W, header: &[String]) -> io::Result<Self> {
        let (label, numbers) = header.split_last().ok_or_else(|| io::Error::other("a table needs columns"))?;
        let number = |name: &String| {
            let column = Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(Repetition::REQUIRED);
            Ok(Arc::new(column.build().map_err(failed)?))
        };
        let mut fields = numbers.iter().map(number).collect::<io::Result<Vec<_>>>()?;
        let text = Type::primitive_type_builder(label, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(ConvertedType::UTF8);
        fields.push(Arc::new(text.build().map_err(failed)?));
        let schema = Type::group_type_builder("observations").with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        Ok(ParquetWriter { file, numbers: vec![Vec::new(); numbers.len()], labels: Vec::new() })
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(failed)?;
        for values in &mut self.numbers {
            let mut column =
                group.next_column().map_err(failed)?.ok_or_else(|| io::Error::other("a column is missing"))?;
            column.typed::<DoubleType>().write_batch(values, None, None).map_err(failed)?;
            column.close().map_err(failed)?;
            values.clear();
        }
        if let Some(mut column) = group.next_column().map_err(failed)? {
            column.typed::<ByteArrayType>().write_batch(&self.labels, None, None).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        self.labels.clear();
        group.close().map_err(failed)?;
        Ok(())
    }
}

impl<W: Write + Send> RowWriter for ParquetWriter<W> {
    fn row(&mut self, values: &[f64], label: &str) -> io::Result<()> {
        for (column, &value) in self.numbers.iter_mut().zip(values) {
            column.push(value);
        }
        self.labels.push(ByteArray::from(label));
        if self.labels.len() == GROUP { self.write_group() } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.labels.is_empty() {
            self.write_group()?;
        }
        self.file.finish().map_err(failed)?;
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
