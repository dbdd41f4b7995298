//! The page to try warpload in: building it, and its tests in a browser.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::ci::succeeds;
use crate::metadata::Metadata;
use crate::step::{cargo, command, missing, root, run_cargo};

const PACKAGE: &str = "--locked -p warpload-page";
const TARGET: &str = "wasm32-unknown-unknown";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Run the tests too, in a browser
    #[arg(long)]
    check: bool,
}

/// Builds the page into `target/page`, and the package for npm beside it.
///
/// # Errors
/// Returns the error of the first step that fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let workspace = Metadata::workspace()?;
    if arguments.check { nightly(&workspace) } else { build(&workspace.target()?) }
}

fn build(target: &Path) -> Result<()> {
    let library = target.join(TARGET).join("download/warpload_page.wasm");
    run_cargo(&format!("build {PACKAGE} --profile download --lib --target {TARGET}"))?;
    let mut assemble =
        cargo(&format!("run --quiet {PACKAGE} --features assemble --bin assemble --"));
    assemble.arg(library).arg(target.join("page"));
    command(assemble)
}

/// Checks the library for WebAssembly, without building it.
///
/// # Errors
/// Returns an error if it has a warning.
pub(crate) fn check() -> Result<()> {
    if !has_target()? {
        return Ok(());
    }
    run_cargo(&format!("clippy {PACKAGE} --lib --target {TARGET} -- -D warnings"))
}

/// Builds the page, and runs the tests of the page in a browser and of the npm package.
///
/// # Errors
/// Returns the error of the first step that fails.
pub(crate) fn nightly(workspace: &Metadata) -> Result<()> {
    if !has_target()? {
        return Ok(());
    }
    let target = workspace.target()?;
    build(&target)?;
    run_cargo(&format!("test --quiet {PACKAGE} -- --include-ignored"))?;
    package(&target)
}

/// Packs the package, installs it elsewhere, and runs a program that uses it.
fn package(target: &Path) -> Result<()> {
    if !succeeds(Command::new("npm").arg("--version")) {
        return missing("npm pack, which is not installed");
    }
    let (package, user) = (target.join("page/npm"), target.join("page-npm"));
    if user.exists() {
        fs::remove_dir_all(&user)?;
    }
    fs::create_dir_all(&user)?;
    let npm = |arguments: &[&str], folder: &Path| {
        let mut npm = Command::new("npm");
        npm.args(arguments).current_dir(folder);
        command(npm)
    };
    npm(&["pack", "--silent", "--pack-destination", "../../page-npm"], &package)?;
    let packed = fs::read_dir(&user)?.next().context("npm wrote no package")??.path();
    let packed = packed.to_str().context("a path that is no text")?;
    npm(&["install", "--silent", "--offline", "--no-audit", "--prefix", ".", packed], &user)?;
    fs::copy(root().join("page/tests/package.mjs"), user.join("package.mjs"))?;
    let mut node = Command::new("node");
    node.arg("package.mjs").current_dir(&user);
    command(node)
}

/// Whether the standard library is installed for WebAssembly. If not, says what is not checked.
fn has_target() -> Result<bool> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    let folder = rustc.output().context("cannot run rustc")?.stdout;
    let is_there = Path::new(String::from_utf8_lossy(&folder).trim()).is_dir();
    if !is_there {
        missing(&format!("the page; `rustup target add {TARGET}` installs what it is built for"))?;
    }
    Ok(is_there)
}
