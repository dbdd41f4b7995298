//! `encode --listing`: the code of a listing.

use std::path::Path;

use anyhow::{Context, bail};
use warpload::encoding::Sm;
use warpload_binary::names::{Demangled, NamePattern, did_you_mean, nearest};
use warpload_binary::sass::{
    self, AssembleError, AssembleErrorKind, AssembledFunction, SassKind, assemble,
};

use super::words_of;
use crate::destination;
use crate::io::{self, Output};
use crate::name::visible;
use crate::options::{Format, Progress};
use crate::process::Status;

#[derive(serde::Serialize)]
struct FunctionJson<'f> {
    function: Option<&'f str>,
    bundles: Vec<[String; 4]>,
}

/// A listing, and where its code goes.
pub(super) struct Listing<'l> {
    pub(super) path: &'l Path,
    pub(super) function: Option<&'l NamePattern>,
    /// For a listing that does not name its SM.
    pub(super) sm: Option<Sm>,
    /// The file for the code of one function.
    pub(super) to: Option<&'l Path>,
}

impl Listing<'_> {
    pub(super) fn assemble(
        &self,
        format: Format,
        progress: Progress,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let functions = self.functions(progress).with_context(|| io::name(self.path))?;
        if let Some(to) = self.to {
            let [function] = &functions[..] else {
                bail!(
                    "--output: a file has the code of one function, and these are {}; choose one with `--function`",
                    functions.len()
                );
            };
            let target = destination::target(to)?;
            target.write(&function.bytes())?;
            output.line(format_args!("{} written", visible(&to.display().to_string())))?;
            return Ok(Status::Done);
        }
        for AssembledFunction { name, bundles, .. } in functions {
            let bundles = bundles.into_iter().map(words_of);
            match format {
                Format::Text => {
                    output.line(format_args!("// {}", visible(name.as_deref().unwrap_or("-"))))?;
                    bundles.flatten().try_for_each(|word| output.line(word))?;
                }
                Format::Json => {
                    let (function, bundles) = (name.as_deref(), bundles.collect());
                    output.json(&FunctionJson { function, bundles })?;
                }
            }
        }
        Ok(Status::Done)
    }

    /// The chosen functions.
    fn functions(&self, progress: Progress) -> anyhow::Result<Vec<AssembledFunction>> {
        let listing = sass::read(io::open(self.path, progress)?, sass::Format::Detect)?;
        if listing.kind() != SassKind::Listing {
            bail!(
                "a cubin; expected a listing, such as `warpload decode --all --control maxas` prints"
            );
        }
        let mut functions = assemble(listing, self.sm).map_err(explained)?;
        let Some(pattern) = self.function else { return Ok(functions) };
        let mut demangled = Demangled::default();
        let mut names = Vec::new();
        functions.retain(|function| {
            let Some(name) = &function.name else { return false };
            let form = demangled.add(name);
            names.push(form.as_deref().unwrap_or(name).to_owned());
            pattern.matches(name, form.as_deref())
        });
        if functions.is_empty() {
            let near = did_you_mean(&nearest(pattern.as_str(), names.into_iter()));
            bail!("no function name matches `--function {}`{near}", visible(pattern.as_str()));
        }
        Ok(functions)
    }
}

/// The error with its text, and the option that helps.
fn explained(error: AssembleError) -> anyhow::Error {
    let AssembleError::Instruction { text, kind, .. } = &error else { return error.into() };
    let help = match **kind {
        AssembleErrorKind::NoScheduling => {
            "; `decode --control maxas`, `nvdisasm -hex` and `cuobjdump -sass` write it"
        }
        AssembleErrorKind::Text(_) => "; of another SM, give it with `--sm`",
        _ => "",
    };
    anyhow::anyhow!("{error}: `{}`{help}", visible(text))
}
