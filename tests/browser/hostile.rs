//! Names that would rather be markup, in a browser that would run them.

use std::{fmt::Write as _, fs};

use time::Duration;

use crate::{
    crawl::Crawler,
    rig::PHONE,
    service::{self, run},
    shop::World,
};

const NAMES: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "' onmouseover='alert(3)",
    "</td></table><svg onload=alert(4)>",
    "<!-- unfinished",
    "</title><style>*{display:none}</style>",
    "javascript:alert(5)",
    "{{7*7}} ${7*7} { $product }",
];
/// Would turn the order of what follows: a name that has it is drawn without it.
const TURNED: &str = "Mug \u{202e}\u{2066}gum";

/// Products of these names that sell every day, of each of which one is left.
fn fill(world: &World, names: &[&str]) {
    let service = &world.service;
    let today = service::today();
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id,email\n".to_owned();
    let mut stock = "sku,stock,date\n".to_owned();
    for (number, name) in names.iter().enumerate() {
        let name = name.replace('"', "\"\"");
        writeln!(stock, "SKU{number},1,{today}").unwrap();
        for back in 0..40 {
            let day = today - Duration::days(back);
            writeln!(
                orders,
                "O{number}-{back},SKU{number},\"{name}\",2,{day} 00:30:00,10.50,\"{name}{back}\",c@example.com"
            )
            .unwrap();
        }
    }
    let account = service.stranger.to_string();
    for (what, text) in [("orders", orders), ("stock", stock)] {
        let file = service.folder.path().join(format!("hostile-{what}.csv"));
        fs::write(&file, text).unwrap();
        let arguments = ["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
        run(&mut service.api(&arguments));
    }
    run(&mut service.api(&["jobs", "run", "all", "--account", &account]));
}

pub async fn names_draw_nothing_but_themselves(world: &World) {
    let names: Vec<&str> = NAMES.into_iter().chain([TURNED]).collect();
    fill(world, &names);
    let shop = "UPDATE accounts SET name = $2 WHERE id = $1";
    world.sql.execute(shop, &[&world.service.stranger, &NAMES[5]]).await.unwrap();
    let cookie = world.log_in(world.service.stranger).await;
    let mut read = String::new();
    let pages = Crawler::new(&world.site, Some(&cookie), 1).pages().await;
    for page in pages.iter().filter(|page| !page.is_file) {
        // A dialogue would refuse the next command.
        world.open(&page.address).await;
        let text = world.rig.run("return document.documentElement.textContent").await;
        assert_eq!(world.rig.complaints().await, [""; 0], "{}", page.address);
        assert!(!text.as_str().unwrap().contains(['\u{202e}', '\u{2066}']), "{}", page.address);
        assert!(
            world.rig.run("return document.querySelector('main h1').checkVisibility()").await == true,
            "{}",
            page.address
        );
        read.push_str(text.as_str().unwrap());
    }
    for name in NAMES.into_iter().chain(["Mug gum"]) {
        assert!(read.contains(name), "{name} is not drawn");
    }
    // Names as long as they may be, without a blank to break them at.
    world.sql.batch_execute("UPDATE accounts SET name = repeat('x', 200)").await.unwrap();
    world.rig.view(PHONE).await;
    for address in ["/", "/settings", "/settings/delete"] {
        world.open(address).await;
        world.rig.assert_fits(address).await;
    }
}
