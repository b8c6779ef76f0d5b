//! Rows and columns of verdicts: properties down, checkpoints across, as training went on.

pub use crate::style::Kind;
use crate::svg::{Anchor, Drawing, Picture, text_width};

/// A table of verdicts to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The first line.
    pub title: String,
    /// What stands above each column.
    pub columns: Vec<String>,
    /// What stands before each row, and its cells: what each says, and in words.
    pub rows: Vec<(String, Vec<(Kind, String)>)>,
    /// The legend, in its order.
    pub legend: Vec<(Kind, String)>,
}

const TOP: f64 = 44.0;
const HEIGHT: f64 = 26.0;

/// Draws a table of verdicts as a file.
pub fn draw(matrix: &Matrix) -> String {
    picture(matrix).standalone()
}

/// Draws a table of verdicts.
pub fn picture(matrix: &Matrix) -> Picture {
    let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| text_width(text)).fold(0.0, f64::max);
    let left = 24.0 + widest(&mut matrix.rows.iter().map(|(name, _)| name));
    let words = widest(&mut matrix.rows.iter().flat_map(|(_, cells)| cells).map(|(_, words)| words));
    let column = words.max(widest(&mut matrix.columns.iter())) + 12.0;
    let legend = widest(&mut matrix.legend.iter().map(|(_, text)| text));
    let width = (left + column * matrix.columns.len() as f64 + 16.0)
        .max(left + legend + 40.0)
        .max(text_width(&matrix.title) * 1.3 + 40.0);
    let bottom = TOP + 20.0 + HEIGHT * matrix.rows.len() as f64;
    let mut drawing = Drawing::new(width, bottom + 20.0 + 20.0 * matrix.legend.len() as f64);
    drawing.heading(16.0, 26.0, &matrix.title);
    for (index, name) in matrix.columns.iter().enumerate() {
        drawing.text(left + column * (index as f64 + 0.5), TOP + 12.0, Anchor::Middle, name);
    }
    for (row, (name, cells)) in matrix.rows.iter().enumerate() {
        let y = TOP + 20.0 + HEIGHT * row as f64;
        drawing.text(left - 8.0, y + 17.0, Anchor::End, name);
        for (index, (kind, words)) in cells.iter().enumerate() {
            let x = left + column * index as f64;
            let at = matrix.columns.get(index).map_or("", String::as_str);
            drawing.rectangle([x, y, column, HEIGHT], kind.class(), &format!("{name}, {at}: {words}"));
            let ink = format!("on-{}", kind.class());
            drawing.classed_text(x + column / 2.0, y + 17.0, Anchor::Middle, &ink, words);
        }
    }
    for (index, (kind, text)) in matrix.legend.iter().enumerate() {
        let y = bottom + 12.0 + 20.0 * index as f64;
        drawing.rectangle([left, y, 16.0, 12.0], &format!("{} edged", kind.class()), "");
        drawing.text(left + 24.0, y + 10.0, Anchor::Start, text);
    }
    drawing.finish(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_drawn_in_its_row_and_column() {
        let cell = |kind, words: &str| (kind, words.to_owned());
        let matrix = Matrix {
            title: "gate".to_owned(),
            columns: vec!["0k".to_owned(), "10k".to_owned()],
            rows: vec![
                ("p".to_owned(), vec![cell(Kind::Violated, "step 3"), cell(Kind::Holds, "k = 4")]),
                ("q".to_owned(), vec![cell(Kind::Open, "?"), cell(Kind::Violated, "step 0")]),
            ],
            legend: vec![(Kind::Holds, "holds".to_owned())],
        };
        let picture = draw(&matrix);
        for title in ["p, 0k: step 3", "p, 10k: k = 4", "q, 0k: ?", "q, 10k: step 0"] {
            assert_eq!(picture.matches(title).count(), 1, "{title} in {picture}");
        }
        let titles: Vec<&str> = picture.lines().filter(|line| line.contains("<title>")).collect();
        let y = |line: &str| line.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
        assert_eq!(y(titles[0]), y(titles[1]));
        assert_ne!(y(titles[1]), y(titles[2]));
    }
}
