//! [`record!`]: results as immutable classes.

use std::convert::Infallible;
use std::marker::PhantomData;

#[cfg(feature = "stubs")]
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};

/// Defines an immutable class with a getter for each field, equality, a hash, and a `repr` of all fields or, after
/// `repr`, another one. `pickled` adds a constructor, so that the class travels between processes.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pickled $name:ident in $module:literal {
            $($(#[$doc:meta])* $field:ident: $type:ty,)*
        }
        $(repr $repr:expr;)?
        $({ $($methods:tt)* })?
    ) => {
        record! {
            @class [from_py_object]
            $(#[$meta])*
            $name in $module { $($(#[$doc])* $field: $type,)* }
            $(repr $repr;)?
            {
                #[allow(clippy::too_many_arguments, reason = "one for each field")]
                #[new]
                fn new($($field: $type),*) -> Self {
                    Self { $($field),* }
                }

                #[pyo3(signature = () -> "tuple[object, ...]")]
                fn __reduce__<'py>(
                    &self,
                    py: Python<'py>,
                ) -> PyResult<(Bound<'py, pyo3::types::PyType>, Bound<'py, pyo3::types::PyTuple>)> {
                    use pyo3::IntoPyObjectExt as _;
                    let fields = [$(self.$field.clone().into_bound_py_any(py)?),*];
                    Ok((py.get_type::<Self>(), pyo3::types::PyTuple::new(py, fields)?))
                }

                $($($methods)*)?
            }
        }
    };
    (
        $(#[$meta:meta])*
        $name:ident in $module:literal {
            $($(#[$doc:meta])* $field:ident: $type:ty,)*
        }
        $(repr $repr:expr;)?
        $({ $($methods:tt)* })?
    ) => {
        record! {
            @class []
            $(#[$meta])*
            $name in $module { $($(#[$doc])* $field: $type,)* }
            $(repr $repr;)?
            { $($($methods)*)? }
        }
    };
    (
        @class [$($from:ident)?]
        $(#[$meta:meta])*
        $name:ident in $module:literal { $($(#[$doc:meta])* $field:ident: $type:ty,)* }
        $(repr $repr:expr;)?
        { $($methods:tt)* }
    ) => {
        $(#[$meta])*
        #[pyclass(frozen, eq, hash, get_all, $($from,)? module = $module)]
        #[derive(Clone, PartialEq, Hash)]
        pub(crate) struct $name {
            $($(#[$doc])* pub(crate) $field: $type,)*
        }

        #[pymethods]
        impl $name {
            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                record!(@repr self, py, $name [$($field)*] $($repr)?)
            }

            $($methods)*
        }
    };
    (@repr $self:ident, $py:ident, $name:ident [$($field:ident)*]) => {{
        use pyo3::IntoPyObjectExt as _;
        let fields =
            [$((stringify!($field), $self.$field.clone().into_bound_py_any($py)?)),*];
        $crate::record::repr(stringify!($name), &fields)
    }};
    (@repr $self:ident, $py:ident, $name:ident [$($field:ident)*] $repr:expr) => {{
        let _ = $py;
        let written: fn(&$name) -> String = $repr;
        Ok(written($self))
    }};
}
pub(crate) use record;

/// Writes `Name(field=value, …)`.
pub(crate) fn repr(name: &str, fields: &[(&str, Bound<'_, PyAny>)]) -> PyResult<String> {
    let field = |(name, value): &(&str, Bound<'_, PyAny>)| {
        Ok(format!("{}={}", name.trim_start_matches("r#"), value.repr()?))
    };
    let fields: Vec<String> = fields.iter().map(field).collect::<PyResult<_>>()?;
    Ok(format!("{name}({})", fields.join(", ")))
}

/// An iterator over results, for the stubs.
pub(crate) struct Iter<'py, T>(Bound<'py, PyIterator>, PhantomData<T>);

impl<'py, T: IntoPyObject<'py>> Iter<'py, T> {
    pub(crate) fn new(py: Python<'py>, results: Vec<T>) -> PyResult<Self> {
        Ok(Self(PyList::new(py, results)?.try_iter()?, PhantomData))
    }
}

impl<'py, T: IntoPyObject<'py>> IntoPyObject<'py> for Iter<'py, T> {
    type Target = PyIterator;
    type Output = Bound<'py, PyIterator>;
    type Error = Infallible;

    #[cfg(feature = "stubs")]
    const OUTPUT_TYPE: PyStaticExpr = pyo3::type_hint_subscript!(
        pyo3::type_hint_identifier!("collections.abc", "Iterator"),
        T::OUTPUT_TYPE
    );

    fn into_pyobject(self, _: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }
}
