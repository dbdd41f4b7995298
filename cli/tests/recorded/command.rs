//! Recorded outputs of the command, in `cli/tests/cmd/`.
//!
//! The comparison takes backslashes for those of Windows paths, so that they are slashes in the
//! recordings. What depends on backslashes is tested in `bad_input/`.

#[test]
fn outputs_are_as_recorded() {
    let _alone = crate::alone();
    // Paths in the recorded commands are relative to the root of the repository.
    std::env::set_current_dir(crate::common::ROOT).expect("the repository is there");
    let cases = trycmd::TestCases::new();
    // A new version is not a change of output.
    let version = env!("CARGO_PKG_VERSION");
    cases.insert_var("[VERSION]", version).expect("a valid name");
    let command = std::path::Path::new(env!("CARGO_BIN_EXE_warpload"));
    // `conform` runs programs; the shell is one on systems that have it.
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        command.parent().into_iter().map(Into::into).chain(std::env::split_paths(&folders));
    let path = std::env::join_paths(folders).expect("folders without the separator");
    if cfg!(unix) {
        cases.register_bin("sh", std::path::Path::new("/bin/sh")).case("docs/conformance.md");
    } else {
        cases.skip("cli/tests/cmd/conform.trycmd");
    }
    cases
        .register_bin("warpload", command)
        .env("PATH", path.to_str().expect("UTF-8"))
        // Neither the terminal nor the user's preferences change the recordings.
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .case("cli/tests/cmd/*.trycmd")
        .case("cli/tests/cmd/*.toml");
}
