//! Videos: how many bytes each chunk has at each bitrate.

use crate::SettingError;

/// Bitrates on offer.
pub const QUALITIES: usize = 6;
/// The bitrates, kbit/s.
pub const BITRATES: [f64; QUALITIES] = [300.0, 750.0, 1200.0, 1850.0, 2850.0, 4300.0];
/// Seconds that a chunk plays.
pub const CHUNK_SECONDS: f64 = 4.0;

/// A video: a table of sizes, of which the first rows are played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Video {
    sizes: Vec<[u32; QUALITIES]>,
    chunks: usize,
}

impl Video {
    /// The reference video of Pensieve's authors: 48 chunks. The table has a 49th row, the short rest of the video,
    /// which is never played; only the look-ahead of [`super::reference::RobustMpc`] reads it.
    pub fn reference() -> Video {
        Video { sizes: REFERENCE.to_vec(), chunks: REFERENCE.len() - 1 }
    }

    /// A video of so many chunks with the given sizes (bytes). Rows beyond the last chunk are read by look-aheads only.
    pub fn new(sizes: Vec<[u32; QUALITIES]>, chunks: usize) -> Result<Video, SettingError> {
        if chunks == 0 || chunks > sizes.len() {
            let message = format!("is {chunks}, but must be from 1 to the {} rows of the table", sizes.len());
            return Err(SettingError::new("chunks", message));
        }
        if let Some(row) = sizes.iter().position(|row| row.contains(&0)) {
            return Err(SettingError::new("sizes", format!("has an empty chunk in row {row}")));
        }
        Ok(Video { sizes, chunks })
    }

    /// How many chunks are played.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// The sizes of a chunk, bytes; zeros beyond the table.
    pub fn sizes(&self, chunk: usize) -> [f64; QUALITIES] {
        self.sizes.get(chunk).map_or([0.0; QUALITIES], |row| row.map(f64::from))
    }
}

/// Bytes per chunk (rows) and bitrate (columns) of the reference video of H. Mao, R. Netravali, M. Alizadeh, *Neural
/// Adaptive Video Streaming with Pensieve*, SIGCOMM 2017 (GitHub `hongzimao/pensieve`, MIT).
#[rustfmt::skip]
const REFERENCE: [[u32; QUALITIES]; 49] = [
    [181_801, 450_283, 668_286, 1_034_108, 1_728_879, 2_354_772],
    [155_580, 398_865, 611_087, 957_685, 1_431_809, 2_123_065],
    [139_857, 350_812, 571_051, 877_771, 1_300_868, 2_177_073],
    [155_432, 382_355, 617_681, 933_276, 1_520_281, 2_160_877],
    [163_442, 411_561, 652_874, 996_749, 1_472_558, 2_233_056],
    [126_289, 318_564, 520_315, 801_058, 1_224_260, 1_941_625],
    [153_295, 352_642, 561_791, 905_515, 1_388_403, 2_157_535],
    [173_849, 437_162, 709_534, 1_060_487, 1_638_769, 2_290_172],
    [150_710, 374_758, 584_846, 852_833, 1_348_011, 2_055_469],
    [139_105, 362_795, 560_821, 913_888, 1_429_765, 2_169_201],
    [141_840, 353_220, 607_410, 939_819, 1_354_548, 2_173_522],
    [156_148, 405_134, 594_078, 917_428, 1_519_951, 2_102_452],
    [160_746, 386_351, 624_282, 946_851, 1_422_919, 2_209_463],
    [179_801, 434_409, 687_371, 1_036_454, 1_578_343, 2_275_376],
    [140_051, 337_059, 526_950, 821_631, 1_231_445, 2_005_399],
    [138_313, 366_214, 587_876, 923_170, 1_471_065, 2_152_483],
    [143_509, 360_831, 617_242, 966_699, 1_491_626, 2_289_689],
    [150_616, 372_963, 581_493, 885_714, 1_358_801, 2_059_512],
    [165_384, 405_596, 639_204, 987_708, 1_537_156, 2_220_726],
    [140_881, 350_713, 586_839, 923_755, 1_336_050, 2_156_729],
    [157_671, 386_472, 601_738, 891_604, 1_415_116, 2_039_773],
    [157_812, 399_894, 616_206, 955_231, 1_468_126, 2_176_469],
    [163_927, 401_853, 656_471, 968_026, 1_505_760, 2_221_506],
    [137_654, 343_800, 536_667, 874_175, 1_323_990, 2_044_075],
    [146_754, 359_903, 587_236, 897_976, 1_383_735, 2_186_790],
    [153_938, 379_700, 590_335, 905_935, 1_480_464, 2_105_231],
    [181_901, 425_781, 696_376, 1_076_599, 1_547_572, 2_395_588],
    [111_155, 277_716, 487_160, 758_197, 1_141_971, 1_972_048],
    [153_605, 400_396, 622_896, 972_798, 1_498_470, 2_134_614],
    [149_029, 400_508, 641_447, 975_811, 1_561_263, 2_164_140],
    [157_421, 358_218, 570_392, 873_429, 1_341_201, 2_113_193],
    [157_488, 400_322, 620_283, 954_453, 1_497_683, 2_147_852],
    [143_881, 369_834, 584_349, 885_062, 1_358_081, 2_191_074],
    [163_444, 412_837, 670_129, 1_035_329, 1_587_293, 2_286_761],
    [179_328, 401_088, 690_253, 1_026_056, 1_492_672, 2_307_787],
    [159_914, 365_161, 598_727, 943_942, 1_439_896, 2_143_948],
    [131_610, 321_064, 487_812, 728_962, 1_139_291, 1_919_781],
    [124_011, 361_565, 575_591, 938_587, 1_499_009, 2_147_467],
    [144_254, 378_327, 605_884, 908_665, 1_427_478, 2_133_870],
    [149_991, 390_680, 587_506, 930_577, 1_402_287, 2_146_120],
    [147_968, 345_516, 566_904, 858_450, 1_339_500, 2_108_491],
    [161_857, 384_505, 641_452, 1_025_005, 1_527_299, 2_184_571],
    [145_210, 372_093, 599_477, 886_255, 1_343_002, 2_121_928],
    [172_312, 438_281, 634_861, 973_972, 1_587_250, 2_219_102],
    [167_025, 398_987, 630_203, 958_994, 1_464_921, 2_124_950],
    [160_064, 393_804, 638_661, 982_064, 1_483_527, 2_246_506],
    [137_507, 331_053, 538_612, 830_730, 1_231_456, 1_961_140],
    [118_421, 314_107, 550_906, 846_370, 1_364_537, 2_155_012],
    [112_270, 255_954, 391_450, 598_850, 889_412, 1_433_658],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_48_chunks_and_a_rest() {
        let video = Video::reference();
        assert_eq!(video.chunks(), 48);
        assert_eq!(video.sizes(0), [181_801.0, 450_283.0, 668_286.0, 1_034_108.0, 1_728_879.0, 2_354_772.0]);
        assert_eq!(video.sizes(48)[5], 1_433_658.0);
        assert_eq!(video.sizes(49), [0.0; 6]);
        assert!((0..49).all(|chunk| video.sizes(chunk).is_sorted()));
    }

    #[test]
    fn senseless_videos_are_refused() {
        assert!(Video::new(vec![], 0).is_err());
        assert!(Video::new(vec![[1; 6]], 2).is_err());
        assert!(Video::new(vec![[1, 1, 0, 1, 1, 1]], 1).is_err());
        assert!(Video::new(vec![[1; 6]; 2], 1).is_ok());
    }
}
