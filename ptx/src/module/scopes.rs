//! The scopes of a module, the places of what it declares, and [`Names`], which name is declared in
//! which scope, by [`NameMap`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// The place of a [`Scope`] in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub(crate) u32);

/// The place of a [`Declaration`](super::Declaration) in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclarationId(pub(crate) u32);

/// The place of a [`Function`](super::Function) in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub(crate) u32);

/// The place of a [`Statement`](super::Statement) in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementId(pub(crate) u32);

impl StatementId {
    /// The place in [`Module::statements`](super::Module::statements).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ScopeId {
    /// Around all functions.
    pub const MODULE: Self = Self(0);
}

impl DeclarationId {
    /// The place in [`Module::declarations`](super::Module::declarations).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FunctionId {
    /// The place in [`Module::functions`](super::Module::functions).
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A pair of braces, or the module around all of them.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// The function that it is part of.
    pub function: Option<FunctionId>,
}

/// Every name that is declared in a function, or outside of all, with the scopes that declare it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names<'s> {
    /// Those outside of all functions, and after them those of each function: what is looked up for
    /// one function is close together.
    names: Tables<'s>,
    /// The same for runs: `.reg .b32 a, a<3>` declares two different names.
    runs: Tables<'s>,
    /// From a declaration that is `.extern` to the definition that follows it.
    definitions: HashMap<DeclarationId, DeclarationId>,
}

type Tables<'s> = Vec<NameMap<&'s str, Places>>;

/// A scope that declares a name, and the declaration.
pub(super) type ScopedDeclaration = (ScopeId, DeclarationId);

/// The scopes of one function that declare one name, in their order, each once. Most names have one.
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

/// The table of a function, or of what is outside of all.
fn table(function: Option<FunctionId>) -> usize {
    function.map_or(0, |function| function.index() + 1)
}

impl<'s> Names<'s> {
    /// Notes a declaration, of a run of registers or of one name, and returns the earlier one of that
    /// name in its scope, which stays.
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

    /// Returns the scopes of a function that declare a name.
    pub(super) fn places(
        &self,
        function: Option<FunctionId>,
        name: &str,
        is_run: bool,
    ) -> Option<&[ScopedDeclaration]> {
        let tables = if is_run { &self.runs } else { &self.names };
        tables.get(table(function))?.get(name).map(Places::as_slice)
    }

    /// Returns the first declaration of a name in a scope.
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

    /// Notes that a variable that is declared `.extern` is defined later.
    pub(crate) fn define(&mut self, declared: DeclarationId, defined: DeclarationId) {
        self.definitions.entry(declared).or_insert(defined);
    }

    /// Returns the definition that follows an `.extern` declaration.
    pub(crate) fn definition(&self, declared: DeclarationId) -> Option<DeclarationId> {
        self.definitions.get(&declared).copied()
    }
}

/// A map from names of a module.
pub(crate) type NameMap<K, V> = HashMap<K, V, NameHash>;

/// Hashes names in a few cycles, which the hash of the standard library, made for any keys, does not.
/// Names come from untrusted files, which cannot choose names that collide: the secret numbers are
/// drawn when the program starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHash([u64; 2]);

impl Default for NameHash {
    fn default() -> Self {
        static SEEDS: LazyLock<[u64; 2]> = LazyLock::new(|| {
            let random = RandomState::new();
            // Odd, or a product with it may be zero.
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

/// Multiplies eight bytes at a time by a secret number, and folds the halves of the product.
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
        // With the length, so that zeros at the end count.
        let length = bytes.len() as u64;
        match bytes.last_chunk::<8>() {
            // Eight bytes at once, some of them again, rather than one by one.
            Some(last) => {
                if !rest.is_empty() {
                    self.add(u64::from_le_bytes(*last));
                }
                self.add(length);
            }
            None => self.add(rest.iter().fold(length, |last, byte| last << 8 | u64::from(*byte))),
        }
    }

    /// The end of a text, which its length has said.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.state
    }
}
