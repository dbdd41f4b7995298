//! A folder with a trace in both forms, a list of it, and an image of one file.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Ran, piped};
use crate::trace::command::command;
use crate::traces::grouped;

pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(
            folder.at("a.traceg"),
            grouped(5, "", &["0010 00000001 1 R1 LDG.E 1 R2 4 0 0x1000 0"]),
        )
        .unwrap();
        fs::write(folder.at("kernelslist.g"), "a.traceg\n").unwrap();
        fs::write(folder.at("bytes"), [7; 0x2000]).unwrap();
        let image = r#"{"memory": {"global": [{"base": "0x1000", "file": "bytes"}]}}"#;
        fs::write(folder.at("image.json"), image).unwrap();
        let ran = folder.run(&["import", "a.traceg", "-o", "b.wlt"], b"");
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        folder
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the command, which runs in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command.current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        piped(&mut self.command(arguments), input, 1 << 16)
    }
}
