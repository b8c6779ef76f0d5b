//! Observations of a controller: what it saw after each chunk and what it decided.
//!
//! The way of SpecTRA (I. Chaudhary and others, *SpecTRA*): each trace is played in the test simulator for as many chunks
//! as it has points. A video that ends begins again with an empty buffer and the default quality, the trace goes on where
//! it is, and the history of throughputs and download times is kept. The first rows of a trace, in which that history is
//! not yet full, are left out.

use std::sync::Arc;

use super::reference::{RobustMpc, buffer_based};
use super::{BITRATES, COLUMNS, Download, FIRST_QUALITY, Player, QUALITIES, State, Video};
use crate::traces::Trace;
use crate::{EnvironmentError, SettingError};

/// Numbers of [`State`] that policies read: the last bitrate, the buffer, eight throughputs, eight download times, six
/// sizes, the chunks that remain. Observations have them in this order.
pub const OBSERVED: [usize; 25] =
    [7, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 47];

/// The names of the numbers in [`OBSERVED`]; the suffix 1 is the newest.
pub fn observed_names() -> Vec<String> {
    let newest_last = |name: &'static str| (1..=COLUMNS).rev().map(move |age| format!("{name}_{age}"));
    let mut names = vec!["last_bitrate".to_owned(), "buffer".to_owned()];
    names.extend(newest_last("throughput"));
    names.extend(newest_last("download_time"));
    names.extend((1..=QUALITIES).map(|quality| format!("next_size_{quality}")));
    names.push("chunks_left".to_owned());
    names
}

/// Rows at the beginning of a trace whose histories are not full.
const INCOMPLETE: usize = COLUMNS;

/// Whoever decides the quality of the next chunk.
pub trait Controller {
    /// Takes note of a chunk and decides the quality of the next.
    fn decide(&mut self, video: &Video, download: &Download, state: &State) -> Result<usize, EnvironmentError>;

    /// Another trace begins.
    fn begin_trace(&mut self) {}
}

/// The buffer-based rule as a controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferBased;

impl Controller for BufferBased {
    fn decide(&mut self, _: &Video, download: &Download, _: &State) -> Result<usize, EnvironmentError> {
        Ok(buffer_based(download.buffer_s))
    }
}

impl Controller for RobustMpc {
    fn decide(&mut self, video: &Video, download: &Download, _: &State) -> Result<usize, EnvironmentError> {
        Ok(RobustMpc::decide(self, video, download))
    }

    /// Prediction errors are carried from trace to trace, as the published program does.
    fn begin_trace(&mut self) {
        self.clear_throughputs();
    }
}

/// What is called with each row; an error ends the run.
pub type Show<'a, E> = dyn FnMut(&Row, f64) -> Result<(), E> + 'a;

/// The numbers of [`OBSERVED`].
pub type Row = [f64; OBSERVED.len()];

/// Runs a controller over traces and shows each row: the numbers of [`OBSERVED`] and the bitrate decided, kbit/s.
pub fn observe<E: From<SettingError> + From<EnvironmentError>>(
    video: &Arc<Video>,
    traces: &Arc<[Trace]>,
    controller: &mut dyn Controller,
    show: &mut Show<'_, E>,
) -> Result<(), E> {
    let mut player = Player::new(video.clone(), traces.clone())?;
    for (index, trace) in traces.iter().enumerate() {
        player.begin(index, 1, None);
        controller.begin_trace();
        let mut state = State::default();
        let mut quality = FIRST_QUALITY;
        for chunk in 0..trace.len() {
            let download = player.download(quality)?;
            state.push(&download);
            let decided = controller.decide(video, &download, &state)?;
            let bitrate = BITRATES.get(decided).ok_or_else(|| {
                EnvironmentError::Action(format!("{decided} is no quality: they go from 0 to {}", QUALITIES - 1))
            })?;
            if chunk >= INCOMPLETE {
                show(&OBSERVED.map(|place| state.values()[place]), *bitrate)?;
            }
            quality = if download.ends_video() { FIRST_QUALITY } else { decided };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::Cellular;

    type Rows = Vec<([f64; OBSERVED.len()], f64)>;

    #[derive(Debug)]
    struct Fault;

    impl From<SettingError> for Fault {
        fn from(_: SettingError) -> Self {
            Fault
        }
    }

    impl From<EnvironmentError> for Fault {
        fn from(_: EnvironmentError) -> Self {
            Fault
        }
    }

    fn rows(controller: &mut dyn Controller, traces: Vec<Trace>) -> Rows {
        let mut rows = Rows::new();
        observe::<Fault>(&Arc::new(Video::reference()), &traces.into(), controller, &mut |row, bitrate| {
            rows.push((*row, bitrate));
            Ok(())
        })
        .unwrap();
        rows
    }

    fn traces() -> Vec<Trace> {
        (0..2).map(|seed| Cellular::default().generate("drive", seed).unwrap()).collect()
    }

    #[test]
    fn a_trace_gives_as_many_rows_as_it_has_points_after_the_first_eight() {
        let points: usize = traces().iter().map(Trace::len).sum();
        let rows = rows(&mut BufferBased, traces());
        assert_eq!(rows.len(), points - 16);
        assert_eq!(observed_names().len(), OBSERVED.len());
    }

    #[test]
    fn a_row_is_what_the_rule_saw_and_what_it_said() {
        for (row, bitrate) in rows(&mut BufferBased, traces()) {
            assert_eq!(BITRATES[buffer_based(row[1] * 10.0)], bitrate);
        }
    }

    #[test]
    fn histories_survive_the_end_of_a_video() {
        let names = observed_names();
        let place = |name: &str| names.iter().position(|own| own == name).unwrap();
        let (newest, before, left) = (place("download_time_1"), place("download_time_2"), place("chunks_left"));
        let rows = rows(&mut RobustMpc::default(), vec![Cellular::default().generate("drive", 3).unwrap()]);
        let restarts: Vec<usize> = (1..rows.len()).filter(|&row| rows[row].0[left] > rows[row - 1].0[left]).collect();
        assert!(!restarts.is_empty());
        for &row in &restarts {
            // The video begins again at 750 kbit/s with one chunk in the buffer, and the time before it is remembered.
            assert_eq!(rows[row].0[..2], [750.0 / 4300.0, 0.4]);
            assert_eq!(rows[row].0[before], rows[row - 1].0[newest]);
            assert!(rows[row].0[before] > 0.0);
        }
    }
}
