//! Recorded outputs of the command, in `cli/tests/cmd/`; `cargo xtask goldens` renews them.
//!
//! The comparison takes backslashes for those of Windows paths, so that they are slashes in the
//! recordings. What depends on backslashes is tested in `bad_input/`.

mod common;

#[test]
fn outputs_are_as_recorded() {
    // Paths in the recorded commands are relative to the root of the repository.
    std::env::set_current_dir(common::ROOT).expect("the repository is there");
    let cases = trycmd::TestCases::new();
    // A new version is not a change of output.
    let version = env!("CARGO_PKG_VERSION");
    cases.insert_var("[VERSION]", version).expect("a valid name");
    cases
        .register_bin("warpload", std::path::Path::new(env!("CARGO_BIN_EXE_warpload")))
        // Neither the terminal nor the user's preferences change the recordings.
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .case("cli/tests/cmd/*.trycmd")
        .case("cli/tests/cmd/*.toml");
}
