//! Headers, and the lines of each version.

use crate::accelsim::{bytes, grouped, header, read};

/// Versions, each with what follows the addresses.
#[test]
fn versions() {
    let load = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f0000000000 4";
    for (version, after, is_valid) in [
        ("1.2", "", true),
        ("1.2", " 0", false),
        ("2", "", true),
        ("3", "", true),
        ("3", " 0", false),
        ("4", "", true),
        ("4", " -264", true),
        ("4", " 0 0", false),
        ("5", "", false),
        ("5", " 0", true),
        ("5", " 0 NoVal", false),
        ("5 of May", " 0", true),
        ("6", " 0", true),
        ("6", " 0 ", true),
        ("6", " 0 -8", true),
        ("6", "", false),
        ("6", " 0 0 0", false),
        ("6", " 0 None", false),
        ("6", " 0 NoVal", true),
        ("6", " -8 16 NoVal", true),
        ("6", " NoVal", false),
        ("6", " 0 0 0 NoVal", false),
        ("6", " 0 0 NoVal 1", false),
        ("6", " 0 0 Val 1 7 1 0xff", true),
        ("6", " 0 0 Val 1 7", false),
        ("6", " 0 0 Val 2 7 7 1 1", false),
        ("7", " 0 0 NoVal", false),
        ("", "", false),
        ("x", "", false),
    ] {
        let line = format!("{load}{after}");
        let version = if version == "2" { "2.9" } else { version };
        let mut text = grouped(version, 0, &line);
        if version == "2.9" {
            text = grouped("1.2", 0, &line).replace("version = 1.2", "version = 2.9");
        }
        let found = read(&text);
        assert_eq!(found.is_ok(), is_valid, "{version}{after}: {found:?}");
        if let Ok(found) = found {
            assert_eq!(found["sectors"], 4);
            assert_eq!(found["valued_loads"], u64::from(after.contains(" Val")));
        }
    }
}

#[test]
fn headers_name_kernel_grid_block_and_version_once() {
    let text = grouped("5", 0, "0010 00000000 0 MOV 0 0 0");
    assert!(read(&text).is_ok());
    for key in ["kernel name", "grid dim", "block dim", "accelsim tracer version"] {
        let without: Vec<_> = text.lines().filter(|line| !line.contains(key)).collect();
        let error = read(&(without.join("\n") + "\n")).unwrap_err();
        assert!(error.contains(&format!("the header has no `-{key} = …`")), "{error}");
        let line = text.lines().find(|line| line.contains(key)).unwrap();
        let error = read(&text.replace(line, &format!("{line}\n{line}"))).unwrap_err();
        assert!(error.contains(&format!("duplicate `-{key}`")), "{error}");
    }
    let error = read(&text.replace("warp = 0", "-nregs = 4\nwarp = 0")).unwrap_err();
    assert_eq!(error, "text:11:1: a header line after a thread block");
    // A trace that has no instruction, and one that is cut off before it could have one.
    let trace = bytes(header("6").as_bytes(), 1).unwrap();
    assert_eq!((trace.instructions(), trace.contents().complete), (0, false));
    let error = read(&header("6").replace("#traces format", "#")).unwrap_err();
    assert!(error.contains("the file ends in its header"), "{error}");
}

/// The mask tells how many fields come before it.
#[test]
fn fields_before_the_program_counter() {
    let load = "0010 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f0000000000 4";
    for (version, lineinfo, fields, is_valid) in [
        ("1.2", 0, "1 1 0 1", true),
        ("3", 0, "1 1 0", false),
        ("3", 0, "1 1 0 1", true),
        ("3", 0, "1 1 0 1 7", false),
        ("3", 0, "1 1 0 1 131 63", true),
        ("3", 0, "1 1 0 1 131 63 7", false),
        // Version 3 has no line numbers, whatever the header says.
        ("3", 1, "1 1 0 1 1234", false),
        ("5", 1, "1 1 0 1", false),
        ("5", 1, "1 1 0 1 1234", true),
        ("5", 1, "1 1 0 1 131 63 1234", true),
        ("5", 0, "4 1 0 1", false),
        ("5", 0, "1 1 0 2", false),
        ("6", 0, "1 1 0 1", false),
        ("6", 0, "1 1 0 1 0 0 0 1 1 0 3", true),
        ("6", 1, "1 1 0 1 0 0 0 1 1 0 3 1234", true),
    ] {
        let after = match version {
            "5" => " 0",
            "6" => " 0 0 NoVal",
            _ => "",
        };
        let header = header(version).replace("lineinfo = 0", &format!("lineinfo = {lineinfo}"));
        let found = read(&format!("{header}{fields} {load}{after}\n"));
        assert_eq!(found.is_ok(), is_valid, "{version}, {fields}: {found:?}");
    }
    let mixed = format!("{}1 1 0 1 {load}\n1 1 0 1 0 0 {load}\n", header("3"));
    assert_eq!(read(&mixed).unwrap_err(), "text:10:1: 6 fields before the PC; expected 4");
    for (start, message) in [
        ("10 ffffffff", "1: \"10\"; expected a PC of four to eight hexadecimal digits"),
        ("0010 fffffff", "6: \"fffffff\"; expected a lane mask of eight hexadecimal digits"),
        ("0010 0xffffffff", "6: \"0xffffffff\"; expected a lane mask of eight hexadecimal digits"),
        ("0010 fffffffff", "6: \"fffffffff\"; expected a lane mask of eight hexadecimal digits"),
    ] {
        let error = read(&grouped("3", 0, &load.replace("0010 ffffffff", start))).unwrap_err();
        assert_eq!(error, format!("text:13:{message}"));
    }
}

#[test]
fn registers_of_each_version() {
    for (register, before_hopper, hopper) in [
        ("R0", true, true),
        ("R255", true, true),
        ("R256", false, false),
        ("R", false, false),
        ("Rx", false, false),
        ("UR7", false, true),
        ("P0", false, true),
        ("UP7", false, true),
        ("P8", false, false),
        ("7", false, false),
    ] {
        let line = format!("0010 00000001 1 {register} MOV 0 0 0");
        assert_eq!(read(&grouped("5", 0, &line)).is_ok(), before_hopper, "{register}");
        let line = format!("{line} 0 NoVal");
        assert_eq!(read(&grouped("6", 0, &line)).is_ok(), hopper, "{register}");
    }
}

/// Transfers of the Tensor Memory Accelerator, and GMMA.
#[test]
fn lines_of_hopper() {
    for (line, is_valid) in [
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 3 2 0x1000 0x1080 0 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 0 0x418 0 384 0 3 2 0x1000 0x1080 0 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 128 418 1 f 384 0 4 0x1000 2 -8 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 3 3 0x1000 0x1080 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 4 0x1000 2 0 0 NoVal", true),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 4 0x1000 2 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 0 384 0 1 0x1000 2 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 2 0xf 384 0 3 0 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x418 1 0x10000 384 0 3 0 0 0 NoVal", false),
        ("UTMALDG.2D 1 UR8 128 0x100000000 0 384 0 3 0 0 0 NoVal", false),
        ("LDG.E 1 UR8 4 3 2 0x1000 0x1080 0 0 NoVal", false),
        ("UTMACMDFLUSH 0 0 0 NoVal", true),
        ("HGMMA.64x8x16 1 R4 1 0 0 NoVal", true),
        ("HGMMA.64x8x16 1 R4 2 0 0 NoVal", false),
        ("HGMMA.64x8x16 1 R4 0 NoVal", false),
        ("REPLAY_START 0 0 0 NoVal", true),
    ] {
        let found = read(&grouped("6", 0, &format!("0010 ffffffff 0 {line}")));
        assert_eq!(found.is_ok(), is_valid, "{line}: {found:?}");
        if let (true, Ok(found)) = (line.starts_with("UTMALDG"), found) {
            let tma = (&found["tma"]["addresses"], &found["tma"]["bytes"]);
            assert_eq!(tma, (&2.into(), &384.into()), "{line}");
        }
    }
}

#[test]
fn clusters_are_kept_and_their_lines_come_once() {
    let line = "0010 00000001 1 R1 LDG.E 1 R2 4 1 0x1000 0 0";
    let clusters = "cluster id = 1,0,0\ncluster cta = 0,1,0\ncluster rank = 1\n";
    let with = |clusters| grouped("5", 0, line).replace("warp = 0", &format!("{clusters}warp = 0"));
    let trace = bytes(with(clusters).as_bytes(), 1).unwrap();
    let block = trace.block(&trace.blocks()[0]).unwrap();
    let place = block.place(0);
    assert_eq!(
        (place.cluster, place.cta, place.index),
        (Some([1, 0, 0]), Some([1, 1, 0]), Some(0))
    );
    for (clusters, message) in [
        ("cluster id = 1,0\n", "text:11:14: expected `x,y,z`"),
        ("cluster rank = -1\n", "text:11:16: expected a rank in a cluster"),
        (
            "cluster rank = 1\ncluster rank = 1\n",
            "text:12:1: expected `cluster rank = n` once, after `thread block = x,y,z`",
        ),
    ] {
        assert_eq!(read(&with(clusters)).unwrap_err(), message);
    }
    let ungrouped = format!("{}1 1 0 1 1 0 0 0 1 0 1 {line} 0 NoVal\n", header("6"));
    let trace = bytes(ungrouped.as_bytes(), 1).unwrap();
    let place = trace.block(&trace.blocks()[0]).unwrap().place(0);
    assert_eq!((place.cluster, place.warp, place.index), (Some([1, 0, 0]), Some(1), None));
}

/// Instructions of version 1.2 name their thread block and warp, which are those of their group.
#[test]
fn ids_in_groups_are_compared() {
    let text = grouped("1.2", 1, "0010 00000000 0 MOV 0 0");
    assert!(read(&text).is_ok());
    for other in ["1 1 0 0 0010", "0 1 0 1 0010"] {
        let error = read(&text.replace("1 1 0 1 0010", other)).unwrap_err();
        assert!(error.starts_with("text:13:1: an instruction of another"), "{error}");
    }
    // The same ids after another warp began.
    let two = text.replace(
        "warp = 1\ninsts = 1\n",
        "warp = 1\ninsts = 1\n1 1 0 1 0010 00000000 0 MOV 0 0\nwarp = 0\ninsts = 1\n",
    );
    let error = read(&two).unwrap_err();
    assert!(error.starts_with("text:16:1: an instruction of another"), "{error}");
}

#[test]
fn configurations_of_simulators_are_named() {
    for text in [
        "-trace_opcode_latency_initiation_int 4,2\n",
        "-gpgpu_n_clusters 80\n",
        "-icnt_flit_size 40\n",
        "-network_mode 2\n",
        "# a comment = 1\n\n# another\n-gpgpu_ptx_instruction_classification 0\n",
    ] {
        let error = read(text).unwrap_err();
        assert!(
            error.contains("a configuration of GPGPU-Sim or Accel-Sim, not a trace"),
            "{error}"
        );
    }
}
