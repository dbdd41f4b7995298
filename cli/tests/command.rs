//! What the command prints, recorded: `cli/tests/cmd/`. `cargo xtask goldens` records it again.
//!
//! In the recordings every backslash is a slash: the comparison takes them for parts of Windows
//! paths. What depends on backslashes is tested in `bad_input/`.

mod common;

#[test]
fn outputs_are_as_recorded() {
    // The recorded commands name samples from the root of the repository on.
    std::env::set_current_dir(common::ROOT).expect("the repository is there");
    let cases = trycmd::TestCases::new();
    // A new version is not a change of output.
    let version = env!("CARGO_PKG_VERSION");
    cases.insert_var("[VERSION]", version).expect("a name as the harness wants it");
    cases
        .register_bin("warpload", std::path::Path::new(env!("CARGO_BIN_EXE_warpload")))
        // Neither the terminal nor the user's preferences change what is recorded.
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .case("cli/tests/cmd/*.trycmd")
        .case("cli/tests/cmd/*.toml");
}
