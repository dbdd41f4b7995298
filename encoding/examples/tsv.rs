use warpload_encoding::{Decoded128, Instruction128, Sm};
use std::io::BufRead;
fn main() {
    let (mut n, mut bad) = (0, 0);
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let parts: Vec<_> = line.split('\t').collect();
        let sm: Sm = parts[0].trim_start_matches("SM").parse().unwrap();
        let word = u128::from_str_radix(&parts[1][2..], 16).unwrap();
        let full = parts[2];
        let cut = [" &req", " &rd", " &wr", " ?"].iter().filter_map(|m| full.find(m)).min().unwrap_or(full.len());
        let expected = &full[..cut];
        let decoded = Instruction128::decode(word, sm);
        let is_load = ["LD ","LD.","LDG.","LDG ","LDL","LDS","LDC","ULDC","LDTM","LDGSTS","LDSM"].iter().any(|m| { let t = expected.trim_start(); let t = if t.starts_with('@') { t.split_once(' ').unwrap().1 } else { t }; t.starts_with(m) });
        let got = match decoded {
            Decoded128::Load(l) => { assert_eq!(l.encode(), word); l.text().as_str().to_string() }
            Decoded128::Refused(_) => "illegal".into(),
            Decoded128::Other => "-".into(),
        };
        let table = [0x980,0x381,0x981,0x97e,0x983,0x984,0xb82,0x582,0xab9,0xabb,0x8b8,0x7ac,0xbac,0x9ac,0xdac,0x5ac,0x3ac,0x83b,0xfae,0xdae,0x9ee,0x5ee];
        let of_load = table.contains(&(word as u32 & 0xfff));
        let want = if expected == "illegal" && !of_load { "-".into() } else if expected == "illegal" || is_load { expected.to_string() } else { "-".into() };
        n += 1;
        if got != want { bad += 1; if bad < 40 { println!("{} {} want {} got {} {:?}", parts[0], parts[1], want, got, if let Decoded128::Refused(r) = decoded { Some(r) } else { None }); } }
    }
    println!("{n} rows, {bad} bad");
}
