//! The commands that the manual prints, run as they are printed against the real binary with the demo shop.
//!
//! A block that is not run says why in a comment before it: `<!-- not run: it waits until it is stopped -->`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use reqwest::Method;
use serde_json::Value;

use crate::{
    service::{Process, api, free_port},
    webhook_tools::listen_at,
};

const COMMANDS: [&str; 4] = ["curl", "api", "psql", "pg_dump"];
const NOT_RUN: &str = "<!-- not run: ";
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A block of commands.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    /// File and line.
    place: String,
    commands: String,
}

/// Whether a line begins with one of the commands, settings before it aside.
fn is_command(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    words.next().is_some_and(|word| COMMANDS.contains(&word))
}

/// The blocks of a page that have commands in them, but those that say why they are not run. Of a block that is no shell's,
/// a screen for example, the lines with commands.
fn blocks(name: &str, page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, &str, Vec<&str>, bool)> = None;
    let mut before = "";
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some((number + 1, language, Vec::new(), before.starts_with(NOT_RUN))),
            (Some(_), Some((start, language, lines, excused))) => {
                before = "";
                let is_shell = language == "sh";
                let has_commands = lines.iter().any(|line| is_command(line));
                if (is_shell || language.is_empty()) && has_commands && !excused {
                    let kept: Vec<_> = lines.into_iter().filter(|line| is_shell || is_command(line)).collect();
                    blocks.push(Block { place: format!("{name}:{start}"), commands: kept.join("\n") });
                }
            }
            (None, Some((start, language, mut lines, excused))) => {
                lines.push(line);
                open = Some((start, language, lines, excused));
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => before = line,
        }
    }
    blocks
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The README, then the pages of the manual by name.
fn pages() -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files.insert(0, root().join("README.md"));
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    files.into_iter().map(|file| (name(&file), fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn a_block_is_run_unless_it_says_why_not() {
    let page = "text\n```sh\ncurl a\n```\n\n<!-- not run: it takes a year -->\n```sh\napi up\n```\n\n```\non the screen\n  \
                curl b\n```\n```json\napi x\n```\n```sh\nA=1 B='2' api c \\\n  --d\nmake e\n```\n";
    let found = blocks("page.md", page);
    let commands: Vec<_> = found.iter().map(|block| block.commands.as_str()).collect();
    assert_eq!(commands, ["curl a", "  curl b", "A=1 B='2' api c \\\n  --d\nmake e"]);
    assert_eq!(found[0].place, "page.md:2");
}

/// The commands that a text names in quotes, each as its leading plain words: subcommands, and perhaps an argument.
fn named(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let begins = text.match_indices("api ").filter(move |(at, _)| text[..*at].ends_with(['`', '"']));
    begins.map(move |(at, begin)| {
        let command = text[at + begin.len()..].split(['`', '"', '\n']).next().unwrap();
        let is_plain =
            |word: &&str| !word.starts_with('-') && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        command.split_whitespace().take_while(is_plain).collect()
    })
}

/// The files of a folder and of those within it.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Beside those that are run below: commands within sentences, and what the program and its pages print.
#[test]
fn every_command_that_is_named_anywhere_exists() {
    let mut commands = BTreeSet::new();
    let mut note =
        |text: &str| commands.extend(named(text).filter(|words| !words.is_empty()).map(|words| words.join(" ")));
    for (_, page) in pages() {
        note(&page);
    }
    for file in files_below(&root().join("crates")) {
        if file.extension().is_some_and(|extension| extension == "rs" || extension == "ftl") {
            note(&fs::read_to_string(file).unwrap());
        }
    }
    assert!(commands.contains("jobs list") && commands.len() > 40, "{commands:?}");
    for command in commands {
        let output = Command::new(crate::API).args(command.split(' ')).arg("--help").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("unrecognized subcommand"), "api {command}: {said}");
    }
}

/// `api/edge.rs` of a walk is `crates/api/src/edge.rs`.
#[test]
fn the_walks_through_the_architecture_name_files_that_exist() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let (_, walks) = page.split_once("\n## Six walks\n").unwrap();
    let (walks, _) = walks.split_once("\n## ").unwrap();
    let walks: Vec<_> = walks.split("\n**").skip(1).collect();
    assert_eq!(walks.len(), 6);
    for walk in walks {
        let files: Vec<_> = walk.split('`').skip(1).step_by(2).filter(|code| code.ends_with(".rs")).collect();
        assert!(files.len() > 2, "{walk}");
        for file in files {
            let (name, path) = file.split_once('/').unwrap();
            assert!(root().join("crates").join(name).join("src").join(path).is_file(), "{file}");
        }
    }
}

/// The marks in the code of a platform (`shops/shopify`), by the name of their file.
fn unverified(platform: &str) -> BTreeMap<String, usize> {
    let mut folders = vec![root().join("crates/connectors/src").join(platform)];
    if platform == "ads/meta" {
        // What it has in common with comments.
        folders.push(root().join("crates/connectors/src/graph"));
    }
    let own = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let files = own.chain(folders.iter().map(|folder| folder.with_extension("rs"))).filter(|path| path.is_file());
    let marks = files.map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(file).unwrap().matches("Unverified: ").count())
    });
    marks.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn what_is_unverified_of_a_platform_is_in_its_page() {
    for platform in ["shops/shopify", "shops/tiendanube", "shops/mercadolibre", "ads/meta", "ads/google_ads"] {
        let page = platform.split_once('/').unwrap().1.replace('_', "-");
        let page = fs::read_to_string(root().join(format!("docs/integrations/{page}.md"))).unwrap();
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        for cell in page.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit_once("| ")).map(|(_, cell)| cell) {
            let file = cell.split('`').find(|code| code.ends_with(".rs"));
            if let Some(file) = file {
                *named.entry(file.to_owned()).or_default() += 1;
            }
        }
        assert_eq!(named, unverified(platform), "{platform}");
    }
}

#[test]
fn a_decision_record_is_one_page_of_one_form() {
    let folder = root().join("docs/adr");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let record = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = record.lines().collect();
        let number: u32 = name[..4].parse().unwrap();
        assert!(lines.len() <= 60, "{name}");
        assert!(lines[0].starts_with(&format!("# {number}. ")), "{name}");
        assert!(lines[2].starts_with("- Status: accepted"), "{name}");
        assert!(lines.iter().any(|line| line.starts_with("- Date: 20")), "{name}");
        let sections: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(sections, ["Context", "Decision", "Consequences"], "{name}");
        assert!(index.contains(&format!("({name})")), "{name} is not in the index");
    }
}

/// What a reader replaces by what is on the own screen, too.
fn filled_in(commands: &str, process: &Process, key: &str, listener: &str, ids: &Ids) -> String {
    let payment = r#"$(curl "$GATEWAY/dev/payments" | grep -o 'pay_[A-Za-z0-9_-]*' | head -n 1)"#;
    commands
        .replace("svc_live_…", key)
        .replace("whsec_…", SECRET)
        .replace("pay_…", payment)
        .replace("http://127.0.0.1:9000/", listener)
        .replace("http://127.0.0.1:8080", &format!("http://{}", process.address()))
        .replace("/reorder/9\"", &format!("/reorder/{}\"", ids.suggestion))
        .replace("/insights/jobs/52\"", &format!("/insights/jobs/{}\"", ids.run))
}

/// The ids of things that the manual has others for.
struct Ids {
    suggestion: i64,
    run: i64,
}

async fn ids(process: &Process, key: &str) -> Ids {
    let suggestions = process.json("/api/v1/reorder?status=pending", key).await;
    let run = process.request(Method::POST, "/api/v1/insights/generate").bearer_auth(key).send().await.unwrap();
    let run: Value = run.json().await.unwrap();
    Ids {
        suggestion: suggestions["items"][0]["id"].as_i64().unwrap(),
        run: run["job_id"].as_i64().or(run["id"].as_i64()).unwrap_or_else(|| panic!("{run}")),
    }
}

fn executable(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_that_the_manual_prints_works() {
    if !is_installed("curl") || !is_installed("psql") {
        eprintln!("SKIPPED: curl and psql are not both on this machine");
        return;
    }
    let folder = testkit::reachable_folder().unwrap();
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(crate::API, programs.join("api")).unwrap();
    // An answer that is an error is an error.
    executable(
        &programs.join("curl"),
        "#!/bin/sh\nPATH=${PATH#*:}\nexec curl --silent --show-error --fail-with-body \"$@\"\n",
    );
    fs::write(
        folder.path().join("orders.csv"),
        "order_id,sku,name,quantity,date,unit_price\nO1,MUG,Mug,2,2026-05-01 11:00:00,10\n",
    )
    .unwrap();
    fs::write(folder.path().join("products.csv"), "sku,cost,cost_date\nMUG,4,2026-04-01\n").unwrap();

    // As `make run` does.
    let mut up = api("", &folder);
    up.arg("up").env_remove("BAS_DATA_KEYS").env("BAS_RATE_LIMIT_PER_MINUTE", "100000");
    let process = Process::start(&mut up);
    let key = fs::read_to_string(folder.path().join("data/demo_key")).unwrap().trim().to_owned();
    let gateway: SocketAddr = process.said()["gateway"].as_str().unwrap().parse().unwrap();
    let port = free_port();
    let (mut listener, address) = listen_at(&folder, &port.to_string(), SECRET, &[]);
    let address = format!("{}/", address.trim_end_matches('/'));
    let ids = ids(&process, &key).await;

    let path = std::env::var("PATH").unwrap();
    let mut failed = Vec::new();
    let mut run = BTreeSet::new();
    for (name, page) in pages() {
        for Block { place, commands } in blocks(&name, &page) {
            let commands = filled_in(&commands, &process, &key, &address, &ids);
            let mut shell = Command::new("bash");
            shell.args(["-euo", "pipefail", "-c", &commands]).current_dir(folder.path()).env_clear();
            shell.env("PATH", format!("{}:{path}", programs.display()));
            shell.env("API", format!("http://{}/api/v1", process.address())).env("KEY", &key);
            shell.env("GATEWAY", format!("http://{gateway}")).env("BAS_ADMIN_LISTEN", "127.0.0.1:0");
            shell.env("BAS_DASHBOARD_LISTEN", "127.0.0.1:0");
            let output = shell.output().unwrap();
            if !output.status.success() {
                let said = [output.stdout, output.stderr].concat();
                failed.push(format!("{place}\n{commands}\n{}", String::from_utf8_lossy(&said)));
            }
            run.insert(name.clone());
        }
    }
    listener.kill().unwrap();
    listener.wait().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    let with_commands = [
        "README.md",
        "alerts.md",
        "api.md",
        "credits.md",
        "dashboard.md",
        "insights.md",
        "integrations.md",
        "operations.md",
        "webhooks.md",
    ];
    for page in with_commands {
        assert!(run.contains(page), "no command of {page} was run");
    }
}
