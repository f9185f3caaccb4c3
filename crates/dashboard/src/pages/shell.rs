//! What surrounds every page of a member: where one is, and where else one can go.

use domain::{accounts::Mode, people::Theme};
use rust_decimal::Decimal;
use tokio::try_join;

use super::settings::Tab;
use crate::{
    error::PageError,
    parts::icons::Icon,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        layout::{Group, Here, Keys, Link, Shell, Words},
        panel::Way,
    },
};

/// The pages of the shop, in the order of the navigation.
const SHOP: [(Here, Icon); 11] = [
    (Here::Overview, Icon::Overview),
    (Here::Insights, Icon::Insights),
    (Here::Profit, Icon::Profit),
    (Here::Anomalies, Icon::Anomalies),
    (Here::Stock, Icon::Stock),
    (Here::Reorder, Icon::Reorder),
    (Here::Ads, Icon::Ads),
    (Here::Creatives, Icon::Creatives),
    (Here::Conversations, Icon::Conversations),
    (Here::Customers, Icon::Customers),
    (Here::Alerts, Icon::Alerts),
];

/// What the figures come from, and what goes out.
const CONNECTIONS: [(Here, Icon); 4] = [
    (Here::Data, Icon::Data),
    (Here::Integrations, Icon::Integrations),
    (Here::Webhooks, Icon::Webhooks),
    (Here::Keys, Icon::Keys),
];

/// Makes the frame of a page. Its counts are read with it.
pub async fn shell(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    here: Here,
    title: String,
) -> Result<Shell, PageError> {
    let user = &viewer.session().account.user_id;
    let (credits, erasure) = try_join!(state.credits.summary(viewer.account()), state.erasures.standing(user))?;
    let say = |id: &str| writer.say(id);
    let link = |to: Here, icon: Icon| Link {
        address: to.address(),
        keys: to.keys(),
        text: say(to.name()),
        icon,
        is_here: to == here,
    };
    let session = viewer.session();
    let is_live = session.account.mode == Mode::Live;
    Ok(Shell {
        language: writer.locale().tag(),
        theme: theme(viewer),
        title,
        account: viewer.account().to_string(),
        shop: session.account.name.clone(),
        is_test: !is_live,
        groups: vec![
            Group { title: say("shop"), links: SHOP.map(|(to, icon)| link(to, icon)).into() },
            Group { title: say("connections"), links: CONNECTIONS.map(|(to, icon)| link(to, icon)).into() },
        ],
        settings: link(Here::Settings, Icon::Settings),
        ending: erasure.map(|erasure| {
            let day = writer.full_day(writer.zone.day_of(erasure.due_at));
            Way {
                text: writer.message("erase-notice").text("day", day).say(),
                address: Tab::Erase.address().to_owned(),
            }
        }),
        credits: (link(Here::Credits, Icon::Credits), writer.number(Decimal::from(credits.balance), 0)),
        mode: (say(if is_live { "live-shop" } else { "test-shop" }), say(if is_live { "to-test" } else { "to-live" })),
        other_mode: if is_live { Mode::Test.as_str() } else { Mode::Live.as_str() },
        person: session.person.name.clone(),
        words: Words {
            skip: say("skip"),
            menu: say("menu"),
            main: say("main"),
            log_out: say("log-out"),
            keys: Keys {
                button: say("keyboard"),
                title: say("keys-title"),
                list: say("keys-list"),
                on: say("keys-on"),
                chart: say("keys-chart"),
                close: say("close"),
            },
        },
    })
}

/// The colours that the person chose; `None`: those of the device.
pub fn theme(viewer: &Viewer) -> Option<&'static str> {
    match viewer.session().person.theme {
        Theme::System => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    }
}
