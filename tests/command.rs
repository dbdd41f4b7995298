//! What the command prints, recorded: `tests/cmd/`. `cargo xtask goldens` records it anew.
//!
//! In the recordings every backslash is a slash: the comparison takes them for parts of Windows
//! paths. What depends on backslashes is tested in `bad_input/`.

#![cfg(feature = "cli")]

#[test]
fn outputs_are_as_recorded() {
    let cases = trycmd::TestCases::new();
    // A new version is no change of output.
    let version = env!("CARGO_PKG_VERSION");
    cases.insert_var("[VERSION]", version).expect("a name as the harness wants it");
    cases
        .register_bin("warpload", std::path::Path::new(env!("CARGO_BIN_EXE_warpload")))
        // Neither the terminal nor the user's preferences change what is recorded.
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .case("tests/cmd/*.trycmd")
        .case("tests/cmd/*.toml");
}
