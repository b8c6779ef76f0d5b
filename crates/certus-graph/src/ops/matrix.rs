//! Matrices of affine maps: dense, or sparse by rows.

use std::sync::Arc;

/// A matrix by its rows' non-zero entries.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    columns: usize,
    row_starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

/// A constant matrix; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// All entries, row-major.
    Dense {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// The entries, row-major.
        data: Arc<[f64]>,
    },
    /// Non-zero entries only.
    Sparse(Arc<SparseMatrix>),
}

impl Matrix {
    /// A dense matrix from its entries, row-major. The number of entries must be `rows * columns`.
    pub fn dense(rows: usize, columns: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * columns, "a dense matrix needs rows × columns entries");
        Matrix::Dense { rows, columns, data: data.into() }
    }

    /// A sparse matrix from its rows, each a list of (column, value) with every column at most once.
    pub fn sparse(columns: usize, rows: impl IntoIterator<Item = Vec<(usize, f64)>>) -> Self {
        let mut sparse = SparseMatrix { columns, row_starts: vec![0], indices: Vec::new(), values: Vec::new() };
        for row in rows {
            for (column, value) in row {
                assert!(column < columns, "a sparse row names column {column} of {columns}");
                sparse.indices.push(column);
                sparse.values.push(value);
            }
            sparse.row_starts.push(sparse.indices.len());
        }
        Matrix::Sparse(Arc::new(sparse))
    }

    /// A diagonal matrix.
    pub fn diagonal(entries: &[f64]) -> Self {
        Matrix::sparse(entries.len(), entries.iter().enumerate().map(|(i, &value)| vec![(i, value)]))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Matrix::Dense { rows, .. } => *rows,
            Matrix::Sparse(sparse) => sparse.row_starts.len() - 1,
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Matrix::Dense { columns, .. } => *columns,
            Matrix::Sparse(sparse) => sparse.columns,
        }
    }

    /// The number of stored entries.
    pub fn stored(&self) -> usize {
        match self {
            Matrix::Dense { data, .. } => data.len(),
            Matrix::Sparse(sparse) => sparse.values.len(),
        }
    }

    /// The stored entries of a row, as (column, value).
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (indices, values) = match self {
            Matrix::Dense { columns, data, .. } => (None, &data[row * columns..(row + 1) * columns]),
            Matrix::Sparse(sparse) => {
                let range = sparse.row_starts[row]..sparse.row_starts[row + 1];
                (Some(&sparse.indices[range.clone()]), &sparse.values[range])
            }
        };
        values.iter().enumerate().map(move |(k, &value)| (indices.map_or(k, |indices| indices[k]), value))
    }

    /// The entries as a dense row-major list.
    pub fn to_dense(&self) -> Vec<f64> {
        let columns = self.columns();
        let mut data = vec![0.0; self.rows() * columns];
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                data[row * columns + column] = value;
            }
        }
        data
    }

    /// The same matrix in the form that is smaller and faster for its share of non-zero entries.
    pub fn compact(self) -> Self {
        let nonzero = (0..self.rows()).map(|row| self.row(row).filter(|&(_, v)| v != 0.0).count()).sum::<usize>();
        // A sparse entry costs about four dense ones: its index, and no vector instructions.
        let sparse_pays = nonzero * 4 <= self.rows() * self.columns();
        match &self {
            Matrix::Dense { .. } if sparse_pays => {
                let rows = (0..self.rows()).map(|row| self.row(row).filter(|&(_, v)| v != 0.0).collect());
                Matrix::sparse(self.columns(), rows)
            }
            Matrix::Sparse(_) if !sparse_pays => Matrix::dense(self.rows(), self.columns(), self.to_dense()),
            _ => self,
        }
    }
}
