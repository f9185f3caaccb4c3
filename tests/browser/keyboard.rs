//! With keys alone, and what the script adds.

use serde_json::{Value, json};
use thirtyfour::By;

use crate::{access::UNFOLD, shop::World};

/// Notes where the focus goes, and whether that is seen: by an outline of at least 2 px.
const WATCH: &str = r#"
    window.visited = new Set(); window.unseen = [];
    addEventListener("focusin", ({ target }) => {
        visited.add(target);
        const { outlineStyle, outlineWidth } = getComputedStyle(target);
        if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) unseen.push(target.outerHTML.slice(0, 120));
    });
    // A date has its parts and its calendar.
    return reachable().reduce((stops, one) => stops + (one.type === "date" ? 4 : 1), 0);"#;
/// What a reader can do something with, in a page where nothing takes it out of the order.
const REACHABLE: &str = r#"
    window.reachable = () => [...document.querySelectorAll("a[href], button, summary, input:not([type=hidden]), select, textarea, [tabindex='0']")]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)
        // Of several with one name, the keys choose among them.
        .filter((one) => one.type !== "radio" || one.checked);"#;
const MISSED: &str =
    "return [unseen, reachable().filter((one) => !visited.has(one)).map((one) => one.outerHTML.slice(0, 120))]";

pub async fn the_tabulator_reaches_all_and_shows_where_it_is(world: &World) {
    for page in world.all_pages() {
        world.visit(page).await;
        world.rig.run(REACHABLE).await;
        if page.address == "/" {
            world.rig.run(UNFOLD).await;
        }
        let count = world.rig.run(WATCH).await.as_u64().unwrap();
        for _ in 0..count {
            world.rig.press("Tab").await;
        }
        assert_eq!(world.rig.run(MISSED).await, json!([[], []]), "{}", page.address);
    }
}

pub async fn keys_move_and_can_be_switched_off(world: &World) {
    world.open("/").await;
    let there = |address: &str| format!("nav.nav a[aria-current=page][href='{address}']");
    let chosen = |address: &str| format!("nav.seg a[aria-current][href='{address}']");
    for (keys, arrived) in [
        (["g", "p"].as_slice(), there("/profit")),
        (&["w"], chosen("/profit?period=7d")),
        (&["g", "i"], there("/inventory")),
        (&["g", "c"], there("/customers")),
        (&["g", "a"], there("/anomalies")),
        (&["g", "o"], there("/")),
        (&["q"], chosen("/?period=90d")),
        // The days before, and back to the last that are over.
        (&["ArrowLeft"], "nav.seg a[rel=next][href='/?period=90d']".to_owned()),
        (&["ArrowRight"], "nav.seg a[aria-disabled]".to_owned()),
        (&["e"], "details[open] > [data-key=e]".to_owned()),
        (&["x"], "details.menu[open]".to_owned()),
        (&["Escape"], "details.menu:not([open])".to_owned()),
        // The last day that is over.
        (&["d"], "nav.tools a[rel=next]".to_owned()),
        (&["g", "c"], there("/customers")),
        (&["/"], "input[type=search]:focus".to_owned()),
    ] {
        for key in keys {
            world.rig.press(key).await;
        }
        world.rig.wait(&arrived).await;
    }
    world.open("/").await;
    let help = "return document.querySelector('#keys').matches(':popover-open')";
    assert_eq!(world.rig.run(help).await, Value::Bool(false));
    world.rig.press("?").await;
    assert_eq!(world.rig.run(help).await, Value::Bool(true));
    let listed = world.rig.driver.find(By::Id("keys")).await.unwrap().text().await.unwrap();
    assert!(listed.contains("Profit") && listed.contains("g p"), "{listed}");
    // Switched off, and so it stays on the next page.
    world.rig.driver.find(By::Css("#keys input[type=checkbox]")).await.unwrap().click().await.unwrap();
    world.rig.press("Escape").await;
    world.open("/").await;
    world.rig.press("g").await;
    world.rig.press("p").await;
    assert_eq!(world.rig.driver.current_url().await.unwrap().path(), "/");
    world.rig.run("localStorage.clear()").await;
}

pub async fn a_chart_says_the_values_of_a_day(world: &World) {
    world.open("/").await;
    let hair = "return document.querySelector('svg.plot .hair').checkVisibility()";
    assert_eq!(world.rig.run(hair).await, Value::Bool(false));
    let plot = world.rig.driver.find(By::Css("svg.plot")).await.unwrap();
    plot.scroll_into_view().await.unwrap();
    world.rig.driver.action_chain().move_to_element_center(&plot).perform().await.unwrap();
    let said = world.rig.run("return document.querySelector('.tip:not([hidden])')?.innerText ?? ''").await;
    assert_eq!(world.rig.run(hair).await, Value::Bool(true));
    let table = world.rig.run("return [...document.querySelectorAll('.chart ~ footer table tbody tr')].map((row) => row.cells[0].textContent)").await;
    let said = said.as_str().unwrap();
    assert!(table.as_array().unwrap().iter().any(|day| said.contains(day.as_str().unwrap())), "{said}: {table}");
}

pub async fn a_command_is_copied(world: &World) {
    let permission = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": world.site});
    world.rig.cdp("Browser.grantPermissions", permission).await;
    world.open("/profit").await;
    world.rig.run(UNFOLD).await;
    world.rig.driver.find(By::Css("[data-copy]")).await.unwrap().click().await.unwrap();
    let copied = world.rig.run("return navigator.clipboard.readText()").await;
    assert!(copied.as_str().is_some_and(|text| text.starts_with("curl ")), "{copied}");
}

pub async fn a_form_that_is_pressed_twice_is_sent_once(world: &World) {
    world.open("/settings").await;
    let script = "const form = document.querySelector('main form[method=post]');
        let sent = 0;
        addEventListener('submit', (event) => { sent += !event.defaultPrevented; event.preventDefault(); });
        form.noValidate = true;
        form.requestSubmit();
        form.requestSubmit();
        const { account } = document.documentElement.dataset;
        return [sent, new URL(form.action).search === `?account=${account}` && Number(account) > 0]";
    assert_eq!(world.rig.run(script).await, json!([1, true]));
}
