//! Combines the compiled library with `static/` into the page, and creates the npm package. The library is text in a
//! script, because browsers do not fetch files for a page that was opened from a disk.
#![allow(clippy::print_stdout, reason = "a command prints to the terminal")]

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_bindgen_cli_support::Bindgen;

/// The files that are copied to the page unchanged.
const STATIC: [&str; 3] = ["index.html", "style.css", "app.js"];

/// The limit on the size of the page in bytes, compressed as servers send it.
const MAX_COMPRESSED: usize = 1_500_000;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let mut next = || arguments.next().context("usage: assemble LIBRARY.wasm FOLDER");
    let (library, folder) = (next()?, next()?);
    let (library, folder) = (Path::new(&library), Path::new(&folder));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bound = tempfile::tempdir()?;
    // Browsers neither load modules nor fetch WebAssembly from a disk.
    bindgen(library).no_modules(true)?.typescript(false).generate(bound.path())?;
    let glue = fs::read_to_string(bound.path().join("warpload.js"))?;
    let bytes = BASE64_STANDARD.encode(fs::read(bound.path().join("warpload_bg.wasm"))?);
    fs::create_dir_all(folder)?;
    let script = format!("{glue}\nconst LIBRARY = \"{bytes}\";\n");
    fs::write(folder.join("warpload.js"), &script)?;
    let mut compressed = compressed(script.as_bytes())?;
    for name in STATIC {
        let text = fs::read(here.join("static").join(name)).context(name)?;
        compressed += self::compressed(&text)?;
        fs::write(folder.join(name), text)?;
    }
    package(library, here, &folder.join("npm"))?;
    println!("{}: {compressed} bytes, compressed", folder.join("index.html").display());
    ensure!(compressed < MAX_COMPRESSED, "at most {MAX_COMPRESSED} bytes");
    Ok(())
}

/// The compressed size of a file in bytes.
fn compressed(bytes: &[u8]) -> Result<usize> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(gzip.finish()?.len())
}

fn bindgen(library: &Path) -> Bindgen {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(library).out_name("warpload").typescript(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen
}

/// Creates the npm package, a module with types.
fn package(library: &Path, here: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    bindgen(library).web(true)?.generate(folder)?;
    let package = serde_json::json!({
        "name": "warpload",
        "version": env!("CARGO_PKG_VERSION"),
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "license": env!("CARGO_PKG_LICENSE"),
        "type": "module",
        "main": "warpload.js",
        "types": "warpload.d.ts",
        "files": ["warpload.js", "warpload.d.ts", "warpload_bg.wasm", "warpload_bg.wasm.d.ts"],
        "sideEffects": false,
    });
    fs::write(folder.join("package.json"), serde_json::to_string_pretty(&package)? + "\n")?;
    fs::copy(here.join("README.md"), folder.join("README.md"))?;
    Ok(())
}
