//! Which crate may use which: the drawing of the architecture as a table.

use super::{Dependency, Package, assert_none, metadata};

struct Rule {
    name: &'static str,
    /// The crates of this workspace that it may use; `None` for all.
    uses: Option<&'static [&'static str]>,
    /// Beginnings of the names of others' packages that it must not use.
    never: &'static [&'static str],
    /// What to do instead.
    instead: &'static str,
}

/// What does I/O, keeps time or belongs to a framework.
const IMPURE: &[&str] = &["actix", "deadpool", "diesel", "hyper", "rand", "reqwest", "rustls", "tokio", "tracing"];

const RULES: &[Rule] = &[
    Rule {
        name: "domain",
        uses: Some(&[]),
        never: IMPURE,
        instead: "the domain is pure: say what it needs as a port (a trait) in `domain`, and implement that in an adapter",
    },
    Rule {
        name: "analytics",
        uses: Some(&[]),
        never: IMPURE,
        instead: "the numerics are pure: let the caller pass slices, dates and random numbers in",
    },
    Rule {
        name: "app",
        uses: Some(&["domain", "analytics"]),
        never: &["actix", "deadpool", "diesel", "reqwest", "tokio-postgres"],
        instead: "a use case knows ports only: take a port of `domain`, and let `server` pass the adapter in",
    },
    Rule {
        name: "schema",
        uses: Some(&[]),
        never: &["actix", "deadpool", "reqwest", "tokio"],
        instead: "it declares tables: what is asked of them belongs to `store`",
    },
    Rule {
        name: "store",
        uses: Some(&["domain", "schema"]),
        never: &["actix", "reqwest"],
        instead: "adapters never see each other: what two need belongs to `domain`, what joins them to `app`",
    },
    Rule {
        name: "delivery",
        uses: Some(&["domain"]),
        never: &["actix", "deadpool", "diesel", "tokio-postgres"],
        instead: "adapters never see each other: what two need belongs to `domain`, what joins them to `app`",
    },
    Rule {
        name: "connectors",
        uses: Some(&["domain"]),
        never: &["actix", "deadpool", "diesel", "tokio-postgres"],
        instead: "adapters never see each other: what two need belongs to `domain`, what joins them to `app`",
    },
    Rule {
        name: "imports",
        uses: Some(&["domain"]),
        never: &["actix", "deadpool", "diesel", "hyper", "reqwest", "tokio-postgres"],
        instead: "it reads files: what becomes of the rows is for the port of `domain` that is passed in",
    },
    Rule {
        name: "mail",
        uses: Some(&["domain"]),
        never: &["actix", "deadpool", "diesel", "reqwest", "tokio-postgres"],
        instead: "it sends what it is given: what a mail says and when it is due belong to `domain` and `app`",
    },
    Rule {
        name: "devtools",
        uses: Some(&["connectors", "domain"]),
        never: &["deadpool", "diesel", "tokio-postgres"],
        instead: "a stand-in is another system: it meets the service by HTTP",
    },
    Rule {
        name: "demo",
        uses: Some(&["domain"]),
        never: &["actix", "deadpool", "diesel", "hyper", "reqwest", "tokio-postgres"],
        instead: "the demo shop goes in by the ports that a shop's files go in by",
    },
    Rule {
        name: "redis-adapter",
        uses: Some(&["domain"]),
        never: &["actix", "deadpool", "diesel", "reqwest", "tokio-postgres"],
        instead: "adapters never see each other: what two need belongs to `domain`, what joins them to `app`",
    },
    Rule {
        name: "web",
        uses: Some(&["domain"]),
        never: &["deadpool", "diesel", "reqwest", "tokio-postgres", "utoipa"],
        instead: "it is what HTTP faces share: what knows an endpoint or the form of an answer belongs to a face such as `api`",
    },
    Rule {
        name: "api",
        uses: Some(&["app", "domain", "web"]),
        never: &["deadpool", "diesel", "reqwest", "tokio-postgres"],
        instead: "a handler calls a port of `domain` or a use case of `app`; which adapter stands behind it is for `server`",
    },
    Rule {
        name: "dashboard",
        uses: Some(&["app", "domain", "web"]),
        never: &["deadpool", "diesel", "reqwest", "tokio-postgres", "utoipa"],
        instead: "a page calls a port of `domain` or a use case of `app`; which adapter stands behind it is for `server`",
    },
    Rule {
        name: "pgcluster",
        uses: Some(&[]),
        never: &["actix", "diesel", "tokio"],
        instead: "it starts a server and knows nothing of what is stored there: do it in `server` or `testkit`",
    },
    Rule {
        name: "server",
        uses: Some(&[
            "analytics",
            "api",
            "app",
            "connectors",
            "dashboard",
            "delivery",
            "demo",
            "devtools",
            "domain",
            "imports",
            "mail",
            "pgcluster",
            "redis-adapter",
            "store",
            "web",
        ]),
        never: &[],
        instead: "what only tests and measurements need is never shipped: make it a dev-dependency",
    },
    Rule {
        name: "blackbox",
        uses: Some(&["pgcluster", "server", "testkit"]),
        never: &[],
        instead: "it sees the service from outside; a test that needs more stands in the crate that it tests",
    },
    Rule { name: "testkit", uses: None, never: &[], instead: "" },
    Rule { name: "bench", uses: None, never: &[], instead: "" },
];

/// One sentence for every arrow that is not in the table. What only tests use does not count.
fn faults(packages: &[Package]) -> Vec<String> {
    let ours: Vec<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    let mut faults = Vec::new();
    for package in packages {
        let Some(rule) = RULES.iter().find(|rule| rule.name == package.name) else {
            faults.push(format!(
                "`{}` is not in the table of {}: say there which crates it may use",
                package.name,
                file!()
            ));
            continue;
        };
        let shipped = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
        for Dependency { name, .. } in shipped {
            let strange = rule.uses.is_some_and(|uses| ours.contains(&&**name) && !uses.contains(&&**name));
            let unfit = rule.never.iter().any(|start| name.starts_with(start));
            if strange || unfit {
                faults.push(format!("`{}` must not use `{name}`: {}", rule.name, rule.instead));
            }
        }
    }
    faults
}

#[test]
fn every_arrow_is_one_of_the_drawing() {
    assert_none(&faults(&metadata::<Package>(&["--no-deps"])));
}

fn package(name: &str, uses: &[(&str, Option<&str>)]) -> Package {
    let dependency =
        |(name, kind): &(&str, Option<&str>)| Dependency { name: (*name).to_owned(), kind: kind.map(str::to_owned) };
    Package { name: name.to_owned(), license: None, dependencies: uses.iter().map(dependency).collect() }
}

#[test]
fn a_wrong_arrow_is_named_with_what_to_do_instead() {
    let found = faults(&[
        package("domain", &[("store", None), ("serde", None)]),
        package("store", &[("domain", None), ("diesel", None), ("testkit", Some("dev"))]),
        package("testkit", &[("store", None)]),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("`domain` must not use `store`: the domain is pure"), "{found:?}");
}

#[test]
fn a_framework_in_a_pure_crate_is_a_fault_unless_only_its_tests_use_it() {
    let found =
        faults(&[package("analytics", &[("tokio", None), ("rand", Some("dev")), ("tokio-util", Some("build"))])]);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_crate_that_is_not_in_the_drawing_is_a_fault() {
    let found = faults(&[package("helpers", &[])]);
    assert!(found[0].starts_with("`helpers` is not in the table"), "{found:?}");
}
