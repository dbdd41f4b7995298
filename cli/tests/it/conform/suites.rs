//! Which files and cases are asked, and how results are written.

use crate::conform::{Suite, case, own, run};

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

/// A small suite with a case of every family and kind, which `--serve` answers rightly.
#[test]
fn warpload_answers_every_family() {
    let suite = crate::common::file("cli/tests/conform/suite");
    let families = [
        "coalescing",
        "decode",
        "encode",
        "execute",
        "ptx-execute",
        "ptx-legality",
        "tensor-memory",
        "traces",
    ];
    for executor in ["fast", "reference"] {
        let command = format!("{} --executor {executor}", own());
        for jobs in ["1", "3"] {
            let ran = run(&command, &["--jobs", jobs, "--format", "json"], &[&suite]);
            assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
            let summary: serde_json::Value = serde_json::from_str(last_line(&ran.stdout)).unwrap();
            let found = summary["families"].as_array().unwrap().iter();
            let mut found: Vec<&str> = found.map(|row| row["family"].as_str().unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, families);
            assert_eq!(summary["skipped"], 0);
        }
    }
}

/// An expectation that is changed is a failure, in every family.
#[test]
fn what_a_case_expects_matters() {
    let changes = [
        ("coalescing", r#""sectors":4"#, r#""sectors":5"#, "sectors: expected 5, got 4"),
        (
            "decode",
            "LD.E R0",
            "LD.E R1",
            "expected `LD.E R1, [R2+0x1234]`, got `LD.E R0, [R2+0x1234]`",
        ),
        (
            "encode",
            "0x8080000001470103",
            "0x8080000001470104",
            "expected `0x8080000001470104`, got ",
        ),
        ("decode", r#"{"illegal":true}"#, r#"{"text":"LD"}"#, "expected `LD`, got illegal"),
        ("execute", "0x4030201", "0x4030202", "R0 lane 0: expected 0x04030202, got 0x04030201"),
        ("ptx-legality", r#""accept":true"#, r#""accept":false"#, "expected refused, got accepted"),
        (
            "ptx-execute",
            r#""0x4030201","#,
            r#""0x5","#,
            "loads[0].registers.%r1[0]: expected \"0x5\", got ",
        ),
        ("tensor-memory", "497d3a61", "597d3a61", "SHA-256 of the registers: expected 597d3a61"),
        (
            "tensor-memory",
            "column-range",
            "lane-slab",
            "expected fault, lane-slab, got fault, column-range",
        ),
        ("traces", r#""loads":2"#, r#""loads":3"#, "loads: expected 3, got 2"),
        ("traces", r#"{"refused":true}"#, r#"{"loads":1}"#, "expected counts, got refused"),
    ];
    let folder = crate::common::file("cli/tests/conform/suite");
    for (family, from, to, difference) in changes {
        let file = match family {
            "encode" => "decode",
            family => family,
        };
        let text = std::fs::read_to_string(folder.join(file).join("cases.jsonl")).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{family}: {from}");
        let suite = Suite::new(1);
        suite.add(
            "changed.jsonl",
            &changed.replace("files/", &format!("{}/traces/files/", folder.display())),
        );
        let ran = run(&own(), &["--format", "json"], &[&suite.path("changed.jsonl")]);
        assert_eq!(ran.status, 1, "{family}: {}", ran.stdout);
        let failures: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!(failures.len(), 2, "{family}: {}", ran.stdout);
        let failure: serde_json::Value = serde_json::from_str(failures[0]).unwrap();
        let first = failure["differences"][0].as_str().unwrap();
        assert!(first.starts_with(difference), "{family}: {first}");
    }
}

#[test]
fn a_folder_means_its_cases() {
    let suite = Suite::new(2);
    let (one, _) = case("b", &[], 2);
    suite.add("z/b.jsonl", &one);
    suite.add("schema/c.jsonl", "no case");
    suite.add("z/files/trace.jsonl", "no case");
    suite.add("flags.json", "{}");
    suite.add("MANIFEST.json", "{}");
    let ran = suite.run(&own(), &[]);
    assert_eq!((ran.status, last_line(&ran.stdout)), (0, "3 passed, 0 failed, 0 skipped"));
    // A file is asked whatever its name is; lines that are not cases fail, the others are asked.
    suite.add("more.txt", &format!("{one}\n\n{{\"family\":\"x\"}}\n[]\n{one}\n"));
    let ran = run(&own(), &[], &[&suite.path("more.txt")]);
    assert!(
        ran.stdout.contains("more.txt:3: not a case\n  family: unknown family \"x\""),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("more.txt:4: not a case\n  column 1: invalid type: array"),
        "{}",
        ran.stdout
    );
    assert_eq!((ran.status, last_line(&ran.stdout)), (2, "2 passed, 2 failed, 0 skipped"));
    // The order is that of the files, and of the arguments.
    let ran = run("cat", &["--format", "json"], &[&suite.path("z"), suite.folder.path()]);
    let line = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone();
    let ids: Vec<_> = ran.stdout.lines().map(line).collect();
    assert_eq!(ids[..4], ["b", "c1", "c2", "b"]);
}

#[test]
fn inputs_that_cannot_be_read() {
    let suite = Suite::new(2);
    suite.add("empty/x", "");
    let (missing, empty) = (suite.path("missing"), suite.path("empty"));
    let ran =
        run(&own(), &[], &[&missing, &suite.path("cases.jsonl"), &empty, &suite.path("empty/x")]);
    assert_eq!(
        (ran.status, last_line(&ran.stdout)),
        (2, "2 passed, 3 failed, 0 skipped"),
        "{ran:?}"
    );
    for message in [
        "missing: cannot be read",
        "empty: no cases; expected files",
        "empty/x: no cases; expected one",
    ] {
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    for command in ["", "  ", "'open"] {
        assert_eq!(suite.run(command, &[]).status, 2, "{command}");
    }
    for timeout in ["0", "-1", "x", "inf", "NaN", "1e30"] {
        assert_eq!(suite.run(&own(), &[&format!("--timeout={timeout}")]).status, 2, "{timeout}");
    }
}

#[test]
fn cases_are_chosen_by_family_and_flag() {
    let suite = Suite::new(12);
    let last = |options: &[&str]| last_line(&suite.run(&own(), options).stdout).to_owned();
    assert_eq!(last(&["--flag", "faulty"]), "3 passed, 0 failed, 0 skipped");
    assert_eq!(last(&["--flag", "faulty", "--flag", "some"]), "6 passed, 0 failed, 0 skipped");
    assert_eq!(last(&["--family", "coalescing"]), "12 passed, 0 failed, 0 skipped");
    // A name that is wrong must not look like success.
    for (wrong, message) in [
        (&["--flag", "fauly"][..], "no case has the flag `fauly`; did you mean `faulty`?\n"),
        (&["--flag", "overlap"], "no case has the flag `overlap`\n"),
        (&["--family", "decode"], "no case of the family `decode`\n"),
        (
            &["--family", "decode", "--flag", "faulty"],
            "no case of the family `decode` has the flag `faulty`\n",
        ),
    ] {
        let ran = suite.run(&own(), wrong);
        assert_eq!((ran.status, ran.stderr), (2, format!("error: {message}")), "{wrong:?}");
    }
    let (decided, _) = case("d", &[], 1);
    suite.add("d.jsonl", &decided.replace("\"source\"", "\"decision\":true,\"source\""));
    let only = run(&own(), &["--skip-decisions"], &[&suite.path("d.jsonl")]);
    assert_eq!(only.status, 1, "{only:?}");
    let ran = suite.run(&own(), &["--skip-decisions"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("1 skipped: --skip-decisions: no public source decides\n"));
    assert_eq!(last_line(&ran.stdout), "12 passed, 0 failed, 1 skipped");
}

#[test]
fn results_go_to_a_file() {
    let suite = Suite::new(3);
    let file = suite.path("out");
    let to = file.to_str().unwrap();
    for format in ["text", "json", "junit"] {
        let printed = suite.run(&own(), &["--format", format]);
        let written = suite.run(&own(), &["--format", format, "-o", to]);
        assert_eq!(written.stdout, format!("{to} written\n"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), printed.stdout);
    }
    let cases = suite.path("cases.jsonl");
    let over = suite.run(&own(), &["-o", cases.to_str().unwrap()]);
    assert_eq!(over.status, 2);
    assert!(over.stderr.contains("is one of the inputs"), "{}", over.stderr);
}

/// Neither a file that a case names nor what is run is replaced, whatever it is called.
#[cfg(unix)]
#[test]
fn results_replace_no_file_that_is_used() {
    let suite = Suite::new(1);
    let trace = "a.traceg";
    let named = format!(
        r#"{{"id":"t","family":"traces","file":"files/{trace}","expect":{{"refused":true}}}}"#
    );
    let (skipped, _) = case("first", &[], 1);
    suite.add("traces.jsonl", &format!("{skipped}\n{named}\n"));
    suite.add(&format!("files/{trace}"), "no trace");
    suite.add("prog.sh", "#!/bin/sh\nwhile read -r line; do echo '{\"skip\":\"x\"}'; done\n");
    let script = suite.path("prog.sh");
    let mut mode = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let link = suite.path("linked");
    std::os::unix::fs::symlink(&script, &link).unwrap();
    let file = suite.path(&format!("files/{trace}"));
    let program = script.to_str().unwrap();
    let interpreted = format!("sh '{program}'");
    for (command, options, to) in [
        (own().as_str(), &[][..], &file),
        // A case that is not asked, and one that is skipped, name it as well.
        (&own(), &["--family", "coalescing"], &file),
        (program, &["--format", "json"], &file),
        (program, &[], &script),
        (program, &[], &link),
        (&interpreted, &["--format", "junit"], &script),
        (link.to_str().unwrap(), &[], &script),
    ] {
        let before = std::fs::read(to).unwrap();
        let options = [options, &["-o", to.to_str().unwrap()]].concat();
        let ran = run(command, &options, &[&suite.path("traces.jsonl")]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{command}: {ran:?}");
        let message = format!("error: {}: is one of the inputs", to.display());
        assert!(ran.stderr.starts_with(&message), "{command}: {}", ran.stderr);
        assert_eq!(std::fs::read(to).unwrap(), before, "{command}");
    }
    // A program of the system is looked for where the system does.
    let mut conform = crate::common::warpload();
    let folder = suite.folder.path();
    conform.args(["conform", "--command", "prog.sh", "-o"]).arg(&script).arg(folder);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let ran: crate::common::Ran = conform.env("PATH", path).output().unwrap().into();
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("is one of the inputs"), "{}", ran.stderr);
}

#[test]
fn questions_are_the_cases_without_what_they_expect() {
    let suite = Suite::new(1);
    let line = r#"{ "id" : "x", "family":"coalescing", "flags":["a"], "expect" : {"sectors":1}, "n": [1, "é"] }"#;
    suite.add("one.jsonl", line);
    // The question comes back: it is no answer, and the message names its first key.
    let asked = suite.path("question");
    let ran = run(&format!("tee '{}'", asked.display()), &[], &[&suite.path("one.jsonl")]);
    assert_eq!(ran.status, 2, "{ran:?}");
    let question = std::fs::read_to_string(asked).unwrap();
    assert_eq!(
        question,
        "{\"id\":\"x\",\"family\":\"coalescing\",\"flags\":[\"a\"],\"n\":[1, \"é\"]}\n"
    );
}

#[test]
fn cases_come_from_standard_input_too() {
    let (one, _) = case("a", &[], 3);
    let mut command = crate::common::warpload();
    command.args(["conform", "--command", &own(), "-"]);
    let ran = crate::common::piped(&mut command, one.as_bytes(), 7);
    assert_eq!((ran.status, last_line(&ran.stdout)), (0, "1 passed, 0 failed, 0 skipped"));
}

/// A missing file is not refused, which a case might expect; and `-` is not standard input, which has the
/// questions.
#[test]
fn a_trace_that_is_not_there_is_an_error() {
    for file in ["nowhere.wlt", "-", "."] {
        let question = format!(r#"{{"family":"traces","file":"{file}"}}"#);
        let mut command = crate::common::warpload();
        let ran =
            crate::common::piped(command.args(["conform", "--serve"]), question.as_bytes(), 64);
        assert_eq!(
            ran.stdout,
            format!(
                "{{\"error\":\"file: no file \\\"{file}\\\"; expected the path of a file\"}}\n"
            )
        );
    }
}

/// Many more cases than are judged at once.
#[test]
fn the_order_is_that_of_the_cases() {
    let suite = Suite::new(1);
    let mut text = String::new();
    for i in 0..640 {
        let (line, _) = case(&format!("n{i:04}"), &["all"], 1 + i % 32);
        text += &line.replace("\"sectors\":7,", "\"sectors\":8,");
        text.push('\n');
    }
    suite.add("many.jsonl", &text);
    let many = suite.path("many.jsonl");
    let results: Vec<_> = ["1", "2", "7"]
        .iter()
        .map(|jobs| run(&own(), &["--format", "json", "--jobs", jobs], &[&many]))
        .collect();
    assert_eq!(results[0].stdout.lines().count(), 21);
    assert_eq!(results[0].status, 1);
    assert_eq!(results[1], results[0]);
    assert_eq!(results[2], results[0]);
}

/// JSON is UTF-8, so that no question can name such a file: the case says which it is, and is not asked.
#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_path_is_not_utf_8_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let suite = Suite::new(0);
    let folder = suite.folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&folder).unwrap();
    let case = r#"{"id":"t","family":"traces","file":"trace","expect":{"refused":true}}"#;
    std::fs::write(folder.join("cases.jsonl"), format!("{case}\n")).unwrap();
    for examinee in [["--command", &own()], ["--executor", "fast"]] {
        let mut conform = crate::common::warpload();
        conform.arg("conform").args(examinee).args(["--format", "json"]);
        let ran = crate::common::Ran::from(conform.arg(&folder).output().unwrap());
        assert_eq!(ran.status, 1, "{ran:?}");
        let first: serde_json::Value =
            serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(first["kind"], "not-utf-8", "{ran:?}");
        let difference = first["differences"][0].as_str().unwrap();
        assert!(difference.contains(r#"caf\xE9/trace" is not UTF-8"#), "{difference}");
    }
}
