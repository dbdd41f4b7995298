//! A process that runs a target. A crash, an endless loop or a lack of memory ends it alone, and the runner knows the
//! input.

use std::io::{BufReader, Read, Write, stdin, stdout};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub(crate) struct Worker {
    child: Child,
    inputs: ChildStdin,
    answers: Receiver<u8>,
}

impl Worker {
    /// Starts `command`, which must answer each input as [`work`] does.
    ///
    /// # Errors
    /// Returns an error of the system.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let inputs = child.stdin.take().context("no pipe to the worker")?;
        let output = child.stdout.take().context("no pipe from the worker")?;
        let (sender, answers) = channel();
        // A channel can be read with a time limit, a pipe cannot.
        std::thread::spawn(move || {
            let mut bytes = BufReader::new(output).bytes().map_while(|byte| byte.ok());
            bytes.try_for_each(|byte| sender.send(byte))
        });
        Ok(Self { child, inputs, answers })
    }

    /// Runs an input.
    ///
    /// # Errors
    /// Returns an error that says how the process ended if it does not answer.
    pub(crate) fn run(&mut self, input: &[u8], time: Duration) -> Result<()> {
        let length = (input.len() as u64).to_le_bytes();
        // A process that has ended takes no input; its status says more than this error.
        let _ = self.inputs.write_all(&[&length, input].concat());
        match self.answers.recv_timeout(time) {
            Ok(_) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => bail!(self.child.wait()?),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill()?;
                self.child.wait()?;
                bail!("still running after {time:?}")
            }
        }
    }

    /// Ends the process.
    ///
    /// # Errors
    /// Returns an error of the system.
    pub(crate) fn end(mut self) -> Result<()> {
        drop(self.inputs);
        self.child.wait()?;
        Ok(())
    }
}

/// Runs a target on inputs from standard input, which come with their lengths, and answers each with a byte.
///
/// # Errors
/// Returns an error of the system.
pub(crate) fn work(target: fn(&[u8])) -> Result<()> {
    let (mut inputs, mut answers) = (stdin().lock(), stdout().lock());
    let mut length = [0; 8];
    while inputs.read_exact(&mut length).is_ok() {
        let mut input = vec![0; u64::from_le_bytes(length) as usize];
        inputs.read_exact(&mut input)?;
        target(&input);
        // A newline empties the buffer of standard output.
        answers.write_all(b"\n")?;
    }
    Ok(())
}

/// Limits the address space of this process.
///
/// # Errors
/// Returns an error of the system.
#[cfg(target_os = "linux")]
pub(crate) fn limit_memory(bytes: u64) -> Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    Ok(setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?)
}
