//! Launches of kernels and what they leave, as files: shared by the tests of PTX and of machine code.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value;

/// How far results of approximate instructions may be from the host's.
pub(crate) struct Tolerance {
    kind: String,
    relative: f64,
    absolute: f64,
}

impl Tolerance {
    pub(crate) fn of(value: &Value, index: &str) -> Option<Self> {
        let one = if value.get("type").is_some() { value } else { value.get(index)? };
        let number = |key| one.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        let kind = one.get("type")?.as_str()?.to_owned();
        Some(Self { kind, relative: number("relative"), absolute: number("absolute") })
    }

    fn values(&self, bytes: &[u8]) -> Vec<f64> {
        match self.kind.as_str() {
            "f64" => bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
            "f32" => {
                bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect()
            }
            other => panic!("no tolerance of {other}"),
        }
    }
}

/// The first difference of a buffer from the expected one.
pub(crate) fn difference(
    got: &[u8],
    expected: &[u8],
    tolerance: Option<&Tolerance>,
) -> Option<String> {
    let Some(tolerance) = tolerance else {
        let at = got.iter().zip(expected).position(|(a, b)| a != b)?;
        let word = at / 4 * 4..(at / 4 * 4 + 4).min(got.len());
        let (got, expected) = (&got[word.clone()], &expected[word.clone()]);
        return Some(format!("word at {}: {got:x?}, expected {expected:x?}", word.start));
    };
    let pairs = tolerance.values(got).into_iter().zip(tolerance.values(expected));
    let mut wrong = pairs.enumerate().filter(|(_, (a, b))| {
        let is_equal = a == b || a.is_nan() && b.is_nan();
        let is_near = (a - b).abs() <= tolerance.relative * b.abs() + tolerance.absolute;
        !is_equal && !is_near
    });
    wrong.next().map(|(at, (a, b))| format!("element {at}: {a}, expected {b}"))
}

pub(crate) fn bytes_of_hex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

pub(crate) fn sizes(value: &Value) -> [u32; 3] {
    let sizes: Vec<u32> = value
        .as_array()
        .expect("sizes")
        .iter()
        .map(|size| size.as_u64().expect("a size") as u32)
        .collect();
    sizes.try_into().expect("three sizes")
}

/// Files by their names, `kernel/launch.json`.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Unpacks an archive.
pub(crate) fn files(packed: &[u8]) -> Files {
    let mut archive = tar::Archive::new(liblzma::read::XzDecoder::new(packed));
    let entries = archive.entries().expect("an archive").map(|entry| {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("bytes");
        (name, bytes)
    });
    entries.collect()
}
