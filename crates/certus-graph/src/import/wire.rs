//! The wire format of protocol buffers, read without copying and without trusting anything.
//!
//! A message is a sequence of fields: a key (number and wire type) and a payload. Only what ONNX uses is read:
//! varints, 32- and 64-bit values, and byte strings, which hold nested messages as well. Groups, long dead, are
//! refused. A payload is always a sub-slice of the file, so no length in a file can make the reader allocate.

use super::error::ImportError;

/// The payload of one field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Payload<'a> {
    /// A varint: integers, enumerations, Booleans.
    Varint(u64),
    /// Four bytes: a float.
    Fixed32([u8; 4]),
    /// Eight bytes: a double.
    Fixed64([u8; 8]),
    /// Bytes: a string, a nested message, or packed numbers.
    Bytes(&'a [u8]),
}

/// One field of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Field<'a> {
    pub number: u32,
    pub payload: Payload<'a>,
    part: &'static str,
}

/// Iterates over the fields of a message.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    part: &'static str,
}

impl<'a> Fields<'a> {
    /// The fields of the message in `bytes`; `part` is what error messages call it.
    pub fn new(bytes: &'a [u8], part: &'static str) -> Self {
        Fields { rest: bytes, part }
    }

    fn error(&self, message: impl Into<String>) -> ImportError {
        malformed(self.part, message)
    }

    fn varint(&mut self) -> Result<u64, ImportError> {
        let (value, rest) = read_varint(self.rest).ok_or_else(|| self.error("a number is cut off or too long"))?;
        self.rest = rest;
        Ok(value)
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], ImportError> {
        let bytes = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = bytes.ok_or_else(|| {
            let left = self.rest.len();
            self.error(format!("a field claims {length} bytes where only {left} are left"))
        })?;
        self.rest = rest;
        Ok(taken)
    }

    fn read(&mut self) -> Result<Field<'a>, ImportError> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3)
            .ok()
            .filter(|&number| number != 0)
            .ok_or_else(|| self.error(format!("a field has the impossible number {}", key >> 3)))?;
        let payload = match key & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(self.array()?),
            2 => {
                let length = self.varint()?;
                Payload::Bytes(self.take(length)?)
            }
            5 => Payload::Fixed32(self.array()?),
            kind => return Err(self.error(format!("field {number} has the unknown wire type {kind}"))),
        };
        Ok(Field { number, payload, part: self.part })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ImportError> {
        let bytes = self.take(N as u64)?;
        bytes.try_into().map_err(|_| self.error("a number is cut off"))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Field<'a> {
    fn mismatch(&self, expected: &str) -> ImportError {
        malformed(self.part, format!("field {} should hold {expected}", self.number))
    }

    /// The payload as bytes.
    pub fn bytes(&self) -> Result<&'a [u8], ImportError> {
        match self.payload {
            Payload::Bytes(bytes) => Ok(bytes),
            _ => Err(self.mismatch("bytes")),
        }
    }

    /// The payload as text.
    pub fn text(&self) -> Result<&'a str, ImportError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| self.mismatch("text in UTF-8"))
    }

    /// The payload as a signed integer (two's complement in 64 bits, as `int32` and `int64` are written).
    pub fn int(&self) -> Result<i64, ImportError> {
        match self.payload {
            Payload::Varint(value) => Ok(value as i64),
            _ => Err(self.mismatch("an integer")),
        }
    }

    /// The payload as a float.
    pub fn float(&self) -> Result<f32, ImportError> {
        match self.payload {
            Payload::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.mismatch("a float")),
        }
    }

    /// Appends the integers of a repeated field, packed or not.
    pub fn ints(&self, into: &mut Vec<i64>) -> Result<(), ImportError> {
        match self.payload {
            Payload::Varint(value) => into.push(value as i64),
            Payload::Bytes(mut rest) => {
                while !rest.is_empty() {
                    let (value, after) = read_varint(rest).ok_or_else(|| self.mismatch("whole integers"))?;
                    into.push(value as i64);
                    rest = after;
                }
            }
            _ => return Err(self.mismatch("integers")),
        }
        Ok(())
    }

    /// Appends the floats of a repeated field, packed or not.
    pub fn floats(&self, into: &mut Vec<f32>) -> Result<(), ImportError> {
        match self.payload {
            Payload::Fixed32(bytes) => into.push(f32::from_le_bytes(bytes)),
            Payload::Bytes(bytes) => {
                let (words, []) = bytes.as_chunks::<4>() else {
                    return Err(self.mismatch("whole floats"));
                };
                into.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
            }
            _ => return Err(self.mismatch("floats")),
        }
        Ok(())
    }

    /// Appends the doubles of a repeated field, packed or not.
    pub fn doubles(&self, into: &mut Vec<f64>) -> Result<(), ImportError> {
        match self.payload {
            Payload::Fixed64(bytes) => into.push(f64::from_le_bytes(bytes)),
            Payload::Bytes(bytes) => {
                let (words, []) = bytes.as_chunks::<8>() else {
                    return Err(self.mismatch("whole doubles"));
                };
                into.extend(words.iter().map(|word| f64::from_le_bytes(*word)));
            }
            _ => return Err(self.mismatch("doubles")),
        }
        Ok(())
    }
}

pub(super) fn malformed(part: &'static str, message: impl Into<String>) -> ImportError {
    ImportError::Malformed { part, message: message.into() }
}

/// Splits a varint off the front; `None` if it is cut off or longer than 64 bits.
fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        if index == 9 && bits > 1 {
            return None;
        }
        value |= bits << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<Field<'_>>, ImportError> {
        Fields::new(bytes, "a test").collect()
    }

    #[test]
    fn every_wire_type_is_read() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f];
        let fields = all(&bytes).unwrap();
        assert_eq!(fields[0].int().unwrap(), 150);
        assert_eq!(fields[1].text().unwrap(), "hi");
        assert_eq!(fields[2].float().unwrap(), 1.0);
    }

    #[test]
    fn negative_integers_take_ten_bytes() {
        let bytes = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(all(&bytes).unwrap()[0].int().unwrap(), -1);
        let mut too_long = bytes;
        too_long[10] = 0x02;
        assert!(all(&too_long).is_err());
    }

    #[test]
    fn lengths_beyond_the_message_are_refused() {
        let error = all(&[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 1]).unwrap_err().to_string();
        assert!(error.contains("claims 4294967295 bytes where only 1"), "{error}");
    }

    #[test]
    fn groups_and_field_zero_are_refused() {
        assert!(all(&[0x0b]).is_err());
        assert!(all(&[0x00, 0x00]).is_err());
    }

    #[test]
    fn packed_and_single_numbers_are_the_same() {
        let packed = [0x0a, 3, 1, 0x80, 0x01];
        let single = [0x08, 1, 0x08, 0x80, 0x01];
        let collect = |bytes: &[u8]| {
            let mut ints = Vec::new();
            for field in all(bytes).unwrap() {
                field.ints(&mut ints).unwrap();
            }
            ints
        };
        assert_eq!(collect(&packed), [1, 128]);
        assert_eq!(collect(&single), [1, 128]);
    }
}
