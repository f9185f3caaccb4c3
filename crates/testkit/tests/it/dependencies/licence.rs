//! Whether a licence expression is satisfied by licences that we accept.
//!
//! The grammar of SPDX 2.3, annex D, and the older habit of writing `/` for OR: `OR` binds weakest, `WITH` names an
//! exception and belongs to the licence before it.

/// Whether some choice of the expression's alternatives needs `accepted` licences only.
pub(super) fn accepts(expression: &str, accepted: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest, accepted) && rest.is_empty()
}

fn any(rest: &mut &[&str], accepted: &[String]) -> bool {
    let mut result = all(rest, accepted);
    while let Some((&"OR", after)) = rest.split_first() {
        *rest = after;
        result |= all(rest, accepted);
    }
    result
}

fn all(rest: &mut &[&str], accepted: &[String]) -> bool {
    let mut result = one(rest, accepted);
    while let Some((&"AND", after)) = rest.split_first() {
        *rest = after;
        result &= one(rest, accepted);
    }
    result
}

fn one(rest: &mut &[&str], accepted: &[String]) -> bool {
    let Some((&word, after)) = rest.split_first() else { return false };
    *rest = after;
    if word == "(" {
        let result = any(rest, accepted);
        let closed = rest.split_first().filter(|(word, _)| **word == ")");
        *rest = closed.map_or(&[], |(_, after)| after);
        return result && closed.is_some();
    }
    let mut licence = word.to_owned();
    if let ["WITH", exception, after @ ..] = *rest {
        licence = format!("{word} WITH {exception}");
        *rest = after;
    }
    accepted.contains(&licence)
}

#[test]
fn one_accepted_alternative_is_enough_but_every_part_of_it_is_needed() {
    let accepted = ["MIT", "Apache-2.0", "ISC"].map(str::to_owned);
    for good in ["MIT", "GPL-3.0-only OR MIT", "Apache-2.0/GPL-2.0", "(MIT OR GPL-3.0) AND ISC", "MIT AND (ISC)"] {
        assert!(accepts(good, &accepted), "{good}");
    }
    for bad in
        ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND Zlib", "Apache-2.0 WITH LLVM-exception", "(MIT", "MIT ISC", ""]
    {
        assert!(!accepts(bad, &accepted), "{bad}");
    }
}
