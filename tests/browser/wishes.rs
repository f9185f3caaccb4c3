//! What readers ask of their system: forced colours, less motion, a larger page, paper.

use serde_json::{Value, json};
use thirtyfour::common::print::PrintParameters;

use crate::{access::UNFOLD, shop::World};

/// Buttons and what is chosen are told by lines, and lines of charts are not in the colour of the page.
const FORCED: &str = r#"
    const background = getComputedStyle(document.body).backgroundColor;
    const of = (selector, test) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
        .filter((one) => !test(getComputedStyle(one))).map((one) => one.outerHTML.slice(0, 120));
    return [matchMedia("(forced-colors: active)").matches,
        of(".btn, .badge, .note", (style) => parseFloat(style.borderTopWidth) >= 1),
        of("[aria-current]", (style) => style.outlineStyle !== "none"),
        of(".plot .line, .plot .dot", (style) => style.stroke !== background),
        of(".plot text", (style) => style.fill !== background)];"#;
const MOVING: &str = r#"
    return [...document.querySelectorAll("*")].flatMap((one) => {
        const { animationName, transitionDuration } = getComputedStyle(one);
        return animationName === "none" && /^0s(, 0s)*$/.test(transitionDuration) ? [] : [one.outerHTML.slice(0, 120)];
    }).concat(document.getAnimations().map(String))"#;

pub async fn what_the_reader_asks_of_the_system_is_kept(world: &World) {
    for page in &world.pages {
        world.rig.media("", &[("forced-colors", "active")]).await;
        world.visit(page).await;
        assert_eq!(world.rig.run(FORCED).await, json!([true, [], [], [], []]), "{}", page.address);
        world.rig.media("", &[("prefers-reduced-motion", "reduce")]).await;
        assert_eq!(world.rig.run(MOVING).await, json!([]), "{}", page.address);
    }
}

/// A window of 1280 by 1024 px at 400 % is 320 by 256 px of CSS (WCAG 2.2, 1.4.10).
pub async fn a_page_is_read_at_400_per_cent(world: &World) {
    let metrics = json!({"width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": false});
    world.rig.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
    for page in world.all_pages() {
        world.visit(page).await;
        world.rig.run(UNFOLD).await;
        world.rig.assert_fits(&page.address).await;
        // Nothing that stays in its place covers what is read.
        let fixed = "return [...document.querySelectorAll('body *')].filter((one) => /fixed|sticky/.test(getComputedStyle(one).position)
            && one.checkVisibility() && one.offsetHeight > 64).map((one) => one.outerHTML.slice(0, 120))";
        assert_eq!(world.rig.run(fixed).await, json!([]), "{}", page.address);
    }
}

pub async fn a_page_is_printed(world: &World) {
    for page in &world.pages {
        world.visit(page).await;
        world.rig.media("print", &[]).await;
        let shown = "return [...document.querySelectorAll('nav, form, button, .tools')].filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 120))";
        assert_eq!(world.rig.run(shown).await, json!([]), "{}", page.address);
        let kept = world.rig.run("return document.querySelector('main h1').checkVisibility()").await;
        assert_eq!(kept, Value::Bool(true), "{}", page.address);
    }
    world.rig.media("", &[]).await;
    let paper = world.rig.driver.print_page(PrintParameters::default()).await.unwrap();
    assert!(paper.starts_with(b"%PDF"));
}
