//! What the first look costs.

use std::time::Instant;

use serde_json::{Value, json};

use crate::shop::World;

pub async fn a_link_leads_to_the_first_chart(world: &World) {
    world.keep(None).await;
    let link = world.link(world.demo);
    let began = Instant::now();
    world.rig.goto(&link).await;
    world.rig.wait("form button").await.click().await.unwrap();
    let chart = world.rig.wait("figure svg.plot path.line").await;
    assert!(chart.rect().await.unwrap().width > 300.0);
    println!("from the link to the first chart: {:.1} s", began.elapsed().as_secs_f64());
}

/// What the network carried of a request, as it was encoded: all of it, and without its head.
#[derive(Debug)]
struct Carried {
    url: String,
    kind: String,
    bytes: f64,
    body: f64,
}

fn carried(events: &[Value]) -> Vec<Carried> {
    let of = |method: &'static str| {
        events.iter().filter(move |event| event["method"] == method).map(|event| &event["params"])
    };
    let length = |method, id: &Value, pointer: &str| {
        let found = of(method).find(|event| event["requestId"] == *id);
        found.and_then(|event| event.pointer(pointer)?.as_f64()).unwrap_or_default()
    };
    of("Network.requestWillBeSent")
        .map(|sent| {
            let head = length("Network.responseReceived", &sent["requestId"], "/response/encodedDataLength");
            let bytes = length("Network.loadingFinished", &sent["requestId"], "/encodedDataLength");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            Carried { url: text(&sent["request"]["url"]), kind: text(&sent["type"]), bytes, body: bytes - head }
        })
        .collect()
}

/// The sum of all unexpected shifts since the page began (Layout Instability API).
const SHIFTS: &str = r#"return new Promise((done) => {
    let sum = 0;
    const add = (shifts) => { for (const shift of shifts) sum += shift.value; };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => { add(observer.takeRecords()); done(sum); }));
})"#;

pub async fn the_overview_is_light(world: &World) {
    world.rig.cdp("Network.clearBrowserCache", json!({})).await;
    // A slow machine draws what is not finished, which is where things move.
    world.rig.cdp("Emulation.setCPUThrottlingRate", json!({"rate": 20})).await;
    world.open("/").await;
    let shifts = world.rig.run(SHIFTS).await.as_f64();
    world.rig.cdp("Emulation.setCPUThrottlingRate", json!({"rate": 1})).await;
    assert_eq!(shifts, Some(0.0), "what is there has moved");
    let all = carried(&world.rig.events().await);
    let body = |kind: &str| all.iter().filter(|one| one.kind == kind).map(|one| one.body).sum::<f64>();
    println!("the overview: {all:?}");
    assert!(all.len() <= 5, "{all:?}");
    assert!(all.iter().all(|one| one.url.starts_with(&world.site) && one.bytes > 0.0), "{all:?}");
    assert!(all.iter().map(|one| one.bytes).sum::<f64>() <= 40_000.0, "{all:?}");
    assert!(body("Script") <= 18_000.0 && body("Stylesheet") <= 6_000.0, "{all:?}");
    assert_eq!(world.rig.complaints().await, [""; 0]);
    // The next page brings itself alone.
    world.open("/profit").await;
    let next = carried(&world.rig.events().await);
    assert!(next.iter().filter(|one| one.bytes > 0.0).count() <= 1, "{next:?}");
}
