//! Checks that the links of ARCHITECTURE.md, README.md and the book lead to what they name.

use std::path::Path;

use anyhow::{Result, ensure};

/// A link, `[text](path)`, and the identifier in backticks after it, if any.
#[derive(Debug, PartialEq, Eq)]
struct Link<'t> {
    path: &'t str,
    identifier: Option<&'t str>,
}

/// Follows the links of a document in `folder`; returns how many name an identifier.
///
/// # Errors
/// Returns an error that names each link without a file, and each file that lacks the identifier.
pub(crate) fn follow(folder: &Path, document: &str) -> Result<usize> {
    let mut wrong = Vec::new();
    let links = links(document);
    for Link { path, identifier } in &links {
        let file = folder.join(path.split('#').next().unwrap_or(path));
        match identifier {
            None if file.exists() => {}
            None => wrong.push(format!("\n{path}: no such file")),
            Some(identifier) => match std::fs::read_to_string(&file) {
                Ok(text) if has_word(&text, identifier) => {}
                Ok(_) => wrong.push(format!("\n{path}: no `{identifier}`")),
                Err(error) => wrong.push(format!("\n{path}: {error}")),
            },
        }
    }
    ensure!(wrong.is_empty(), "links that lead nowhere:{}", wrong.concat());
    Ok(links.iter().filter(|link| link.identifier.is_some()).count())
}

fn links(document: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (at, _) in document.match_indices("](") {
        let Some((path, after)) = document[at + 2..].split_once(')') else { continue };
        if path.contains("://") {
            continue;
        }
        let quoted = after.trim_start_matches([' ', '\n']).strip_prefix('`');
        let identifier = quoted.and_then(|text| text.split('`').next());
        links.push(Link { path, identifier });
    }
    links
}

/// Returns whether `word` occurs in `text`, but not as part of a longer identifier.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_of_the_architecture_lead_to_what_they_name() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        let named = follow(&root, &text).unwrap();
        assert!(named > 40, "{named} links name an identifier");
        for answer in [
            "An SM:",
            "A load of 128 bits:",
            "An instruction of 64 bits:",
            "A trace format:",
            "A counter:",
            "A PTX rule:",
            "A subcommand:",
        ] {
            assert!(text.contains(&format!("**{answer}**")), "{answer}");
        }
        assert_eq!(
            text.lines()
                .filter(|line| line.starts_with("| ")
                    && line.contains("](src/load/reference/")
                    && line.matches("](").count() == 2)
                .count(),
            10
        );
    }

    #[test]
    fn the_links_of_the_readme_and_the_book_lead_to_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for page in ["README.md", "SECURITY.md", "docs/SUMMARY.md"].map(|page| root.join(page)) {
            follow(page.parent().unwrap(), &std::fs::read_to_string(&page).unwrap()).unwrap();
        }
        let summary = std::fs::read_to_string(root.join("docs/SUMMARY.md")).unwrap();
        for (folder, up) in [("docs", "../"), ("docs/book", "../../")] {
            let folder = root.join(folder);
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension() != Some("md".as_ref()) || path.ends_with("SUMMARY.md") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                follow(&folder, &text).unwrap();
                // The book has nothing from outside of `docs/`.
                let outside = links(&text).into_iter().find(|link| link.path.starts_with(up));
                assert_eq!(outside, None, "{}", path.display());
                // Each page is in the table of contents.
                let name = path.strip_prefix(root.join("docs")).unwrap();
                let link = format!("]({})", name.display()).replace('\\', "/");
                assert!(summary.contains(&link), "{link}");
            }
        }
    }

    #[test]
    fn links_and_identifiers_are_read() {
        let text = "see [a](b.rs) `c` and [d](e.md).\n[f](https://g) `h`, [i](j)\n`k`";
        let link = |path, identifier| Link { path, identifier };
        let expected = [link("b.rs", Some("c")), link("e.md", None), link("j", Some("k"))];
        assert_eq!(links(text), expected);
        assert!(has_word("fn load_lanes()", "load_lanes") && !has_word("fn load_lanes()", "load"));
    }

    #[test]
    fn links_that_lead_nowhere_are_named() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error =
            follow(folder, "[a](src/none.rs), [b](src/main.rs) `not_in_there`").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("src/none.rs: no such file"), "{error}");
        assert!(error.contains("src/main.rs: no `not_in_there`"), "{error}");
    }
}
