//! [`KernelModule`]: a module that is read once, and whose kernels are compiled once. Its variables live on between
//! launches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::prelude::*;
use self_cell::self_cell;
use warpload::text::visible;
use warpload_ptx::Module;
use warpload_ptx::launch::{DeviceMemory, Kernel, KernelError, LoadedModule};
use warpload_ptx::module::DeclarationId;

use crate::error::{ErrorKind, Failure};
use crate::kernel::KernelParameter;
use crate::literals::{Kernel as PyKernel, PtxModule};
use crate::ptx::Text;
use crate::waiting::{PERIOD, Shared, wait};

self_cell! {
    /// A text, and what was read from it.
    struct ReadText {
        owner: Text,
        #[covariant]
        dependent: Module,
    }
}

/// What launches of a module change.
pub(crate) struct Loaded<'m> {
    pub(crate) module: LoadedModule<'m>,
    pub(crate) memory: DeviceMemory,
    /// The addresses of the buffers of a launch's arguments. They are freed at its end.
    pub(crate) buffers: Vec<u64>,
}

type LockedModule<'m> = Mutex<Loaded<'m>>;

self_cell! {
    struct LoadedText {
        owner: ReadText,
        // A mutex is not.
        #[not_covariant]
        dependent: LockedModule,
    }
}

/// A variable that a host program can name, and its address in memory.
pub(crate) struct Variable {
    pub(crate) about: KernelParameter,
    pub(crate) base: u64,
}

/// A module in a memory, for several threads.
pub(crate) struct SharedModule {
    loaded: LoadedText,
    pub(crate) variables: Vec<Variable>,
    ids: HashMap<String, DeclarationId>,
    /// Whether the module breaks a rule. Judged at the first launch, because one with `check=False` need not know.
    verdict: OnceLock<Result<(), Failure>>,
    /// The process that launches a kernel. A forked child inherits the launch of another thread, but not its thread.
    launching: Mutex<Option<u32>>,
    ended: Condvar,
}

impl SharedModule {
    fn new(text: Text) -> Result<Self, Failure> {
        let read = ReadText::try_new(text, Text::read)?;
        let loaded = LoadedText::try_new(read, |read| {
            let mut memory = DeviceMemory::new();
            let module = LoadedModule::new(read.borrow_dependent(), &mut memory);
            let module = module.map_err(|error| read.borrow_owner().refused(&error))?;
            Ok::<_, Failure>(Mutex::new(Loaded { module, memory, buffers: Vec::new() }))
        })?;
        let (mut variables, mut ids) = (Vec::new(), HashMap::new());
        loaded.with_dependent(|read, loaded| {
            let Loaded { module, memory, .. } = &*locked(loaded);
            for (id, declared) in module.variables() {
                let read = read.borrow_dependent();
                let name = read.text(declared.name);
                let base = memory.variable(name).unwrap_or_default();
                let bytes = memory.bytes(base).map_or(0, <[u8]>::len);
                let about = KernelParameter::new(read, declared, bytes as u64);
                ids.insert(name.to_owned(), id);
                variables.push(Variable { about, base });
            }
        });
        let (verdict, launching, ended) = (OnceLock::new(), Mutex::default(), Condvar::new());
        Ok(Self { loaded, variables, ids, verdict, launching, ended })
    }

    pub(crate) fn text(&self) -> &Text {
        self.loaded.borrow_owner().borrow_owner()
    }

    pub(crate) fn module(&self) -> &Module<'_> {
        self.loaded.borrow_owner().borrow_dependent()
    }

    /// The variable with a name.
    pub(crate) fn variable(
        &self,
        kernel: &Kernel<'_>,
        name: &str,
    ) -> Result<DeclarationId, KernelError> {
        // The kernel would look at each variable.
        self.ids.get(name).map_or_else(|| kernel.variable(name), |id| Ok(*id))
    }

    /// Refuses a module that breaks a rule.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.verdict.get_or_init(|| self.text().check(self.module())).clone()
    }
}

/// The turn of a launch, because a module executes one at a time. Its end frees the launch's buffers, in whichever way
/// the launch has ended.
pub(crate) struct Turn(Arc<SharedModule>);

impl Turn {
    /// Waits until no other launch has its turn. The interpreter's lock must not be held, because that launch may need it
    /// to end.
    pub(crate) fn wait(module: Arc<SharedModule>, interrupt: &AtomicBool) -> Result<Self, Failure> {
        let process = std::process::id();
        let mut launching = locked(&module.launching);
        while let Some(other) = *launching {
            if other != process {
                let message =
                    "the module had a launch when the process was forked; make one in the child";
                return Err(Failure::new(ErrorKind::System, message));
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(Failure::new(ErrorKind::Fault, KernelError::Interrupted));
            }
            let waited = module.ended.wait_timeout(launching, PERIOD);
            launching = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *launching = Some(process);
        drop(launching);
        Ok(Self(module))
    }

    /// Calls a function with the module and what its launches change.
    pub(crate) fn with<T>(
        &self,
        function: impl for<'m> FnOnce(&'m Module<'m>, &mut Loaded<'m>) -> T,
    ) -> T {
        let loaded = &self.0.loaded;
        loaded.with_dependent(|read, loaded| function(read.borrow_dependent(), &mut locked(loaded)))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.with(|_, Loaded { memory, buffers, .. }| {
            buffers.drain(..).for_each(|base| memory.release(base));
        });
        *locked(&self.0.launching) = None;
        self.0.ended.notify_all();
    }
}

/// Locks a mutex. After a panic, which is a bug of ours, its contents are as good as after an interrupted launch.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A module of PTX, to launch its kernels several times.
///
/// It is read once, and a kernel is compiled at its first launch. The variables of the module, `__device__` and
/// `__constant__` ones of CUDA, keep their values from launch to launch, and all kernels of the module share them.
/// Memory that kernels have allocated with `malloc` stays, too. A launch that is interrupted, or reaches its limit of
/// steps, leaves its stores until then in the variables; one that is refused changes none.
///
/// Launches of one module from several threads follow each other; those of different modules run at the same time.
///
/// Parameters
/// ----------
/// module
///     A path, or the text.
///
/// Raises
/// ------
/// Error
///     If it is not a module (the `kind` is `"syntax"`), or memory has no room for its variables (`"argument"`).
#[pyclass(frozen, name = "Module", module = "warpload.ptx")]
pub(crate) struct KernelModule(pub(crate) Arc<SharedModule>);

#[pymethods]
impl KernelModule {
    #[new]
    pub(crate) fn new(py: Python<'_>, module: PtxModule<'_>) -> PyResult<Self> {
        let text = Text::new(&module.0)?;
        let shared = py.detach(|| SharedModule::new(text));
        Ok(Self(Arc::new(shared.map_err(|failure| failure.raise(py))?)))
    }

    /// The names of the kernels, in the order of the text.
    #[getter]
    fn kernels(&self) -> Vec<&str> {
        Kernel::all(self.0.module()).map(|kernel| kernel.name()).collect()
    }

    /// The `.global` and `.const` variables, each with its name, type and size in bytes.
    #[getter]
    pub(crate) fn globals(&self) -> Vec<KernelParameter> {
        self.0.variables.iter().map(|variable| variable.about.clone()).collect()
    }

    /// The file, `<text>` if the module was given as text.
    #[getter]
    pub(crate) fn file(&self) -> &str {
        &self.0.text().name
    }

    /// A kernel of the module.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     The kernel's name, mangled if the module has it so; may be left out if the module has only one kernel.
    ///
    /// Raises
    /// ------
    /// Error
    ///     If the module has no such kernel.
    #[pyo3(signature = (name = None))]
    fn kernel(slf: Py<Self>, py: Python<'_>, name: Option<&str>) -> PyResult<PyKernel> {
        PyKernel::make(py, (slf, name))
    }

    /// Gives all variables their initial values. Memory that kernels have allocated with `malloc` stays.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let (module, shared) = (Arc::clone(&self.0), Arc::new(Shared::default()));
        let interrupt = Arc::clone(&shared.interrupt);
        let work = move || {
            let turn = Turn::wait(module, &interrupt)?;
            turn.with(|_, Loaded { module, memory, .. }| module.reset(memory));
            Ok(())
        };
        wait(py, &shared, None, work)?.map_err(|failure: Failure| failure.raise(py))
    }

    fn __repr__(&self) -> String {
        let kernels = self.kernels().join(", ");
        format!("Module('{}': {})", visible(self.file()), visible(&kernels))
    }
}
