//! A small world to mine: two references that look at a buffer and a time and choose among three.
#![allow(dead_code)]

use std::path::Path;

use certus_mine::config::Config;
use certus_mine::observations::Rows;

pub const CONFIG: &str = r#"
name = "toy"
inputs = 4
unread = [0, 1]

[output]
name = "speed"
column = "speed"
labels = ["low", "mid", "high"]

[[feature]]
columns = "buffer"
inputs = 0
mined = 1
unit = "s"
scale = 10

[[feature]]
name = "time"
columns = "time_{1..2}"
inputs = "3..2"
mined = 1

[[reference]]
name = "careful"
train = "careful.csv"

[[reference]]
name = "bold"
train = "bold.csv"

[mine]
parts = 20
most_outputs = 2
"#;

pub fn config() -> Config {
    Config::parse(CONFIG, Path::new("")).unwrap()
}

/// Numbers between 0 and 1 that look random and are the same every time.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What a reference chooses: it is bolder the more there is in the buffer.
pub fn choice(bold: bool, buffer: f64, time: f64) -> usize {
    let courage = buffer - 0.5 * time + if bold { 0.1 } else { 0.0 };
    if courage < 0.2 {
        0
    } else if courage < 0.6 {
        1
    } else {
        2
    }
}

pub fn table(bold: bool, rows: usize) -> Vec<(Vec<f64>, usize)> {
    let mut numbers = Numbers(if bold { 1 } else { 2 });
    let mut before = 0.0;
    (0..rows)
        .map(|_| {
            let (buffer, time) = (numbers.unit(), numbers.unit());
            let row = vec![buffer, time, before];
            before = time;
            (row, choice(bold, buffer, time))
        })
        .collect()
}

pub fn references() -> Vec<Rows> {
    vec![Rows::of("careful", table(false, 4000)), Rows::of("bold", table(true, 4000))]
}

pub fn csv(rows: &[(Vec<f64>, usize)]) -> String {
    let mut text = "buffer,time_1,time_2,speed\n".to_owned();
    for (values, label) in rows {
        text.push_str(&format!("{},{},{},{}\n", values[0], values[1], values[2], ["low", "mid", "high"][*label]));
    }
    text
}

/// A folder that is removed when the test ends.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("certus-mine-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        std::fs::write(self.0.join(name), text).unwrap();
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
