//! Malformed vectors: the key, the position and the message of the error.

#![allow(clippy::unwrap_used)]

use warpload::json::JsonError;
use warpload_suite::vector::Vector;

fn error(text: &str) -> JsonError {
    Vector::from_json(text).unwrap_err()
}

/// The key and the message of the error in a vector with this `initial` and `final`.
fn at(initial: &str, expected: &str) -> (String, String) {
    let text = format!(
        "{{\"instruction\": \"LD R0, [R2]\",\n\"initial\": {initial},\n\"final\": {expected}}}"
    );
    let error = error(&text);
    if let Some((line, column)) = error.position {
        assert!((2..=3).contains(&line) && column > 0, "{error:?}");
    }
    (error.key.unwrap(), error.message)
}

fn initial(initial: &str) -> (String, String) {
    at(initial, "{}")
}

fn lanes(count: usize) -> String {
    let values = vec!["\"0x1\""; count];
    format!("[{}]", values.join(", "))
}

#[test]
fn unknown_keys() {
    for (initial, key) in [
        (r#"{"registres": {}}"#, "initial.registres"),
        (r#"{"windows": {"global": {}}}"#, "initial.windows.global"),
        (
            r#"{"windows": {"local": {"base": "0x0", "size": "0x10", "end": "0x10"}}}"#,
            "initial.windows.local.end",
        ),
        (r#"{"memory": {"texture": {}}}"#, "initial.memory.texture"),
        (
            r#"{"memory": {"global": [{"base": "0x0", "hex": ""}, {"bse": "0x0"}]}}"#,
            "initial.memory.global[1].bse",
        ),
    ] {
        let (got, message) = self::initial(initial);
        assert_eq!(got, key);
        assert!(message.starts_with("unknown key"), "{message}");
    }
    let (key, message) = at("{}", r#"{"lane_faults": {"outside": "0x1"}}"#);
    assert_eq!(key, "final.lane_faults.outside");
    assert!(message.contains("expected one of `outside_window`"), "{message}");
}

#[test]
fn register_and_predicate_names() {
    for name in ["R255", "RZ", "R256", "r1", "R01", "1", ""] {
        let json = format!(r#"{{"registers": {{"{name}": {}}}}}"#, lanes(32));
        let (key, message) = initial(&json);
        assert!(key.starts_with("initial.registers"), "{key}");
        assert!(message.contains("expected a register, R0 to R254"), "{message}");
    }
    for name in ["P7", "PT", "P8", "p0"] {
        let (key, message) = initial(&format!(r#"{{"predicates": {{"{name}": "0x0"}}}}"#));
        assert!(key.starts_with("initial.predicates"), "{key}");
        assert!(message.contains("expected a predicate, P0 to P6"), "{message}");
    }
}

/// A key can be left out; null is a wrong type. `final.fault` alone has a null of its own.
#[test]
fn nulls() {
    for (json, key) in [
        (r#"{"register_limit": null}"#, "initial.register_limit"),
        (r#"{"address_bits": null}"#, "initial.address_bits"),
        (r#"{"misaligned": null}"#, "initial.misaligned"),
        (r#"{"windows": {"shared": null}}"#, "initial.windows.shared"),
        (r#"{"memory": {"shared": null}}"#, "initial.memory.shared"),
        (r#"{"memory": {"local": null}}"#, "initial.memory.local"),
        (r#"{"memory": {"global": [{"base": null}]}}"#, "initial.memory.global[0].base"),
        (r#"{"memory": {"shared": {"hex": null}}}"#, "initial.memory.shared.hex"),
        (r#"{"active": null}"#, "initial.active"),
        (r#"{"registers": null}"#, "initial.registers"),
        (r#"{"predicates": null}"#, "initial.predicates"),
    ] {
        assert_eq!(initial(json).0, key);
    }
    assert_eq!(
        at("{}", r#"{"lane_faults": {"outside_window": null}}"#).0,
        "final.lane_faults.outside_window"
    );
    assert_eq!(at("{}", "null").0, "final");
}

#[test]
fn counts_of_lanes() {
    for count in [0, 31, 33, 64] {
        let (key, message) = initial(&format!(r#"{{"registers": {{"R3": {}}}}}"#, lanes(count)));
        assert_eq!(key, "initial.registers.R3");
        let expected = "expected an array of 32 values, one a lane";
        assert_eq!(message, format!("invalid length {count}, {expected}"));
    }
}

#[test]
fn values() {
    let lanes = lanes(32).replacen("\"0x1\"", "\"0x100000000\"", 1);
    for (initial, key, expected) in [
        (
            format!(r#"{{"registers": {{"R3": {lanes}}}}}"#),
            "initial.registers.R3[0]",
            "expected 0x and a hexadecimal number of at most 32 bits",
        ),
        (r#"{"active": "ff"}"#.into(), "initial.active", "expected 0x and a hexadecimal"),
        (r#"{"active": 255}"#.into(), "initial.active", "expected 0x and a hexadecimal"),
        (
            r#"{"predicates": {"P0": "0x1ffffffff"}}"#.into(),
            "initial.predicates.P0",
            "at most 32 bits",
        ),
        (
            r#"{"misaligned": "ignore"}"#.into(),
            "initial.misaligned",
            "one of `force`, `report`, `fault`",
        ),
        (r#"{"register_limit": -1}"#.into(), "initial.register_limit", "expected a whole number"),
        (
            r#"{"register_limit": "255"}"#.into(),
            "initial.register_limit",
            "expected a whole number",
        ),
        (r#"{"memory": {"global": {}}}"#.into(), "initial.memory.global", "expected an array"),
        (
            r#"{"memory": {"shared": {"hex": "abc"}}}"#.into(),
            "initial.memory.shared.hex",
            "expected bytes of two hexadecimal digits each",
        ),
        (
            r#"{"memory": {"shared": {"hex": "0g"}}}"#.into(),
            "initial.memory.shared.hex",
            "expected bytes of two hexadecimal digits each",
        ),
        (
            r#"{"memory": {"global": [{"base": "0x10000000000000000", "hex": ""}]}}"#.into(),
            "initial.memory.global[0].base",
            "expected 0x and up to 16 hexadecimal digits",
        ),
        (
            r#"{"windows": {"shared": {"base": "0x0"}}}"#.into(),
            "initial.windows.shared",
            "missing key `size`",
        ),
    ] {
        let (got, message) = self::initial(&initial);
        assert_eq!(got, key);
        assert!(message.contains(expected), "{message}");
    }
}

/// An array of an object's values in their order is not an object.
#[test]
fn arrays_are_no_objects() {
    for (initial, key) in [
        ("[]", "initial"),
        (r#"{"windows": []}"#, "initial.windows"),
        (r#"{"windows": {"local": ["0x0", "0x10"]}}"#, "initial.windows.local"),
        (r#"{"memory": []}"#, "initial.memory"),
        (r#"{"memory": {"global": [["0x0", ""]]}}"#, "initial.memory.global[0]"),
        (r#"{"memory": {"shared": [""]}}"#, "initial.memory.shared"),
        (r#"{"registers": []}"#, "initial.registers"),
    ] {
        let message = "invalid type: array, expected an object";
        assert_eq!(self::initial(initial), (key.into(), message.into()));
    }
    for (expected, key) in [("[]", "final"), (r#"{"lane_faults": []}"#, "final.lane_faults")] {
        assert_eq!(at("{}", expected).0, key);
    }
}

#[test]
fn missing_bytes() {
    let either = "expected either `hex`, or `file` with `offset` and `length`";
    for (memory, key, expected) in [
        (r#"{"global": [{"hex": ""}]}"#, "initial.memory.global[0]", "missing key `base`"),
        (r#"{"global": [{"base": "0x0"}]}"#, "initial.memory.global[0]", either),
        (r#"{"shared": {}}"#, "initial.memory.shared", either),
        (r#"{"shared": {"hex": "", "file": "x"}}"#, "initial.memory.shared", either),
        (r#"{"shared": {"hex": "", "length": 0}}"#, "initial.memory.shared", either),
        (r#"{"local": {"hex": ""}}"#, "initial.memory.local", "missing key `bytes_per_lane`"),
        (
            r#"{"local": {"bytes_per_lane": 0, "hex": "", "high": {"hex": ""}}}"#,
            "initial.memory.local.high",
            "missing key `bytes_per_lane`",
        ),
        (r#"{"constant": [{"hex": ""}]}"#, "initial.memory.constant[0]", "missing key `bank`"),
    ] {
        let got = initial(&format!(r#"{{"memory": {memory}}}"#));
        assert_eq!(got, (key.into(), expected.into()));
    }
}

#[test]
fn a_vector_names_no_file() {
    let got = initial(r#"{"memory": {"global": [{"base": "0x0", "file": "/etc/hostname"}]}}"#);
    let message = "a vector holds its bytes itself; expected `hex`";
    assert_eq!(got, ("initial.memory.global[0]".into(), message.into()));
}

#[test]
fn keys_that_stand_twice() {
    let lanes = lanes(32);
    let (key, message) =
        initial(&format!(r#"{{"registers": {{"R3": {lanes}, "R4": {lanes}, "R3": {lanes}}}}}"#));
    assert!(key.starts_with("initial.registers"), "{key}");
    assert_eq!(message, "duplicate key");
    let (key, message) = initial(r#"{"active": "0x1", "active": "0x1"}"#);
    assert!(key.starts_with("initial"), "{key}");
    assert_eq!(message, "duplicate key `active`");
}

#[test]
fn what_is_expected() {
    let (key, message) = at("{}", r#"{"fault": "misaligned"}"#);
    assert_eq!(key, "final.fault");
    assert!(message.contains("misaligned_register"), "{message}");
    let (key, _) = at("{}", r#"{"broadcast": "yes"}"#);
    assert_eq!(key, "final.broadcast");
    let (key, _) = at("{}", r#"{"lane_faults": {"outside_window": "0x100000000"}}"#);
    assert_eq!(key, "final.lane_faults.outside_window");
    let (key, _) = at("{}", &format!(r#"{{"registers": {{"R255": {}}}}}"#, lanes(32)));
    assert!(key.starts_with("final.registers"), "{key}");
}

#[test]
fn instructions() {
    let instruction = |text: &str| {
        let error = error(&format!(r#"{{"instruction": "{text}"}}"#));
        assert_eq!(error.key.as_deref(), Some("instruction"));
        error.message
    };
    assert_eq!(instruction("0x0"), "0x0 is no load");
    assert!(instruction("LD R255, [R2]").contains("at byte 3 (\"R255\")"));
    instruction("0x");
    instruction("0x11111111111111111");
    instruction("");
}

#[test]
fn positions() {
    let error = error("{\"instruction\": \"LD R0, [R2]\",\n \"initial\": {\"active\": 7}}");
    assert_eq!(error.key.as_deref(), Some("initial.active"));
    assert_eq!(error.position, Some((2, 24)));
    assert!(error.to_string().starts_with("initial.active: invalid type: integer `7`, expected"));
}

#[test]
fn text_that_is_no_vector() {
    for (text, expected) in [
        ("", "the text ends while reading a value"),
        ("[]", "invalid type: array, expected an object"),
        ("{}", "missing key `instruction`"),
        (r#"{"instruction": "LD R0, [R2]"} {}"#, "trailing characters"),
        (
            r#"{"instruction": "LD R0, [R2]", "initial": {}"#,
            "the text ends while reading an object",
        ),
    ] {
        let error = error(text);
        assert!(error.position.is_some(), "{text}");
        assert!(error.message.contains(expected), "{text}: {}", error.message);
    }
}
