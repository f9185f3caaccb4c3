//! What is new since the person looked before.

use domain::{
    StoreError,
    visits::{News, Visit},
};
use time::OffsetDateTime;

use crate::{
    session::Viewer,
    state::State,
    text::Writer,
    views::{layout::Here, overview::Since, panel::Way},
};

/// Notes the visit, and says what is new since the one before; nothing in the first.
pub async fn since_before(viewer: &Viewer, state: &State, writer: &Writer) -> Result<Option<Since>, StoreError> {
    let person = viewer.session().person.id;
    let Visit { before_at, .. } = state.visits.visit(viewer.account(), person, writer.now).await?;
    let Some(before) = before_at else { return Ok(None) };
    let news = state.visits.news(viewer.account(), before).await?;
    Ok(Some(since(writer, before, news)))
}

fn since(writer: &Writer, before: OffsetDateTime, news: News) -> Since {
    let News { anomalies, insights, alerts, broken } = news;
    let counted = [
        ("news-anomalies", anomalies, Here::Anomalies),
        ("news-insights", insights, Here::Insights),
        ("news-alerts", alerts, Here::Alerts),
        ("news-broken", broken, Here::Integrations),
    ];
    let ways = counted.into_iter().filter(|(_, count, _)| *count > 0).map(|(id, count, here)| Way {
        text: writer.message(id).count("count", count).say(),
        address: here.address().to_owned(),
    });
    let ways: Vec<Way> = ways.collect();
    let id = if ways.is_empty() { "news-none" } else { "news" };
    Since { text: writer.message(id).text("time", writer.moment(before)).say(), ways }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn what_is_new_is_counted_and_leads_to_its_page() {
        let before = datetime!(2026-11-20 12:00 UTC);
        let told = since(&writer("en"), before, News { anomalies: 1, alerts: 2, ..News::default() });
        assert_eq!(told.text, "New since your last visit (20 Nov, 09:00):");
        let ways: Vec<_> = told.ways.iter().map(|way| (way.text.as_str(), way.address.as_str())).collect();
        assert_eq!(ways, [("1 anomaly", "/anomalies"), ("2 alerts fired", "/alerts")]);
        let nothing = since(&writer("en"), before, News::default());
        assert_eq!(nothing.text, "Nothing is new since your last visit (20 Nov, 09:00).");
        assert!(nothing.ways.is_empty());
    }
}
