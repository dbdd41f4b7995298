//! [`Names`]: a column of few texts, as a dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, StringArray};
use arrow_schema::ArrowError;

/// Texts, each once, in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    texts: Arc<StringArray>,
}

impl Names {
    /// Returns the distinct texts, and the key of each text.
    pub(crate) fn new<'t>(all: impl IntoIterator<Item = &'t str>) -> (Self, Vec<i32>) {
        let (mut texts, mut known) = (Vec::new(), HashMap::new());
        let keys = all
            .into_iter()
            .map(|text| {
                *known.entry(text).or_insert_with(|| {
                    texts.push(text);
                    texts.len() as i32 - 1
                })
            })
            .collect();
        (Self { texts: Arc::new(StringArray::from_iter_values(texts)) }, keys)
    }

    /// Returns a column with those keys.
    pub(crate) fn column(&self, keys: Vec<i32>) -> Result<ArrayRef, ArrowError> {
        let texts: ArrayRef = Arc::clone(&self.texts) as ArrayRef;
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys.into(), texts)?))
    }
}
