//! From stored tensors to literals: element types, the three places where data may stand, and external files.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use super::error::ImportError;
use super::limits::{MAX_RANK, MAX_WEIGHTS};
use super::literal::{Kind, Literal};
use super::proto::TensorProto;

/// An ONNX element type that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Float32,
    Float64,
    Float16,
    Bfloat16,
    Bool,
    Signed(usize),
    Unsigned(usize),
}

impl Element {
    fn of(data_type: i64) -> Result<Self, String> {
        Ok(match data_type {
            1 => Element::Float32,
            2 => Element::Unsigned(1),
            3 => Element::Signed(1),
            4 => Element::Unsigned(2),
            5 => Element::Signed(2),
            6 => Element::Signed(4),
            7 => Element::Signed(8),
            9 => Element::Bool,
            10 => Element::Float16,
            11 => Element::Float64,
            12 => Element::Unsigned(4),
            13 => Element::Unsigned(8),
            16 => Element::Bfloat16,
            other => return Err(format!("its element type, {}, is not supported", type_name(other))),
        })
    }

    fn kind(self) -> Kind {
        match self {
            Element::Float32 | Element::Float64 | Element::Float16 | Element::Bfloat16 => Kind::Float,
            Element::Bool => Kind::Bool,
            Element::Signed(_) | Element::Unsigned(_) => Kind::Int,
        }
    }

    fn width(self) -> usize {
        match self {
            Element::Bool => 1,
            Element::Float16 | Element::Bfloat16 => 2,
            Element::Float32 => 4,
            Element::Float64 => 8,
            Element::Signed(width) | Element::Unsigned(width) => width,
        }
    }

    /// Reads one element from its little-endian bytes.
    fn read(self, bytes: &[u8]) -> f64 {
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Element::Float32 => f64::from(f32::from_bits(bits as u32)),
            Element::Float64 => f64::from_bits(bits),
            Element::Float16 => half_to_double(bits as u16),
            Element::Bfloat16 => f64::from(f32::from_bits((bits as u32) << 16)),
            Element::Bool => f64::from(u8::from(bits != 0)),
            Element::Unsigned(_) => bits as f64,
            Element::Signed(width) => {
                let shift = 64 - 8 * width as u32;
                ((bits << shift) as i64 >> shift) as f64
            }
        }
    }

    /// Converts an element of the integer fields, which also hold the bits of 16-bit floats.
    fn convert(self, value: i64) -> f64 {
        match self {
            Element::Float16 => half_to_double(value as u16),
            Element::Bfloat16 => f64::from(f32::from_bits(u32::from(value as u16) << 16)),
            Element::Bool => f64::from(u8::from(value != 0)),
            Element::Unsigned(8) => value as u64 as f64,
            _ => value as f64,
        }
    }
}

/// The kind of an element type, or why it cannot be had.
pub(super) fn kind_of(data_type: i64) -> Result<Kind, String> {
    Element::of(data_type).map(Element::kind)
}

/// The name ONNX gives to an element type.
pub(super) fn type_name(data_type: i64) -> String {
    const NAMES: [&str; 17] = [
        "undefined",
        "float32",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "string",
        "bool",
        "float16",
        "float64",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
    ];
    let known = usize::try_from(data_type).ok().and_then(|index| NAMES.get(index));
    known.map_or_else(|| format!("number {data_type}"), |name| (*name).to_owned())
}

/// Decodes a stored tensor. `name` is what messages call it; `base_dir` is where external data may stand;
/// `allowance` is how many elements the model may still have.
pub(super) fn decode_tensor(
    tensor: &TensorProto<'_>,
    name: &str,
    base_dir: Option<&Path>,
    allowance: &mut usize,
) -> Result<Literal, ImportError> {
    let fail = |message: String| ImportError::tensor(name, message);
    let element = Element::of(tensor.data_type).map_err(fail)?;
    let (shape, count) = stored_shape(&tensor.dims).map_err(fail)?;
    *allowance = allowance.checked_sub(count).ok_or_else(|| {
        ImportError::Limit(format!("the weights up to tensor `{name}` have more than {MAX_WEIGHTS} elements"))
    })?;
    let data = if tensor.is_external {
        let bytes = read_external(tensor, count * element.width(), base_dir).map_err(fail)?;
        from_raw(element, &bytes)
    } else if let Some(raw) = tensor.raw {
        if raw.len() != count * element.width() {
            let expected = count * element.width();
            return Err(fail(format!("shape {shape:?} takes {expected} bytes, but {} are stored", raw.len())));
        }
        from_raw(element, raw)
    } else {
        from_typed(element, tensor)
    };
    if data.len() != count {
        return Err(fail(format!("shape {shape:?} takes {count} elements, but {} are stored", data.len())));
    }
    Ok(Literal { kind: element.kind(), shape, data })
}

fn stored_shape(dims: &[i64]) -> Result<(Vec<usize>, usize), String> {
    if dims.len() > MAX_RANK {
        return Err(format!("it has {} axes, more than {MAX_RANK}", dims.len()));
    }
    let shape: Option<Vec<usize>> =
        dims.iter().map(|&dim| usize::try_from(dim).ok().filter(|&extent| extent <= MAX_WEIGHTS)).collect();
    let shape = shape.ok_or_else(|| format!("its shape {dims:?} is negative or beyond {MAX_WEIGHTS}"))?;
    let count = shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
    let count = count
        .filter(|&count| count <= MAX_WEIGHTS)
        .ok_or_else(|| format!("its shape {dims:?} has more than {MAX_WEIGHTS} elements"))?;
    Ok((shape, count))
}

fn from_raw(element: Element, bytes: &[u8]) -> Vec<f64> {
    match element {
        Element::Float32 => {
            let (words, _) = bytes.as_chunks::<4>();
            words.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect()
        }
        _ => bytes.chunks_exact(element.width()).map(|chunk| element.read(chunk)).collect(),
    }
}

fn from_typed(element: Element, tensor: &TensorProto<'_>) -> Vec<f64> {
    match element {
        Element::Float32 => tensor.floats.iter().map(|&value| f64::from(value)).collect(),
        Element::Float64 => tensor.doubles.clone(),
        _ => tensor.ints.iter().map(|&value| element.convert(value)).collect(),
    }
}

/// IEEE half precision, exactly.
fn half_to_double(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// Reads `expected` bytes from the file that an external tensor names, which must lie in the model's folder.
fn read_external(tensor: &TensorProto<'_>, expected: usize, base_dir: Option<&Path>) -> Result<Vec<u8>, String> {
    let base_dir = base_dir.ok_or("its data stands in another file, and the model's folder is not known")?;
    let entry = |key: &str| tensor.external.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let number = |key: &str| match entry(key) {
        None => Ok(None),
        Some(text) => text
            .trim()
            .parse::<u64>()
            .map(Some)
            .map_err(|_| format!("its external data has the {key} `{text}`, which is no number")),
    };
    let location = entry("location").ok_or("its data stands in another file that is not named")?;
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
    if length.is_some_and(|length| length != expected as u64) {
        let length = length.unwrap_or_default();
        return Err(format!("its shape takes {expected} bytes, but its external data has {length}"));
    }
    let path = external_path(location, base_dir)?;
    let broken = |error: std::io::Error| format!("its external data `{location}` cannot be read: {error}");
    let mut file = File::open(path).map_err(broken)?;
    let size = file.metadata().map_err(broken)?.len();
    if offset.checked_add(expected as u64).is_none_or(|end| end > size) {
        return Err(format!(
            "its external data is bytes {offset} to {offset}+{expected} of `{location}`, which has only {size}"
        ));
    }
    let mut bytes = vec![0; expected];
    file.seek(SeekFrom::Start(offset)).map_err(broken)?;
    file.read_exact(&mut bytes).map_err(broken)?;
    Ok(bytes)
}

/// Resolves an external location; whatever leads out of the model's folder, links included, is refused.
fn external_path(location: &str, base_dir: &Path) -> Result<PathBuf, String> {
    let outside = || format!("its external data `{location}` lies outside of the model's folder, which is refused");
    let relative = Path::new(location);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if location.is_empty() || !relative.components().all(is_plain) {
        return Err(outside());
    }
    let base_dir = if base_dir.as_os_str().is_empty() { Path::new(".") } else { base_dir };
    let missing = |error: std::io::Error| {
        format!("its external data `{location}` is not beside the model ({error}); copy both files together")
    };
    let folder = base_dir.canonicalize().map_err(missing)?;
    let path = folder.join(relative).canonicalize().map_err(missing)?;
    if path.starts_with(&folder) && path.is_file() { Ok(path) } else { Err(outside()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(tensor: &TensorProto<'_>) -> Result<Literal, ImportError> {
        let mut allowance = MAX_WEIGHTS;
        decode_tensor(tensor, "w", None, &mut allowance)
    }

    #[test]
    fn halves_are_exact() {
        assert_eq!(half_to_double(0x3c00), 1.0);
        assert_eq!(half_to_double(0xc000), -2.0);
        assert_eq!(half_to_double(0x0001), 2f64.powi(-24));
        assert_eq!(half_to_double(0x7bff), 65504.0);
        assert!(half_to_double(0x7c01).is_nan());
    }

    #[test]
    fn signed_bytes_keep_their_sign() {
        let tensor = TensorProto { dims: vec![3], data_type: 3, raw: Some(&[0xff, 0x80, 0x7f]), ..Default::default() };
        assert_eq!(decode(&tensor).unwrap().data, [-1.0, -128.0, 127.0]);
    }

    #[test]
    fn claimed_gigabytes_are_not_allocated() {
        let tensor =
            TensorProto { dims: vec![1 << 20, 1 << 7], data_type: 1, raw: Some(&[0; 4]), ..Default::default() };
        let error = decode(&tensor).unwrap_err().to_string();
        assert!(error.contains("takes 536870912 bytes, but 4 are stored"), "{error}");
        let overflow = TensorProto { dims: vec![1 << 27; 5], data_type: 1, ..Default::default() };
        assert!(decode(&overflow).unwrap_err().to_string().contains("more than"));
        let negative = TensorProto { dims: vec![-1], data_type: 1, ..Default::default() };
        assert!(decode(&negative).is_err());
    }

    #[test]
    fn external_paths_stay_in_the_folder() {
        let folder = std::env::temp_dir();
        for location in ["../x", "/etc/hostname", "", "a/../../x"] {
            let error = external_path(location, &folder).unwrap_err();
            assert!(error.contains("outside"), "{location}: {error}");
        }
        assert!(external_path("no-such-file.bin", &folder).unwrap_err().contains("beside the model"));
    }
}
