//! The modules of the crate build on one another in one direction only.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The program text below `path`, without what only its tests use.
fn sources(path: &Path) -> Vec<String> {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().flat_map(|entry| sources(&entry.unwrap().path())).collect();
    }
    let text = fs::read_to_string(path).unwrap();
    vec![text.split("#[cfg(test)]").next().unwrap().to_owned()]
}

/// The modules that a text names: `crate::module`, or the first names within the braces of `crate::{…}`.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let mut depth = 0;
        let mut name = String::new();
        let mut in_path = false;
        for letter in rest.chars() {
            match letter {
                'a'..='z' | '0'..='9' | '_' if depth <= 1 && !in_path => name.push(letter),
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => in_path = false,
                _ => in_path |= !name.is_empty(),
            }
            if !matches!(letter, 'a'..='z' | '0'..='9' | '_') && !name.is_empty() {
                found.insert(std::mem::take(&mut name));
                in_path = letter != ',';
            }
            if depth == 0 && letter != '{' && (in_path || letter == '}' || letter == ';') {
                break;
            }
        }
    }
    found
}

#[test]
fn no_module_imports_one_that_imports_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if module != "lib" {
            imports.insert(module, sources(&path).iter().flat_map(|text| named(text)).collect());
        }
    }
    assert!(imports["v1"].contains("respond") && imports["edge"].contains("endpoint"), "{imports:?}");
    // Those that import nothing that is left can be taken away; what cannot ever be is in a circle.
    while let Some(free) = {
        let known: BTreeSet<String> = imports.keys().cloned().collect();
        let on = |module: &String| imports[module].iter().any(|other| other != module && known.contains(other));
        known.iter().find(|module| !on(module)).cloned()
    } {
        imports.remove(&free);
    }
    let circles: Vec<&String> = imports.keys().collect();
    assert!(circles.is_empty(), "modules that import one another in a circle, or build on such: {circles:?}");
}
