//! What axe-core and the width of a phone say of every page.

use serde_json::Value;

use crate::{
    rig::{DARK, PHONE, View, WIDE},
    shop::World,
};

/// The rules: WCAG 2.2 A and AA, and what is good practice.
const AXE: &str = include_str!("../vendor/axe-core/axe.min.js");
const CHECK: &str = r#"
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const part = document.querySelector("details.menu[open], [popover]:popover-open") ?? document;
    return axe.run(part, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] }).then((found) =>
        found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id} at ${node.target}: ${node.failureSummary}`)));"#;
/// Opens what is folded: what is hidden is not looked at. Menus would cover what is below them.
pub const UNFOLD: &str = "for (const one of document.querySelectorAll('details:not(.menu)')) one.open = true";

/// Each theme at each width, and of each once with all that can be unfolded.
const VIEWS: [(View, bool); 4] =
    [(WIDE, false), (PHONE, false), (View { width: PHONE.width, ..DARK }, true), (DARK, true)];

pub async fn no_page_breaks_a_rule_of_axe(world: &World) {
    let mut faults = Vec::new();
    for page in world.all_pages() {
        world.visit(page).await;
        world.rig.run(AXE).await;
        for (view, unfolded) in VIEWS {
            world.rig.view(view).await;
            if unfolded {
                world.rig.run(UNFOLD).await;
            }
            note(&mut faults, &format!("{} {view:?}", page.address), &world.rig.run(CHECK).await);
        }
        faults.extend(world.rig.complaints().await.into_iter().map(|line| format!("{}: {line}", page.address)));
    }
    // What is not as it was asked for, of which the console speaks too.
    world.keep(Some(&world.cookie)).await;
    for address in ["/nothing", "/integrations/shopify/callback?code=of-nobody&state=none", "/?until=yesterday"] {
        world.open(address).await;
        world.rig.run(AXE).await;
        for view in [WIDE, View { width: PHONE.width, ..DARK }] {
            world.rig.view(view).await;
            note(&mut faults, &format!("{address} {view:?}"), &world.rig.run(CHECK).await);
        }
    }
    // What lies over a page: a menu, the list of keys, and the navigation of a phone.
    for (view, opens) in [
        (WIDE, "document.querySelector('details.menu').open = true"),
        (WIDE, "document.querySelector('#keys').showPopover()"),
        (PHONE, "document.querySelector('#nav').showPopover()"),
    ] {
        world.rig.view(view).await;
        world.open("/").await;
        world.rig.run(AXE).await;
        world.rig.run(opens).await;
        note(&mut faults, opens, &world.rig.run(CHECK).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn note(faults: &mut Vec<String>, what: &str, found: &Value) {
    faults.extend(found.as_array().unwrap().iter().map(|fault| format!("{what}: {}", fault.as_str().unwrap())));
}

pub async fn no_page_is_wider_than_its_window(world: &World) {
    for language in ["en", "es", "pt-BR"] {
        world.speak(language).await;
        for page in &world.pages {
            world.visit(page).await;
            world.rig.run(UNFOLD).await;
            for view in [WIDE, PHONE] {
                world.rig.view(view).await;
                world.rig.assert_fits(&format!("{language} {} at {}", page.address, view.width)).await;
            }
        }
    }
}
