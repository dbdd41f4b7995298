//! The scopes of a module, the ids of its parts, and [`Names`], the index of declared names by scope.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;
use warpload_machine::Site;

/// The index of a [`Scope`] in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub(crate) u32);

/// The index of a [`Declaration`](super::Declaration) in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclarationId(pub(crate) u32);

/// The index of a [`Function`](super::Function) in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub(crate) u32);

/// The index of a [`Statement`](super::Statement) in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementId(pub(crate) u32);

impl From<Site> for StatementId {
    fn from(site: Site) -> Self {
        Self(site.0)
    }
}

impl StatementId {
    /// Returns the index in [`Module::statements`](super::Module::statements).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ScopeId {
    /// The scope of the module, around all functions.
    pub const MODULE: Self = Self(0);
}

impl DeclarationId {
    /// Returns the index in [`Module::declarations`](super::Module::declarations).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FunctionId {
    /// Returns the index in [`Module::functions`](super::Module::functions).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A pair of braces, or the whole module.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// The function that contains it; `None` for the module.
    pub function: Option<FunctionId>,
}

/// The declared names of the module and of each function, with the scopes that declare them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names<'s> {
    /// The module's table first, then one table per function, so that the names of one function are close together in
    /// memory.
    names: Tables<'s>,
    /// Runs of registers have their own tables, because `.reg .b32 a, a<3>` declares two different names.
    runs: Tables<'s>,
    /// From an `.extern` declaration to the definition after it.
    definitions: HashMap<DeclarationId, DeclarationId>,
}

type Tables<'s> = Vec<NameMap<&'s str, Places>>;

/// A scope that declares a name, and the declaration.
pub(super) type ScopedDeclaration = (ScopeId, DeclarationId);

/// The scopes of one function that declare one name, ordered and without duplicates. Most names have just one.
#[derive(Clone, Debug)]
enum Places {
    One([ScopedDeclaration; 1]),
    More(Vec<ScopedDeclaration>),
}

impl Places {
    fn as_slice(&self) -> &[ScopedDeclaration] {
        match self {
            Self::One(place) => place,
            Self::More(places) => places,
        }
    }

    fn insert(&mut self, at: usize, place: ScopedDeclaration) {
        match self {
            Self::One([one]) => {
                let mut places = vec![*one];
                places.insert(at, place);
                *self = Self::More(places);
            }
            Self::More(places) => places.insert(at, place),
        }
    }
}

/// The index of the table of a function, or of the module.
fn table(function: Option<FunctionId>) -> usize {
    function.map_or(0, |function| function.index() + 1)
}

impl<'s> Names<'s> {
    /// Records a declaration of one name or a run of registers. If the scope already declares the name, returns that
    /// declaration, which stays.
    pub(crate) fn declare(
        &mut self,
        function: Option<FunctionId>,
        scope: ScopeId,
        name: &'s str,
        is_run: bool,
        id: DeclarationId,
    ) -> Option<DeclarationId> {
        let table = table(function);
        let tables = if is_run { &mut self.runs } else { &mut self.names };
        if tables.len() <= table {
            tables.resize_with(table + 1, NameMap::default);
        }
        let place = (scope, id);
        match tables.get_mut(table)?.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(Places::One([place]));
                None
            }
            Entry::Occupied(mut entry) => {
                let places = entry.get().as_slice();
                match places.binary_search_by_key(&scope, |place| place.0) {
                    Ok(at) => places.get(at).map(|place| place.1),
                    Err(at) => {
                        entry.get_mut().insert(at, place);
                        None
                    }
                }
            }
        }
    }

    /// The scopes of a function that declare a name.
    pub(super) fn places(
        &self,
        function: Option<FunctionId>,
        name: &str,
        is_run: bool,
    ) -> Option<&[ScopedDeclaration]> {
        let tables = if is_run { &self.runs } else { &self.names };
        tables.get(table(function))?.get(name).map(Places::as_slice)
    }

    /// The first declaration of a name in a scope.
    pub(crate) fn first(
        &self,
        function: Option<FunctionId>,
        scope: ScopeId,
        name: &str,
        is_run: bool,
    ) -> Option<DeclarationId> {
        let places = self.places(function, name, is_run)?;
        let at = places.binary_search_by_key(&scope, |place| place.0).ok()?;
        places.get(at).map(|place| place.1)
    }

    /// Records the definition of a variable declared `.extern` before.
    pub(crate) fn define(&mut self, declared: DeclarationId, defined: DeclarationId) {
        self.definitions.entry(declared).or_insert(defined);
    }

    /// The definition after an `.extern` declaration.
    pub(crate) fn definition(&self, declared: DeclarationId) -> Option<DeclarationId> {
        self.definitions.get(&declared).copied()
    }
}

/// A map from the names in a module.
pub(crate) type NameMap<K, V> = HashMap<K, V, NameHash>;

/// Hashes names in a few cycles; the standard library's hash is for keys of any kind and takes longer. Untrusted files
/// cannot choose colliding names, because the seeds are drawn when the program starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHash([u64; 2]);

impl Default for NameHash {
    fn default() -> Self {
        static SEEDS: LazyLock<[u64; 2]> = LazyLock::new(|| {
            let random = RandomState::new();
            // Odd and therefore not zero, because a factor of zero would make all hashes equal.
            [random.hash_one(0), random.hash_one(1) | 1]
        });
        Self(*SEEDS)
    }
}

impl BuildHasher for NameHash {
    type Hasher = NameHasher;

    fn build_hasher(&self) -> NameHasher {
        NameHasher { state: self.0[0], factor: self.0[1] }
    }
}

/// Multiplies eight bytes at a time by a secret number and folds the two halves of the product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher {
    state: u64,
    factor: u64,
}

impl NameHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        // The length is added, so that trailing zeros count.
        let length = bytes.len() as u64;
        match bytes.last_chunk::<8>() {
            // Hashes the last eight bytes at once, even if some were hashed before. That is faster than one byte at a
            // time.
            Some(last) => {
                if !rest.is_empty() {
                    self.add(u64::from_le_bytes(*last));
                }
                self.add(length);
            }
            None => self.add(rest.iter().fold(length, |last, byte| last << 8 | u64::from(*byte))),
        }
    }

    /// The terminator of a string, which is redundant because the length is hashed.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.state
    }
}
