//! `initial`: the state before a load. The manifest of a memory image is the same without the warp.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};
use warpload_encoding::Sm;

use super::JsonError;
use super::sources::{BytesSource, Files, Sources, Target};
use super::values::{
    Hex32, Hex64, HexBytes, Lanes, PredicateName, RegisterName, SmName, UniformName,
    UniformPredicateName, UniqueMap, only_objects, present, written_objects,
};
use warpload::lane::LaneMask;
use warpload::machine::{Machine, Misaligned, RegisterLimit};
use warpload::memory::{AddressMap, ConfigError, Memory, Regions, Window};
use warpload::warp::Warp;

/// The keys that only a vector has.
const WARP_KEYS: [&str; 5] =
    ["active", "registers", "predicates", "uniform_registers", "uniform_predicates"];

/// The address bits of a vector that does not set them (docs/load-sm70.md section 10).
pub(crate) fn default_address_bits(sm: Sm) -> u32 {
    if sm.has_wide_words() { 49 } else { AddressMap::default().address_bits() }
}

#[derive(Deserialize, Serialize, Default)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub(crate) struct Initial {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) sm: Option<SmName>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) register_limit: Option<u64>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) address_bits: Option<u32>,
    #[serde(serialize_with = "misaligned", skip_serializing_if = "is_forced")]
    pub(crate) misaligned: Misaligned,
    #[serde(skip_serializing_if = "WindowsJson::is_empty")]
    pub(crate) windows: WindowsJson,
    pub(crate) memory: MemoryJson,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) active: Option<Hex32>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) registers: Option<UniqueMap<RegisterName, Lanes>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) predicates: Option<UniqueMap<PredicateName, Hex32>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) uniform_registers: Option<UniqueMap<UniformName, Hex32>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) uniform_predicates: Option<UniqueMap<UniformPredicateName, bool>>,
}

#[derive(Deserialize, Serialize, Default)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub(crate) struct WindowsJson {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<WindowJson>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) local: Option<WindowJson>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub(crate) struct WindowJson {
    pub(crate) base: Hex64,
    pub(crate) size: Hex64,
}

#[derive(Deserialize, Serialize, Default)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub(crate) struct MemoryJson {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) global: Vec<GlobalJson>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) shared: Option<SharedJson>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(crate) local: Option<LocalJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) constant: Vec<ConstantJson>,
}

only_objects!(Initial, WindowsJson, WindowJson, MemoryJson);
written_objects!(Initial, WindowsJson, WindowJson, MemoryJson);

impl WindowsJson {
    fn is_empty(&self) -> bool {
        self.shared.is_none() && self.local.is_none()
    }
}

fn is_forced(misaligned: &Misaligned) -> bool {
    *misaligned == Misaligned::Force
}

fn misaligned<S: Serializer>(misaligned: &Misaligned, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(misaligned.name())
}

/// Objects with bytes: their own keys, then either `hex`, or `file` with `offset` and `length`. A macro, because serde
/// cannot both flatten a common part and refuse unknown keys.
macro_rules! byte_objects {
    ($($name:ident { $($key:ident: $type:ty),* $(; $last:ident: $last_type:ty)? })+) => {
        $(
            #[derive(Deserialize, Serialize, Default)]
            #[serde(deny_unknown_fields, default, remote = "Self")]
            pub(crate) struct $name {
                $(
                    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
                    pub(crate) $key: $type,
                )*
                #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
                pub(crate) hex: Option<HexBytes>,
                #[serde(deserialize_with = "present", skip_serializing)]
                pub(crate) file: Option<PathBuf>,
                #[serde(deserialize_with = "present", skip_serializing)]
                pub(crate) offset: Option<u64>,
                #[serde(deserialize_with = "present", skip_serializing)]
                pub(crate) length: Option<u64>,
                $(
                    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
                    pub(crate) $last: $last_type,
                )?
            }

            only_objects!($name);
            written_objects!($name);

            impl $name {
                fn source(&mut self, key: &str) -> Result<BytesSource, JsonError> {
                    let span = (self.offset.unwrap_or(0), self.length);
                    match (self.hex.take(), self.file.take()) {
                        (Some(HexBytes(bytes)), None) if span == (0, None) => {
                            Ok(BytesSource::Bytes(bytes))
                        }
                        (None, Some(path)) => {
                            Ok(BytesSource::File { path, offset: span.0, length: span.1 })
                        }
                        _ => Err(JsonError::at(
                            key,
                            "expected either `hex`, or `file` with `offset` and `length`",
                        )),
                    }
                }
            }
        )+
    };
}

byte_objects! {
    GlobalJson { base: Option<Hex64> }
    SharedJson {}
    LocalJson { bytes_per_lane: Option<usize>; high: Option<HighJson> }
    HighJson { bytes_per_lane: Option<usize> }
    ConstantJson { bank: Option<u64> }
}

impl Initial {
    /// The SM of the instruction, 5.0 by default.
    pub(crate) fn sm(&self) -> Sm {
        self.sm.map_or(Sm::SPA5, |SmName(sm)| sm)
    }

    /// Refuses the keys that describe a warp.
    fn refuse_warp(&self) -> Result<(), JsonError> {
        let present = [
            self.active.is_some(),
            self.registers.is_some(),
            self.predicates.is_some(),
            self.uniform_registers.is_some(),
            self.uniform_predicates.is_some(),
        ];
        match WARP_KEYS.into_iter().zip(present).find(|(_, present)| *present) {
            Some((key, _)) => Err(JsonError::at(key, "unexpected key: a memory image has no warp")),
            None => Ok(()),
        }
    }

    /// The machine alone, for a manifest.
    pub(crate) fn machine(self, files: Files<'_>) -> Result<Machine, JsonError> {
        self.refuse_warp()?;
        Ok(self.machine_and_warp(files)?.0)
    }

    pub(crate) fn machine_and_warp(
        mut self,
        files: Files<'_>,
    ) -> Result<(Machine, Warp), JsonError> {
        let mut warp = Warp::new();
        if let Some(Hex32(active)) = self.active {
            warp.active = LaneMask::from_bits(active);
        }
        for (RegisterName(register), Lanes(values)) in self.registers.take().unwrap_or_default().0 {
            warp.set_register(register, values);
        }
        for (PredicateName(predicate), Hex32(lanes)) in self.predicates.take().unwrap_or_default().0
        {
            warp.set_predicate(predicate, LaneMask::from_bits(lanes));
        }
        for (UniformName(register), Hex32(value)) in
            self.uniform_registers.take().unwrap_or_default().0
        {
            warp.set_uniform_register(register, value);
        }
        for (UniformPredicateName(predicate), value) in
            self.uniform_predicates.take().unwrap_or_default().0
        {
            warp.set_uniform_predicate(predicate, value);
        }
        let register_limit = match self.register_limit {
            Some(limit) => {
                RegisterLimit::new(limit).map_err(|error| JsonError::at("register_limit", error))?
            }
            None => RegisterLimit::ALL,
        };
        let misaligned = self.misaligned;
        let memory = self.memory(files)?;
        Ok((Machine { register_limit, misaligned, memory }, warp))
    }

    fn map(&self) -> Result<AddressMap, JsonError> {
        let window = |json: &Option<WindowJson>, default: Window| match json {
            Some(json) => Window { base: json.base.0, size: json.size.0 },
            None => default,
        };
        AddressMap::new(
            self.address_bits.unwrap_or_else(|| default_address_bits(self.sm())),
            window(&self.windows.shared, Window::DEFAULT_SHARED),
            window(&self.windows.local, Window::DEFAULT_LOCAL),
        )
        .map_err(|error| {
            let is_width = matches!(error, ConfigError::AddressBits { .. });
            JsonError::at(if is_width { "address_bits" } else { "windows" }, error)
        })
    }

    fn memory(self, files: Files<'_>) -> Result<Memory, JsonError> {
        let map = self.map()?;
        let (arena, regions) = self.memory.sources(files)?.load()?;
        Memory::new(map, arena, regions).map_err(|error| JsonError::at("memory", error))
    }

    /// The layout of a manifest's memories, and their size in bytes. Only the sizes of files are read.
    pub(crate) fn layout(self, files: Files<'_>) -> Result<(AddressMap, Regions, u64), JsonError> {
        self.refuse_warp()?;
        let map = self.map()?;
        let sources = self.memory.sources(files)?;
        let (places, bytes) = sources.places(true)?;
        let regions = sources.regions(&places)?.checked(&map, bytes);
        Ok((map, regions.map_err(|error| JsonError::at("memory", error))?, bytes))
    }
}

fn required<T>(value: Option<T>, key: &str, name: &str) -> Result<T, JsonError> {
    value.ok_or_else(|| JsonError::at(key, format!("missing key `{name}`")))
}

impl MemoryJson {
    /// The sources of all objects' bytes.
    fn sources(self, files: Files<'_>) -> Result<Sources<'_>, JsonError> {
        let mut sources = Sources::new(files);
        for (i, mut global) in self.global.into_iter().enumerate() {
            let key = format!("memory.global[{i}]");
            let Hex64(base) = required(global.base, &key, "base")?;
            let source = global.source(&key)?;
            sources.add(key, Target::Global { base }, source);
        }
        if let Some(mut shared) = self.shared {
            let key = "memory.shared".to_owned();
            let source = shared.source(&key)?;
            sources.add(key, Target::Shared, source);
        }
        if let Some(mut local) = self.local {
            let key = "memory.local".to_owned();
            let has_low = local.bytes_per_lane.is_some() || local.hex.is_some();
            if has_low || local.file.is_some() || local.high.is_none() {
                let bytes_per_lane = required(local.bytes_per_lane, &key, "bytes_per_lane")?;
                let source = local.source(&key)?;
                sources.add(key, Target::LocalLow { bytes_per_lane }, source);
            }
            if let Some(mut high) = local.high {
                let key = "memory.local.high".to_owned();
                let bytes_per_lane = required(high.bytes_per_lane, &key, "bytes_per_lane")?;
                let source = high.source(&key)?;
                sources.add(key, Target::LocalHigh { bytes_per_lane }, source);
            }
        }
        for (i, mut constant) in self.constant.into_iter().enumerate() {
            let key = format!("memory.constant[{i}]");
            let bank = required(constant.bank, &key, "bank")?;
            let bank = u8::try_from(bank)
                .map_err(|_| JsonError::at(&key, ConfigError::ConstantBank { bank }))?;
            let source = constant.source(&key)?;
            sources.add(key, Target::Constant { bank }, source);
        }
        Ok(sources)
    }
}
