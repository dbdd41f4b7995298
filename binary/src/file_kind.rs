//! [`FileKind`]: the kind of a file by its first bytes, so that a reader can name an unexpected one and the command that
//! reads it. Readers check the magics of their own formats themselves, such as a container's and a binary trace's.

use std::fmt;

use crate::lines::without_mark;

/// A format that a file can have instead of the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// An ELF file: a program, library or object of the host, or a cubin.
    Elf,
    /// An ELF file for a GPU.
    Cubin,
    /// A CUDA fatbin.
    Fatbin,
    /// An archive of objects, `.a` or `.lib`.
    Archive,
    /// An object of Windows, `.obj`.
    Coff,
    /// A program or library of Windows.
    Pe,
    /// Compressed by gzip.
    Gzip,
    /// Compressed by zstd.
    Zstd,
    /// Compressed by bzip2.
    Bzip2,
    /// Compressed by xz.
    Xz,
    /// A ZIP archive.
    Zip,
    /// An archive of log lines by CLP, `.clp`.
    Clp,
    /// Text in UTF-16, as some shells redirect it.
    Utf16,
    /// A binary trace of this library.
    BinaryTrace,
    /// A configuration of GPGPU-Sim or Accel-Sim: `trace.config`, `gpgpusim.config`.
    SimulatorConfig,
    /// A module of PTX.
    Ptx,
    /// The disassembly of cuobjdump or nvdisasm.
    Listing,
    /// The summary of a replay, in JSON.
    Summary,
    /// The summary of a shard of a replay.
    ShardSummary,
    /// A suite's cases or test vectors, in JSON.
    Cases,
    /// The description of a memory image, in JSON.
    Manifest,
}

use FileKind::{
    Archive, BinaryTrace, Bzip2, Cases, Clp, Coff, Cubin, Elf, Fatbin, Gzip, Listing, Manifest, Pe,
    Ptx, ShardSummary, SimulatorConfig, Summary, Utf16, Xz, Zip, Zstd,
};

/// The first bytes of each kind. [`FileKind::detect`] checks more of a file after a short magic.
const MAGICS: [(&[u8], FileKind); 24] = [
    (b"\x7fELF", Elf),
    // 0xba55ed50, little-endian.
    (b"\x50\xed\x55\xba", Fatbin),
    (b"!<arch>\n", Archive),
    (b"!<thin>\n", Archive),
    // x86-64, x86, ARM64, and the form for many sections.
    (b"\x64\x86", Coff),
    (b"\x4c\x01", Coff),
    (b"\x64\xaa", Coff),
    (b"\0\0\xff\xff", Coff),
    (b"MZ", Pe),
    // Deflate is the only method.
    (b"\x1f\x8b\x08", Gzip),
    (b"\x28\xb5\x2f\xfd", Zstd),
    (SKIPPABLE, Zstd),
    (b"BZh", Bzip2),
    (b"\xfd7zXZ\0", Xz),
    (b"PK\x03\x04", Zip),
    // An empty archive.
    (b"PK\x05\x06", Zip),
    (b"\xfd\x2f\xc5\x30", Clp),
    (b"\xff\xfe", Utf16),
    (b"\xfe\xff", Utf16),
    (b"WARPLOAD", BinaryTrace),
    (b"-trace_", SimulatorConfig),
    (b"-gpgpu_", SimulatorConfig),
    (b"-icnt_", SimulatorConfig),
    (b"-network_", SimulatorConfig),
];

/// The magic of a skippable frame of zstd, because some tools begin a file with one. The low half of the first byte is
/// arbitrary.
const SKIPPABLE: &[u8] = b"\x50\x2a\x4d\x18";

/// Whether `start` begins with `magic`.
fn begins_with(magic: &[u8], start: &[u8]) -> bool {
    let free = if magic == SKIPPABLE { 0x0f } else { 0 };
    let first = start.first().is_some_and(|byte| magic[0] == *byte & !free);
    first && start[1..].starts_with(&magic[1..])
}

impl FileKind {
    /// The maximum number of bytes of a file that [`Self::detect`] inspects.
    pub const DETECT_BYTES: usize = 20;

    /// Returns the kind of the file that begins with `start`, or `None` if it is not one of
    /// these. Ignores bytes after the first [`Self::DETECT_BYTES`].
    #[must_use]
    pub fn detect(start: &[u8]) -> Option<Self> {
        let start = &start[..start.len().min(Self::DETECT_BYTES)];
        let is_zero = |range: std::ops::Range<usize>| {
            start.get(range).is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
        };
        let begins = |(magic, kind): &&(&[u8], FileKind)| {
            begins_with(magic, start)
                && match kind {
                    // An object has no optional header.
                    Coff if magic.len() == 2 => is_zero(16..18),
                    // Prose can begin with `MZ` or `BZh`.
                    Pe => start.contains(&0),
                    Bzip2 => start.get(4..10).is_some_and(|block| block == b"1AY&SY"),
                    _ => true,
                }
        };
        MAGICS.iter().find(begins).map(|(_, kind)| *kind)
    }

    /// Returns the kind of the file that begins with `start`, which can be a text that readers of other texts should
    /// refuse. 4096 bytes of `start` are enough. `None` for other files, traces in text among them.
    #[must_use]
    pub fn recognize(start: &[u8]) -> Option<Self> {
        match Self::detect(start) {
            // The machine of NVIDIA's GPUs, 190, in either place of its versions.
            Some(Elf) if start.get(18..20) == Some(b"\xbe\0") => Some(Cubin),
            Some(kind) => Some(kind),
            None => {
                let text = after_comments(without_mark(start));
                Self::detect(text).or_else(|| of_text(text))
            }
        }
    }

    /// Returns a message for a reader of something else: `a cubin, not a trace: …`.
    #[must_use]
    pub fn instead_of(self, expected: &str) -> String {
        format!("{}, not {expected}: {}", self.name(), self.advice())
    }

    /// Returns whether a file that begins with `start` can hold GPU code: it is of a kind that can, or of unknown kind
    /// with a NUL in `start`, because code is not text. 4096 bytes of `start` are enough.
    #[must_use]
    pub fn may_hold_code(start: &[u8]) -> bool {
        match Self::detect(start) {
            Some(kind) => matches!(kind, Archive | Coff | Elf | Fatbin | Pe),
            None => start.contains(&0),
        }
    }

    /// Returns the length of the kind's shortest magic in bits, as a measure of how certain a match is.
    #[must_use]
    pub fn magic_bits(self) -> usize {
        let magics = MAGICS.iter().filter(|(_, kind)| *kind == self);
        magics.map(|(magic, _)| 8 * magic.len()).min().unwrap_or_default()
    }

    /// Returns the name of the kind with an article, `a gzip file`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns advice on such a file, for the end of a message.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        const IN_IT: &str = "`warpload decode` reads the cubins in it";
        match self {
            Self::Elf => ("an ELF file", "`warpload decode` reads cubins"),
            Self::Cubin => ("a cubin", "`warpload decode` reads it"),
            Self::Fatbin => ("a CUDA fatbin", IN_IT),
            Self::Archive => ("an archive of objects (`.a`, `.lib`)", IN_IT),
            Self::Coff => ("a COFF object (`.obj`)", IN_IT),
            Self::Pe => ("a Windows program or library", IN_IT),
            Self::Gzip => ("a gzip file", "decompress it with `gzip -d`"),
            Self::Zstd => ("a zstd file", "decompress it with `zstd -d`"),
            Self::Bzip2 => ("a bzip2 file", "decompress it with `bzip2 -d`"),
            Self::Xz => ("an xz file", "decompress it with `xz -d`"),
            Self::Zip => ("a ZIP archive", "extract its files with `unzip`"),
            Self::Clp => ("a CLP archive", "extract its lines with `clp-s x`"),
            Self::Utf16 => {
                ("a text in UTF-16", "convert it to UTF-8 with `iconv -f UTF-16 -t UTF-8`")
            }
            Self::BinaryTrace => {
                ("a binary trace of warpload", "`warpload show` and `warpload replay` read it")
            }
            Self::SimulatorConfig => (
                "a configuration of GPGPU-Sim or Accel-Sim",
                "pass the traces that its simulator reads with it",
            ),
            Self::Ptx => ("PTX", "`warpload ptx check` and `warpload ptx run` read it"),
            Self::Listing => ("a SASS listing", "`warpload decode` reads it"),
            Self::Summary => {
                ("the summary of a replay", "`warpload show` and `warpload compare` read it")
            }
            Self::ShardSummary => ("the summary of a shard", "`warpload merge` reads it"),
            Self::Manifest => {
                ("the manifest of a memory image", "`--image` and `warpload show` read it")
            }
            Self::Cases => ("a suite or test vectors", "`warpload conform` reads them"),
        }
    }
}

/// The kind of a text that begins with `start`, without comments.
fn of_text(start: &[u8]) -> Option<FileKind> {
    let begins = |word: &str| start.starts_with(word.as_bytes());
    if begins(".version") {
        return Some(Ptx);
    }
    if begins("code for sm_") || begins("Fatbin elf code:") || begins(".headerflags") {
        return Some(Listing);
    }
    let line = start.split(|byte| *byte == b'\n').next().filter(|line| line.starts_with(b"{"))?;
    // Split at quotation marks, the first key of an object is the second part.
    let mut parts = line.split(|byte| *byte == b'"').skip(1);
    let (key, value) = (parts.next()?, parts.next()?.trim_ascii_start());
    let value = value.strip_prefix(b":")?.trim_ascii_start();
    let has = |key: &[u8]| line.windows(key.len()).any(|part| part == key);
    match key {
        b"shard" if value.starts_with(b"{") => Some(ShardSummary),
        b"instructions" if value.first().is_some_and(u8::is_ascii_digit) => Some(Summary),
        b"address_bits" | b"global" | b"windows" => Some(Manifest),
        _ if has(b"\"family\":") || has(b"\"initial\":") => Some(Cases),
        _ => None,
    }
}

/// Skips the white space and the comments at the beginning of a text: PTX and configurations may begin with comments.
fn after_comments(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii_start();
    while text.starts_with(b"//") || text.starts_with(b"#") {
        let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        text = text[end..].trim_ascii_start();
    }
    text
}

/// `a gzip file; decompress it with …`
impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.name(), self.advice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        for (start, kind) in [
            (&b"\x7fELF\x02"[..], Some(Elf)),
            (b"!<arch>\n/               0", Some(Archive)),
            (b"\xfd\x2f\xc5\x30\0\0\x04\0", Some(Clp)),
            (b"\x64\x86\x09\0\x12\x34\x56\x67\0\x10\0\0\x20\0\0\0\0\0\0\0.drectve", Some(Coff)),
            (b"\x64\x86\x09\0\x12\x34\x56\x67\0\x10\0\0\x20\0\0\0\x70\0\0\0", None),
            (b"\0\0\xff\xff\x02\0\x64\x86", Some(Coff)),
            (b"MZ\x90\0\x03", Some(Pe)),
            (b"MZ is how it begins.", None),
            // Only the first bytes count, however many there are.
            (b"MZ is how it begins.\0", None),
            (b"\x1f\x8b\x08\0", Some(Gzip)),
            (b"\x28\xb5\x2f\xfd\x04", Some(Zstd)),
            (b"\x50\x2a\x4d\x18\x04\0\0\0", Some(Zstd)),
            (b"\x5f\x2a\x4d\x18\x04\0\0\0", Some(Zstd)),
            (b"\x60\x2a\x4d\x18\x04\0\0\0", None),
            (b"BZh91AY&SY\x01", Some(Bzip2)),
            (b"BZh is prose", None),
            (b"\xfd7zXZ\0\0\x04", Some(Xz)),
            (b"PK\x03\x04\x14", Some(Zip)),
            (b"\xff\xfeL\0", Some(Utf16)),
            (b"WARPLOAD\x02\0\0\0", Some(BinaryTrace)),
            (b"-trace_opcode_latency_initiation_int 4,2", Some(SimulatorConfig)),
            (b"-gpgpu_n_clusters 80", Some(SimulatorConfig)),
            (b"-kernel name = k", None),
            (b"WARPLOA", None),
            (b"code for sm_50", None),
            (b"", None),
        ] {
            assert_eq!(FileKind::detect(start), kind, "{start:?}");
        }
    }

    #[test]
    fn texts_are_told_by_their_first_words() {
        for (start, kind) in [
            (&b"\x7fELF\x02\x01\x01\x33\x07\0\0\0\0\0\0\0\x02\0\xbe\0\x77"[..], Some(Cubin)),
            (b"\x7fELF\x02", Some(Elf)),
            (b"//\n// Generated\n\n.version 8.8\n", Some(Ptx)),
            (b"\xef\xbb\xbf.version 8.8\n", Some(Ptx)),
            (b"\tcode for sm_50\n", Some(Listing)),
            (b"# sizes\n-gpgpu_n_clusters 80\n", Some(SimulatorConfig)),
            (b"{\"shard\":{\"replay\":", Some(ShardSummary)),
            (b"{ \"instructions\" : 624,", Some(Summary)),
            (b"{\"instructions\":{\"0\":", None),
            (b"{\"id\":\"a\",\"family\":\"decode\"}\n", Some(Cases)),
            (b"{\"name\":\"a\",\"initial\":{}}\n", Some(Cases)),
            (b"{\"global\": []}", Some(Manifest)),
            (b"{\"a", None),
            (b"prose", None),
            (b"//", None),
        ] {
            assert_eq!(FileKind::recognize(start), kind, "{start:?}");
        }
    }

    #[test]
    fn few_bytes_are_enough() {
        let longest = MAGICS.iter().map(|(magic, _)| magic.len()).max();
        assert!(longest < Some(FileKind::DETECT_BYTES));
    }
}
