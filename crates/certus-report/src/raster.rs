//! Pictures in pixels: the shapes of a drawing painted with soft edges, and written as PNG.

use std::io::Write;

use crate::glyphs::{places, strokes};
use crate::style::{Fill, Paint, paint};

/// A shape, as it was drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Closed or open lines, with a class and perhaps a colour of its own.
    Path { d: String, class: String, fill: String },
    /// A circle.
    Dot { x: f64, y: f64, radius: f64, class: String },
    /// A text: place, size, share of its width before the place, whether it is bold, turn in degrees.
    Text { x: f64, y: f64, size: f64, before: f64, class: String, turn: f64, text: String },
}

/// Pixels for each unit of a drawing.
const SCALE: f64 = 2.0;

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<[f64; 3]>,
}

/// How much of each pixel a shape covers, within the rectangle that it touches.
struct Mask {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    cover: Vec<f64>,
}

impl Mask {
    /// A mask around points, with some air.
    fn around(canvas: &Canvas, points: &[(f64, f64)], air: f64) -> Mask {
        let ends = |values: &mut dyn Iterator<Item = f64>, most: usize| {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for value in values {
                low = low.min(value);
                high = high.max(value);
            }
            let from = (low - air).floor().clamp(0.0, most as f64) as usize;
            (from, ((high + air).ceil().clamp(0.0, most as f64) as usize).max(from))
        };
        let (left, right) = ends(&mut points.iter().map(|own| own.0), canvas.width);
        let (top, bottom) = ends(&mut points.iter().map(|own| own.1), canvas.height);
        let (width, height) = (right - left, bottom - top);
        Mask { left, top, width, height, cover: vec![0.0; width * height] }
    }

    /// Adds the inside of a polygon.
    fn fill(&mut self, points: &[(f64, f64)]) {
        const ROWS: usize = 4;
        let (low, high) =
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), own| (a.min(own.1), b.max(own.1)));
        let first = (low.floor() - self.top as f64).max(0.0) as usize;
        let last = ((high.ceil() - self.top as f64).max(0.0) as usize).min(self.height);
        let mut crossings: Vec<f64> = Vec::new();
        for row in first..last {
            for part in 0..ROWS {
                let y = (self.top + row) as f64 + (part as f64 + 0.5) / ROWS as f64;
                crossings.clear();
                for (index, &(x1, y1)) in points.iter().enumerate() {
                    let (x2, y2) = points[(index + 1) % points.len()];
                    if (y1 <= y) != (y2 <= y) {
                        crossings.push(x1 + (y - y1) / (y2 - y1) * (x2 - x1));
                    }
                }
                crossings.sort_by(f64::total_cmp);
                for pair in crossings.chunks_exact(2) {
                    let (from, to) = (pair[0] - self.left as f64, pair[1] - self.left as f64);
                    let begin = from.floor().max(0.0) as usize;
                    let end = (to.ceil().max(0.0) as usize).min(self.width);
                    for column in begin..end {
                        let own = (to.min(column as f64 + 1.0) - from.max(column as f64)).max(0.0);
                        let cell = &mut self.cover[row * self.width + column];
                        *cell = (*cell + own / ROWS as f64).min(1.0);
                    }
                }
            }
        }
    }

    /// Adds a line.
    fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), wide: f64) {
        let reach = wide / 2.0 + 1.0;
        let bounds = |a: f64, b: f64, offset: usize, most: usize| {
            let low = (a.min(b) - reach).floor() - offset as f64;
            let high = (a.max(b) + reach).ceil() - offset as f64;
            (low.clamp(0.0, most as f64) as usize)..(high.clamp(0.0, most as f64) as usize)
        };
        let (dx, dy) = (x2 - x1, y2 - y1);
        let length = dx * dx + dy * dy;
        for row in bounds(y1, y2, self.top, self.height) {
            for column in bounds(x1, x2, self.left, self.width) {
                let (x, y) = ((self.left + column) as f64 + 0.5, (self.top + row) as f64 + 0.5);
                let t = if length > 0.0 { (((x - x1) * dx + (y - y1) * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let far = (x - x1 - t * dx).hypot(y - y1 - t * dy);
                let own = (wide / 2.0 + 0.5 - far).clamp(0.0, 1.0);
                let cell = &mut self.cover[row * self.width + column];
                *cell = cell.max(own);
            }
        }
    }
}

impl Canvas {
    fn paint(&mut self, mask: &Mask, fill: Fill) {
        for row in 0..mask.height {
            for column in 0..mask.width {
                let cover = mask.cover[row * mask.width + column];
                if cover <= 0.0 {
                    continue;
                }
                let (x, y) = (mask.left + column, mask.top + row);
                let (colour, opacity) = fill.at(x as f64 / SCALE, y as f64 / SCALE);
                let share = cover * opacity;
                for (own, new) in self.pixels[y * self.width + x].iter_mut().zip(colour) {
                    *own += share * (new - *own);
                }
            }
        }
    }

    fn polygons(&mut self, lines: &[Vec<(f64, f64)>], paint: Paint) {
        let all: Vec<(f64, f64)> = lines.concat();
        if let Some(fill) = paint.fill {
            let mut mask = Mask::around(self, &all, 1.0);
            lines.iter().for_each(|line| mask.fill(line));
            self.paint(&mask, fill);
        }
        if let Some((stroke, wide)) = paint.stroke {
            let mut mask = Mask::around(self, &all, wide * SCALE + 2.0);
            for line in lines {
                line.windows(2).for_each(|pair| mask.line(pair[0], pair[1], wide * SCALE));
            }
            self.paint(&mask, stroke);
        }
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Path { d, class, fill } => {
                let mut paint = paint(class);
                if let Some(own) = Fill::of_colour(fill) {
                    paint.fill = Some(own);
                }
                self.polygons(&lines(d), paint);
            }
            Shape::Dot { x, y, radius, class } => {
                let around = (0..24).map(|index| f64::from(index) * std::f64::consts::TAU / 24.0);
                let circle =
                    around.map(|angle| ((x + radius * angle.cos()) * SCALE, (y + radius * angle.sin()) * SCALE));
                self.polygons(&[circle.collect()], paint(class));
            }
            Shape::Text { x, y, size, before, class, turn, text } => {
                let (lines, width) = written(text, *size);
                let (sin, cos) = turn.to_radians().sin_cos();
                let placed: Vec<Vec<(f64, f64)>> = lines
                    .iter()
                    .map(|line| {
                        line.iter()
                            .map(|(a, b)| (a - before * width, *b))
                            .map(|(a, b)| ((x + a * cos - b * sin) * SCALE, (y + a * sin + b * cos) * SCALE))
                            .collect()
                    })
                    .collect();
                let ink = paint(class).fill.unwrap_or(Fill::INK);
                let wide = if class.contains("heading") { 0.14 } else { 0.095 } * size;
                self.polygons(&placed, Paint { fill: None, stroke: Some((ink, wide)) });
            }
        }
    }
}

/// The strokes of a text from its beginning on, and how wide it is.
fn written(text: &str, size: f64) -> (Vec<Vec<(f64, f64)>>, f64) {
    let (across, up, gap) = (0.095 * size, 0.12 * size, 0.2 * size);
    let mut at = 0.0;
    let mut lines = Vec::new();
    for character in text.chars() {
        let own: Vec<Vec<(f64, f64)>> =
            strokes(character).split(' ').filter(|own| !own.is_empty()).map(places).collect();
        let points = || own.iter().flatten().map(|place| place.0);
        let (low, high) = (points().fold(f64::INFINITY, f64::min), points().fold(0.0, f64::max));
        if own.is_empty() {
            at += 0.3 * size;
            continue;
        }
        lines.extend(own.iter().map(|line| line.iter().map(|(x, y)| (at + (x - low) * across, -y * up)).collect()));
        at += (high - low) * across + gap;
    }
    (lines, at - gap)
}

/// The points of a path, in pixels: `M`, `L`, `h`, `v` and `z` are all that drawings use.
fn lines(d: &str) -> Vec<Vec<(f64, f64)>> {
    let mut found: Vec<Vec<(f64, f64)>> = Vec::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = d;
    while let Some(command) = rest.chars().next() {
        rest = &rest[command.len_utf8()..];
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let numbers: Vec<f64> = rest[..end].split([' ', ',']).filter_map(|own| own.parse().ok()).collect();
        rest = &rest[end..];
        match (command, numbers.as_slice()) {
            ('M' | 'L', &[a, b]) => (x, y) = (a, b),
            ('h', &[a]) => x += a,
            ('v', &[b]) => y += b,
            ('z', _) => {
                if let Some(line) = found.last_mut()
                    && let Some(&first) = line.first()
                {
                    line.push(first);
                }
                continue;
            }
            _ => continue,
        }
        if command == 'M' {
            found.push(Vec::new());
        }
        if let Some(line) = found.last_mut() {
            line.push((x * SCALE, y * SCALE));
        }
    }
    found
}

/// The picture as a PNG file, two pixels for each unit.
pub(crate) fn png(width: f64, height: f64, shapes: &[Shape]) -> Vec<u8> {
    let size = |length: f64| ((length * SCALE).ceil() as usize).clamp(1, 8000);
    let (width, height) = (size(width), size(height));
    let mut canvas = Canvas { width, height, pixels: vec![[255.0; 3]; width * height] };
    shapes.iter().for_each(|shape| canvas.draw(shape));
    let mut rows: Vec<u8> = Vec::with_capacity(height * (3 * width + 1));
    for row in canvas.pixels.chunks_exact(width) {
        // Filter 0: bytes as they are.
        rows.push(0);
        rows.extend(row.iter().flatten().map(|value| value.round() as u8));
    }
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory does not fail.
    let packed = packed.write_all(&rows).and_then(|()| packed.finish()).unwrap_or_default();
    let mut file = vec![0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits for each of three colours, no interlacing.
    header.extend([8, 2, 0, 0, 0]);
    for (name, content) in [(b"IHDR", header), (b"IDAT", packed), (b"IEND", Vec::new())] {
        file.extend((content.len() as u32).to_be_bytes());
        let start = file.len();
        file.extend(name);
        file.extend(content);
        let mut sum = flate2::Crc::new();
        sum.update(&file[start..]);
        file.extend(sum.sum().to_be_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canvas(shapes: &[Shape]) -> Canvas {
        let mut canvas = Canvas { width: 40, height: 40, pixels: vec![[255.0; 3]; 1600] };
        shapes.iter().for_each(|shape| canvas.draw(shape));
        canvas
    }

    #[test]
    fn shapes_cover_their_pixels() {
        let square =
            Shape::Path { d: "M5 5h10v10h-10z".to_owned(), class: "heat".to_owned(), fill: "#000000".to_owned() };
        let drawn = canvas(&[square]);
        let dark = drawn.pixels.iter().filter(|own| own[0] < 1.0).count();
        assert_eq!(dark, 400, "ten units are twenty pixels");
        assert!(drawn.pixels[20 * 40 + 20][0] < 1.0 && drawn.pixels[5 * 40 + 5][0] > 254.0);
    }

    #[test]
    fn half_of_a_pixel_is_half_as_dark() {
        let thin =
            Shape::Path { d: "M5 5h0.25v10h-0.25z".to_owned(), class: "heat".to_owned(), fill: "#000000".to_owned() };
        assert!((canvas(&[thin]).pixels[20 * 40 + 10][0] - 127.5).abs() < 1.0);
    }

    #[test]
    fn texts_stay_where_they_belong() {
        let (lines, width) = written("Hello, x ≤ 3", 12.0);
        assert!(lines.iter().flatten().all(|(x, y)| (0.0..=width + 0.01).contains(x) && (-9.0..=3.0).contains(y)));
        assert!((50.0..90.0).contains(&width), "{width}");
    }

    #[test]
    fn a_file_can_be_unpacked_again() {
        use std::io::Read;
        let file = png(10.0, 4.0, &[]);
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        let at = file.windows(4).position(|own| own == b"IDAT").unwrap();
        let length = u32::from_be_bytes(file[at - 4..at].try_into().unwrap()) as usize;
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&file[at + 4..at + 4 + length]).read_to_end(&mut rows).unwrap();
        assert_eq!(rows.len(), 8 * (1 + 3 * 20));
        assert!(rows.chunks(61).all(|row| row[0] == 0 && row[1..].iter().all(|own| *own == 255)));
    }
}
