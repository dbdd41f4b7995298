//! [`GenerateError`].

use warpload_encoding::Sm;

/// Why no vector is drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The SM has no such load, or it is not one that a vector executes.
    #[error("no load {name:?} of sm_{sm} that a vector executes")]
    UnknownInstruction {
        /// The name that was given.
        name: String,
        /// The SM.
        sm: Sm,
    },
    /// The instruction cannot show a flag.
    #[error("{instruction} of sm_{sm} never shows the flag `{flag}`")]
    NeverShown {
        /// The instruction.
        instruction: &'static str,
        /// Its SM.
        sm: Sm,
        /// The flag.
        flag: &'static str,
    },
    /// No draw shows all of the flags.
    #[error(
        "no {instruction} of sm_{sm} found that shows `{}` together, in {draws} draws",
        flags.join("`, `")
    )]
    NotFound {
        /// The instruction.
        instruction: &'static str,
        /// Its SM.
        sm: Sm,
        /// The flags.
        flags: Vec<&'static str>,
        /// How many draws were made.
        draws: u64,
    },
    /// The fast executor does not agree with the literal one.
    #[error("{id}: the executors differ")]
    ExecutorsDiffer {
        /// The case.
        id: String,
    },
    /// What a vector expects could not be written.
    #[error("could not be written as JSON: {0}")]
    Json(String),
}
