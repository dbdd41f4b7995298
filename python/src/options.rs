//! Keyword arguments as the libraries' typed options, deserialized from Python objects.

use std::fmt;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde::Deserialize;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::error::{ErrorKind, Failure};

/// Serializes dictionaries, lists, numbers and texts, including NumPy's, as JSON.
pub(crate) fn json_text(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let written =
        Value::deserialize(Object::<true>(object.clone(), 0)).map(|value| value.to_string());
    written.map_err(|wrong| match wrong {
        Wrong::Raised(raised) => raised,
        Wrong::Type(message) | Wrong::Value(message) => PyTypeError::new_err(message),
    })
}

/// Deserializes options from keyword arguments. A `None` counts as not given. Errors name the keyword.
pub(crate) fn options<T: DeserializeOwned>(keywords: &Bound<'_, PyDict>) -> PyResult<T> {
    let given: Vec<(String, Object<'_, false>)> = keywords
        .iter()
        .filter(|(_, value)| !value.is_none())
        .map(|(key, value)| Ok((key.extract()?, Object(value, 0))))
        .collect::<PyResult<_>>()?;
    let read = |given: &[(String, Object<'_, false>)]| {
        T::deserialize(MapDeserializer::<_, Wrong>::new(given.iter().cloned()))
    };
    read(&given).map_err(|wrong| {
        let is_wrong =
            |one: &&(String, Object<'_, false>)| read(std::slice::from_ref(one)).is_err();
        let key = given.iter().find(is_wrong).map_or("options", |(key, _)| key);
        match wrong {
            Wrong::Type(message) => PyTypeError::new_err(format!("{key}: {message}")),
            Wrong::Value(message) => {
                let message = format!("{key}: {message}");
                Failure::new(ErrorKind::Argument, message).raise(keywords.py())
            }
            Wrong::Raised(raised) => raised,
        }
    })
}

/// Why an object is not a valid option.
#[derive(Debug)]
enum Wrong {
    /// An object of another type, or an unknown keyword.
    Type(String),
    Value(String),
    Raised(PyErr),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(message) | Self::Value(message) => f.write_str(message),
            Self::Raised(raised) => raised.fmt(f),
        }
    }
}

impl std::error::Error for Wrong {}

impl Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Value(message.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::Type(format!("expected {expected}, not {unexpected}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::Type(format!("unknown option `{field}`; expected one of {}", expected.join(", ")))
    }
}

/// A Python object and its nesting depth. Options have no negative numbers, so they read objects with `SIGNED` false.
#[derive(Clone)]
struct Object<'py, const SIGNED: bool>(Bound<'py, PyAny>, u8);

/// The deepest nesting that is read. A list can contain itself, so there has to be a limit.
const MAX_DEPTH: u8 = 64;

impl<'de, 'py: 'de, const SIGNED: bool> IntoDeserializer<'de, Wrong> for Object<'py, SIGNED> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de, 'py: 'de, const SIGNED: bool> Deserializer<'de> for Object<'py, SIGNED> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Self(object, depth) = &self;
        if object.is_none() {
            return visitor.visit_unit();
        }
        if *depth == MAX_DEPTH {
            return Err(Wrong::Value(format!("more than {MAX_DEPTH} nested objects")));
        }
        let depth = depth + 1;
        if let Ok(flag) = object.cast::<PyBool>() {
            return visitor.visit_bool(flag.is_true());
        }
        if object.is_instance_of::<PyString>() {
            return visitor.visit_string(object.extract().map_err(Wrong::Raised)?);
        }
        // Includes NumPy's integers.
        if object.is_instance_of::<PyInt>() || object.hasattr("__index__").map_err(Wrong::Raised)? {
            return match (object.extract(), object.extract()) {
                (Ok(number), _) => visitor.visit_u64(number),
                (Err(_), Ok(number)) if SIGNED => visitor.visit_i64(number),
                _ => Err(Wrong::Value(format!("expected 0 to 2^64 - 1, not {object}"))),
            };
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            return visitor.visit_f64(number.value());
        }
        if let Ok(entries) = object.cast::<PyDict>() {
            let entry = |(key, value): (Bound<'py, PyAny>, _)| {
                Ok((key.extract::<String>()?, Self(value, depth)))
            };
            let entries: PyResult<Vec<_>> = entries.iter().map(entry).collect();
            let entries = entries.map_err(Wrong::Raised)?;
            return visitor.visit_map(MapDeserializer::new(entries.into_iter()));
        }
        match object.try_iter() {
            Ok(items) => {
                let items: PyResult<Vec<_>> = items.map(|item| Ok(Self(item?, depth))).collect();
                let items = items.map_err(Wrong::Raised)?;
                visitor.visit_seq(SeqDeserializer::new(items.into_iter()))
            }
            Err(_) => Err(Wrong::invalid_type(
                Unexpected::Other(&object.get_type().to_string()),
                &visitor,
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.0.extract::<String>() {
            Ok(word) => word.into_deserializer().deserialize_enum(name, variants, visitor),
            Err(_) => {
                let kind = self.0.get_type().to_string();
                Err(Wrong::invalid_type(Unexpected::Other(&kind), &"a str"))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
