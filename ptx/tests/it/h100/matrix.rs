//! Dense `mma` and `wmma`, compared with the answers of an H100.

use std::collections::BTreeMap;

use serde_json::Value;
use warpload_ptx::launch::KernelLaunch;

use super::unpacked;
use crate::machine::launch;

/// Elements of D that are equal, and all, by family and types; of `m8n8k4`, in every lane that holds them. Sums are exact
/// in ascending k here, as docs/ptx-kernels.md says. An H100 truncates the terms of a step at the largest one, which these
/// cases were chosen to show. Integers, bits and f64 are equal everywhere.
const FLOATS: &[(&str, usize, usize)] = &[
    ("mma f16.e4m3.e4m3.f16", 1195, 1600),
    ("mma f16.e4m3.e5m2.f16", 1179, 1600),
    ("mma f16.e5m2.e4m3.f16", 1198, 1600),
    ("mma f16.e5m2.e5m2.f16", 1160, 1600),
    ("mma f16.f16.f16.f16", 3865, 4800),
    ("mma f32.bf16.bf16.f32", 1134, 1600),
    ("mma f32.e4m3.e4m3.f32", 1222, 1600),
    ("mma f32.e4m3.e5m2.f32", 1091, 1600),
    ("mma f32.e5m2.e4m3.f32", 1207, 1600),
    ("mma f32.e5m2.e5m2.f32", 1079, 1600),
    ("mma f32.f16.f16.f16", 3032, 3200),
    ("mma f32.f16.f16.f32", 3939, 4800),
    ("mma f32.tf32.tf32.f32", 1159, 1600),
    ("wmma f16.f16.f16.f16", 1501, 2016),
    ("wmma f16.f16.f16.f32", 1604, 2016),
    ("wmma f32.bf16.bf16.f32", 1444, 2016),
    ("wmma f32.f16.f16.f16", 1517, 2016),
    ("wmma f32.f16.f16.f32", 1441, 2016),
    ("wmma f32.tf32.tf32.f32", 402, 576),
];

struct Case {
    instruction: String,
    is_wmma: bool,
    size: [usize; 3],
    /// Of D, A, B and C.
    types: [String; 4],
    /// A, B and C; rows that are not listed are zeros.
    sources: [Vec<Vec<u64>>; 3],
    /// The first rows of D.
    measured: Vec<Vec<u64>>,
}

fn cases() -> Vec<Case> {
    let file = String::from_utf8(unpacked(include_bytes!("../../h100/matrix.jsonl.xz"))).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let matrix = |value: &Value| -> Vec<Vec<u64>> {
        let row = |row: &Value| {
            let words = row.as_str().unwrap().split(' ');
            words.map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
        };
        value.as_array().unwrap().iter().map(row).collect()
    };
    file.lines()
        .filter(|line| !line.contains("\"wgmma\"") && !line.contains("mma.sp::"))
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            Case {
                instruction: text(&case["instruction"]),
                is_wmma: case["family"] == "wmma",
                size: [0, 1, 2].map(|at| case["shape"][at].as_u64().unwrap() as usize),
                types: [0, 1, 2, 3].map(|at| text(&case["types"][at])),
                sources: ["a", "b", "c"].map(|name| matrix(&case[name])),
                measured: matrix(&case["measured"]),
            }
        })
        .collect()
}

/// Bits of an element.
fn bits_of(scalar: &str) -> usize {
    match scalar {
        "tf32" => 32,
        "e4m3" | "e5m2" => 8,
        _ => scalar.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap(),
    }
}

impl Case {
    /// Rows and columns of an operand: 0 for D, 1 to 3 for A, B and C.
    fn extent(&self, operand: usize) -> (usize, usize) {
        let [m, n, k] = self.size;
        [(m, n), (m, k), (k, n), (m, n)][operand]
    }

    /// Bytes of a register.
    fn register(&self, operand: usize) -> usize {
        if self.types[operand] == "f64" { 8 } else { 4 }
    }

    /// Row and column of each element of a lane, in the order of its registers. [PTX ISA, "Matrix Fragments"]
    fn places(&self, operand: usize, lane: usize) -> Vec<(usize, usize)> {
        let [m, n, k] = self.size;
        let scalar = self.types[operand].as_str();
        let (group, thread) = (lane >> 2, lane % 4);
        if self.size == [8, 8, 4] && scalar != "f64" {
            let base = lane / 16 * 4;
            return match (operand, scalar) {
                (1, _) => (0..4).map(|i| (base + thread, i)).collect(),
                (2, _) => (0..4).map(|i| (i, base + thread)).collect(),
                (_, "f16") => (0..8).map(|i| (base + thread, i)).collect(),
                _ => (0..8)
                    .map(|i| (base + (i & 2) + (lane & 1), (i & 4) + (lane & 2) + (i & 1)))
                    .collect(),
            };
        }
        let each = (32 / bits_of(scalar)).max(1);
        match operand {
            1 => {
                let rows = m / 8;
                (0..m * k / 32)
                    .map(|i| {
                        let register = i / each;
                        let column = register / rows * 4 * each + thread * each + i % each;
                        (group + 8 * (register % rows), column)
                    })
                    .collect()
            }
            2 => (0..n * k / 32)
                .map(|i| (i / each * 4 * each + thread * each + i % each, group))
                .collect(),
            _ => (0..m * n / 32).map(|i| (group + i / 2 * 8, thread * 2 + i % 2)).collect(),
        }
    }

    /// Registers of a lane.
    fn count(&self, operand: usize) -> usize {
        let (rows, columns) = self.extent(operand);
        let bits = bits_of(&self.types[operand]);
        match (self.is_wmma, operand) {
            (true, 1 | 2) if self.types[operand] == "f16" => 8,
            (true, _) => rows * columns * bits / 256 / self.register(operand),
            _ => (self.places(operand, 0).len() * bits).div_ceil(8 * self.register(operand)),
        }
    }

    /// Bytes of an operand in memory.
    fn bytes(&self, operand: usize) -> usize {
        let (rows, columns) = self.extent(operand);
        match self.is_wmma {
            true => rows * columns * bits_of(&self.types[operand]) / 8,
            false => 32 * self.count(operand) * self.register(operand),
        }
    }

    /// The bit at which each element is in memory: B in columns, others in rows, or registers of all lanes in turn.
    fn elements(&self, operand: usize) -> Vec<((usize, usize), usize)> {
        let bits = bits_of(&self.types[operand]);
        let (rows, columns) = self.extent(operand);
        let mut found = Vec::new();
        if self.is_wmma {
            for (row, column) in
                (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
            {
                let place = if operand == 2 { column * rows + row } else { row * columns + column };
                found.push(((row, column), place * bits));
            }
            return found;
        }
        let register = 8 * self.register(operand);
        for lane in 0..32 {
            for (i, place) in self.places(operand, lane).into_iter().enumerate() {
                let (word, shift) = (i * bits / register, i * bits % register);
                found.push((place, (word * 32 + lane) * register + shift));
            }
        }
        found
    }

    fn pack(&self, operand: usize) -> Vec<u8> {
        let matrix = &self.sources[operand - 1];
        let bits = bits_of(&self.types[operand]);
        let mut bytes = vec![0; self.bytes(operand)];
        for ((row, column), at) in self.elements(operand) {
            let value = matrix.get(row).map_or(0, |row| row[column]);
            let value = value << (at % 8);
            for (byte, part) in
                bytes[at / 8..].iter_mut().zip(value.to_le_bytes()).take(bits.div_ceil(8))
            {
                *byte |= part;
            }
        }
        bytes
    }

    /// A kernel that executes the instruction once in each block.
    fn kernel(&self) -> String {
        let [m, n, k] = self.size;
        let shape = format!("m{m}n{n}k{k}");
        let mut body = String::new();
        let mut vectors = Vec::new();
        let names = ["d", "a", "b", "c"];
        for (operand, name) in names.into_iter().enumerate() {
            let scalar = self.types[operand].as_str();
            let kind = match scalar {
                "f64" => "f64",
                "f32" => "f32",
                _ => "b32",
            };
            let registers: Vec<String> =
                (0..self.count(operand)).map(|i| format!("%{name}{i}")).collect();
            vectors.push(format!("{{{}}}", registers.join(", ")));
            body += &format!(
                ".reg .b64 %at_{name}; .reg .{kind} %{name}<{}>; ld.param.u64 %at_{name}, [{name}];
mad.wide.u32 %at_{name}, %case, {}, %at_{name};\n",
                registers.len(),
                self.bytes(operand)
            );
            let stride = if operand == 1 || operand == 2 { k } else { n };
            let order = if operand == 2 { "col" } else { "row" };
            if self.is_wmma && operand > 0 {
                body += &format!(
                    "wmma.load.{name}.sync.aligned.{order}.{shape}.global.{scalar} {}, [%at_{name}], {stride};\n",
                    vectors[operand]
                );
                continue;
            }
            let size = self.register(operand);
            body += &format!("mad.wide.u32 %at_{name}, %lane, {size}, %at_{name};\n");
            if operand > 0 {
                for (i, register) in registers.iter().enumerate() {
                    body +=
                        &format!("ld.global.{kind} {register}, [%at_{name}+{}];\n", i * 32 * size);
                }
            }
        }
        body += &format!("{} {};\n", self.instruction, vectors.join(", "));
        if self.is_wmma {
            body += &format!(
                "ld.param.u64 %at_d, [d]; mad.wide.u32 %at_d, %case, {}, %at_d;
wmma.store.d.sync.aligned.row.{shape}.global.{} [%at_d], {}, {n};\n",
                self.bytes(0),
                self.types[0],
                vectors[0]
            );
        } else {
            let kind = if self.register(0) == 8 { "b64" } else { "b32" };
            for i in 0..self.count(0) {
                body +=
                    &format!("st.global.{kind} [%at_d+{}], %d{i};\n", i * 32 * self.register(0));
            }
        }
        format!(
            ".version 8.8\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
.reg .b32 %lane, %case; mov.u32 %lane, %tid.x; mov.u32 %case, %ctaid.x;\n{body}ret;\n}}"
        )
    }
}

#[test]
fn products_of_matrices_against_an_h100() {
    let mut forms: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases() {
        forms.entry(case.instruction.clone()).or_default().push(case);
    }
    assert_eq!(forms.len(), 118);
    let mut floats: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (instruction, cases) in &forms {
        let form = &cases[0];
        let mut buffers: Vec<Vec<u8>> = (1..4)
            .map(|operand| cases.iter().flat_map(|case| case.pack(operand)).collect())
            .collect();
        buffers.push(vec![0; form.bytes(0) * cases.len()]);
        let blocks = [cases.len() as u32, 1, 1];
        let launched = launch(&form.kernel(), KernelLaunch::new(blocks, [32, 1, 1]), &buffers);
        assert!(launched.result.skipped.is_empty(), "{:?}", launched.result.skipped);
        assert!(launched.result.faults.is_empty(), "{}", launched.result.faults[0]);
        let bytes = bits_of(&form.types[0]) / 8;
        let (mut equal, mut all) = (0, 0);
        for (number, case) in cases.iter().enumerate() {
            let out = &launched.buffers[3][number * form.bytes(0)..][..form.bytes(0)];
            for ((row, column), at) in case.elements(0) {
                let Some(wanted) = case.measured.get(row).map(|row| row[column]) else { continue };
                let got = out[at / 8..][..bytes]
                    .iter()
                    .rev()
                    .fold(0, |all, byte| all << 8 | u64::from(*byte));
                all += 1;
                equal += usize::from(got == wanted);
                let is_exact = matches!(form.types[0].as_str(), "s32" | "f64");
                assert!(
                    got == wanted || !is_exact,
                    "{instruction} {number} ({row}, {column}): an H100 {wanted:x}, here {got:x}"
                );
            }
        }
        if matches!(form.types[0].as_str(), "f16" | "f32") {
            let family = if form.is_wmma { "wmma" } else { "mma" };
            let sum = floats.entry(format!("{family} {}", form.types.join("."))).or_default();
            *sum = (sum.0 + equal, sum.1 + all);
        }
    }
    let floats: Vec<_> =
        floats.iter().map(|(form, (equal, all))| (form.as_str(), *equal, *all)).collect();
    assert_eq!(floats, FLOATS);
}
