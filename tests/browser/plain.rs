//! Without a script.

use serde_json::json;
use thirtyfour::By;

use crate::shop::World;

pub async fn everything_is_read_and_decided_without_a_script(world: &World) {
    world.rig.cdp("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    let find =
        async |what: &str| world.rig.driver.find(By::Css(what)).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    for page in &world.pages {
        world.visit(page).await;
        assert!(!find("main h1").await.text().await.unwrap().is_empty(), "{}", page.address);
        // What needs a script is not offered.
        for needing in world.rig.driver.find_all(By::Css("[data-copy], [data-help]")).await.unwrap() {
            assert!(!needing.is_displayed().await.unwrap(), "{}: {needing:?}", page.address);
        }
    }
    // What is folded unfolds.
    world.keep(Some(&world.cookie)).await;
    world.open("/").await;
    let fold = find("footer.foot details").await;
    fold.find(By::Css("summary")).await.unwrap().click().await.unwrap();
    assert!(fold.find(By::Css(":not(summary)")).await.unwrap().is_displayed().await.unwrap());

    // What was done stands above the list, with a way back.
    world.open("/insights").await;
    let told = async || world.rig.driver.find_all(By::Css("ol.items > li")).await.unwrap().len();
    let before = told().await;
    find("ol.items form button[value=dismissed]").await.click().await.unwrap();
    let undo = world.rig.wait(".note[role=status] form button").await;
    assert_eq!(told().await, before - 1);
    undo.click().await.unwrap();
    world.rig.wait(&format!("ol.items > li:nth-child({before})")).await;
}
