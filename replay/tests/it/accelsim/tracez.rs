//! `.tracez` and lists of kernels.

use crate::accelsim::{bytes, file, grouped, header};

/// A `.tracez` of one warp a thread block.
struct Tracez {
    header: String,
    /// The chunks of each warp, each of one frame.
    warps: Vec<Vec<String>>,
}

impl Tracez {
    fn new(warps: &[&[&str]]) -> Self {
        let header = header("6").replace("(48,1,1)", "(32,1,1)");
        let owned = |chunks: &&[&str]| chunks.iter().map(|chunk| (*chunk).to_owned()).collect();
        Self { header, warps: warps.iter().map(owned).collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut data = self.header.clone().into_bytes();
        data.extend([0; 9]);
        let mut index = (self.warps.len() as u32).to_le_bytes().to_vec();
        for (x, chunks) in (0u32..).zip(&self.warps) {
            let lines: Vec<_> = chunks.iter().map(|text| text.lines().count() as u32).collect();
            let counts = [lines.iter().sum(), chunks.len() as u32];
            for number in [x, 0, 0, x, 0, 0, 0, 0, 0, 0, 1].into_iter().chain(counts) {
                index.extend(number.to_le_bytes());
            }
            index.extend((data.len() as u64).to_le_bytes());
            index.extend(lines.iter().flat_map(|lines| lines.to_le_bytes()));
            data.extend(counts.into_iter().flat_map(u32::to_le_bytes));
            for chunk in chunks {
                let frame = zstd::bulk::compress(chunk.as_bytes(), 3).unwrap();
                data.extend((frame.len() as u32).to_le_bytes());
                data.extend(frame);
            }
        }
        let at = data.len() as u64;
        data.extend(index);
        data.extend(at.to_le_bytes());
        data
    }
}

const MOV: &str = "0010 ffffffff 1 R1 MOV 1 R2 0 0 0 NoVal ";
const LDG: &str = "0020 ffffffff 1 R1 LDG.E 1 R2 4 1 0x1000 4 0 0 NoVal ";

#[test]
fn frames_of_a_tracez() {
    let two = format!("{MOV}\n{LDG}");
    let trace = Tracez::new(&[&[&two, LDG], &[], &[LDG]]).bytes();
    for threads in [1, 2] {
        let trace = bytes(&trace, threads).unwrap();
        assert_eq!((trace.instructions(), trace.loads(), trace.contents().complete), (4, 3, true));
    }
    let none = bytes(&Tracez::new(&[]).bytes(), 1).unwrap();
    assert_eq!((none.instructions(), none.contents().notes.len()), (0, 1));
    // What is wrong in a frame's text has the frame's place.
    let offset = header("6").len() + 9 + 12;
    let wrong = LDG.replace(" 4 1 0x", " 4 5 0x");
    for (chunk, message) in [
        (
            format!("{MOV}\n{wrong}"),
            "line 2 of the frame's text, column 33: \"5\"; expected an address mode: 0, 1 or 2",
        ),
        (format!("{MOV}\n#END_TB"), "line 2 of the frame's text is not an instruction"),
        (format!("{MOV}\n\n{MOV}"), "line 2 of the frame's text is not an instruction"),
    ] {
        for threads in [1, 2] {
            let error = bytes(&Tracez::new(&[&[&chunk]]).bytes(), threads).map(drop).unwrap_err();
            assert_eq!(error, format!("text: byte offset {offset}: {message}"));
        }
    }
    // A line end after the last line is one line more.
    let error = bytes(&Tracez::new(&[&[&format!("{MOV}\n")]]).bytes(), 1).map(drop).unwrap_err();
    assert!(error.ends_with("line 2 of the frame's text is not an instruction"), "{error}");
    let twice = Tracez::new(&[&[MOV], &[MOV]]);
    let mut twice = twice.bytes();
    let at = twice.len() - 8 - 64;
    twice[at] = 0;
    let error = bytes(&twice, 1).map(drop).unwrap_err();
    assert!(error.ends_with(": duplicate thread block 0,0,0"), "{error}");
}

/// No part of a `.tracez` is one, and no change of a byte does harm.
#[test]
fn every_cut_and_every_changed_byte_of_a_tracez() {
    let whole = Tracez::new(&[&[MOV, LDG], &[&format!("{LDG}\n{MOV}")]]).bytes();
    let header = header("6").len();
    for end in header..whole.len() {
        let error = bytes(&whole[..end], 1).map(drop);
        // Without its byte 0 it is a text that has no instructions yet.
        assert_eq!(error.is_err(), end > header, "{end}");
    }
    for at in header + 1..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            if let Ok(trace) = bytes(&changed, 1) {
                assert_eq!(trace.instructions(), 4, "byte {at}");
            }
        }
    }
}

#[test]
fn lists_of_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("one.tracez"), Tracez::new(&[&[MOV, LDG]]).bytes()).unwrap();
    std::fs::write(path("two.traceg"), grouped("5", 0, "0010 00000000 0 MOV 0 0 0")).unwrap();
    let list = |text: &str| {
        std::fs::write(path("kernelslist.g"), text).unwrap();
        file(&path("kernelslist.g"), 2)
            .map_err(|error| error.replace(&*folder.path().to_string_lossy(), ""))
    };
    let trace = list(
        "cudaMalloc,0x1000,64\nMemcpyHtoD,0x2000,32\none.tracez\nMemcpyDtoH,0x1000,4\ncudaFree,x\n\
         two.traceg\n",
    )
    .unwrap();
    assert_eq!((trace.instructions(), trace.contents().kernels.len()), (3, 2));
    assert_eq!(trace.contents().allocations, [(0x1000, 64), (0x2000, 32)]);
    for (text, message) in [
        ("cudaMalloc,1000,64\n", "/kernelslist.g:1:1: expected `cudaMalloc,0xADDRESS,BYTES`"),
        ("MemcpyHtoD,0x1000,-1\n", "/kernelslist.g:1:1: expected `MemcpyHtoD,0xADDRESS,BYTES`"),
        (
            "one.tracez\nkernelslist.g\n",
            "/kernelslist.g:2:1: /kernelslist.g: a list of kernels inside a list of kernels; expected a \
             trace",
        ),
    ] {
        assert_eq!(list(text).map(drop).unwrap_err(), message);
    }
}
