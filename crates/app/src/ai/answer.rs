//! Takes the model's answer apart.

use domain::insights::Wording;
use serde_json::Value;

/// The wordings in the order of their keys, `1` to `count`, each there once. `None` for anything else: an answer that
/// lacks one or says one twice has not understood what it was asked.
pub(super) fn read(answer: &Value, count: usize) -> Option<Vec<Wording>> {
    let items = answer.get("insights")?.as_array().filter(|items| items.len() == count)?;
    (1..=count)
        .map(|key| {
            let key = key.to_string();
            let item = items.iter().find(|item| item.get("key").is_some_and(|sent| is_key(sent, &key)))?;
            let text = |name: &str| item.get(name)?.as_str().map(|text| text.trim().to_owned());
            Some(Wording {
                title: text("title")?,
                body: text("body")?,
                suggested_action: text("suggested_action")?,
                impact_estimate: text("impact_estimate")?,
            })
        })
        .collect()
}

/// Models like to send a key of digits as a number.
fn is_key(sent: &Value, key: &str) -> bool {
    sent.as_str() == Some(key) || sent.as_u64().is_some_and(|number| number.to_string() == key)
}
