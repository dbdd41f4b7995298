//! The names in a source file: the modules and items that it defines, what it imports, and all paths in
//! it.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemMod, ItemUse, Macro, UseTree, Visibility};

/// A `use` of one name.
pub(crate) struct Import {
    /// Its name in this file; `None` for `*`.
    pub(crate) name: Option<String>,
    pub(crate) path: Vec<String>,
    pub(crate) is_re_export: bool,
}

/// The names in a source file.
#[derive(Default)]
pub(crate) struct Source {
    /// Modules in files of their own.
    pub(crate) children: Vec<String>,
    pub(crate) items: Vec<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths outside `use`, including those in macros.
    pub(crate) paths: Vec<Vec<String>>,
    /// How many inline modules surround the current place.
    depth: usize,
}

impl Source {
    pub(crate) fn new(text: &str) -> syn::Result<Self> {
        let mut source = Self::default();
        source.visit_file(&syn::parse_file(text)?);
        Ok(source)
    }

    /// Returns the path relative to the file: `super` in an inline module may be the file itself.
    fn relative(&self, path: Vec<String>) -> Vec<String> {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        if self.depth == 0 || supers == 0 {
            return path;
        }
        let mut seen = vec!["super".to_owned(); supers.saturating_sub(self.depth)];
        if seen.is_empty() {
            seen.push("self".to_owned());
        }
        seen.extend(path.into_iter().skip(supers));
        seen
    }

    fn add_use(&mut self, tree: &UseTree, mut path: Vec<String>, is_re_export: bool) {
        let (name, last) = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                return self.add_use(&tree.tree, path, is_re_export);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, path.clone(), is_re_export);
                }
                return;
            }
            UseTree::Name(tree) => (Some(tree.ident.to_string()), tree.ident.to_string()),
            UseTree::Rename(tree) => (Some(tree.rename.to_string()), tree.ident.to_string()),
            UseTree::Glob(_) => (None, "self".to_owned()),
        };
        let name = match (name.as_deref(), path.last()) {
            (Some("self"), Some(module)) => Some(module.clone()),
            _ => name,
        };
        if last != "self" {
            path.push(last);
        }
        let path = self.relative(path);
        self.imports.push(Import { name, path, is_re_export });
    }

    /// Adds the paths in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.take(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.take(&mut path);
                    self.add_tokens(group.stream());
                }
                _ => self.take(&mut path),
            }
        }
        self.take(&mut path);
    }

    fn take(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            let path = self.relative(std::mem::take(path));
            self.paths.push(path);
        }
    }
}

impl Visit<'_> for Source {
    fn visit_file(&mut self, file: &File) {
        for item in &file.items {
            self.visit_item(item);
        }
    }

    fn visit_item(&mut self, item: &Item) {
        if is_test(attributes(item)) {
            return;
        }
        if self.depth == 0
            && let Some(name) = name(item)
        {
            self.items.push(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        let Some((_, items)) = &item.content else {
            return self.children.push(item.ident.to_string());
        };
        self.items.push(item.ident.to_string());
        self.depth += 1;
        for item in items {
            self.visit_item(item);
        }
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let is_re_export = !matches!(item.vis, Visibility::Inherited);
        self.add_use(&item.tree, Vec::new(), is_re_export);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let segments = self.relative(segments);
        self.paths.push(segments);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &Macro) {
        visit::visit_macro(self, item);
        self.add_tokens(item.tokens.clone());
    }
}

/// Returns whether the attributes include `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Ok(list) = attribute.meta.require_list() else { return false };
        let conditions = list.tokens.to_string();
        list.path.is_ident("cfg") && (conditions == "test" || conditions.starts_with("all (test"))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(name.to_string())
}
