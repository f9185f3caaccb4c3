//! Questions on Mercado Libre, from the notification to the answer there, without an app at Meta.

use reqwest::Method;
use serde_json::{Value, json};

use super::{platform::Platform, rig::Rig};

async fn send(rig: &Rig, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = rig.service.process.request(method, path).bearer_auth(&rig.key).json(&body);
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// The conversation that a question began, once it was decided about.
async fn decided(rig: &Rig, question: &Value) -> Value {
    let (path, question) = ("/api/v1/conversations?channel=mercadolibre", question.to_string());
    let mut found = Value::Null;
    rig.until("the question was decided about", async || {
        let listed = rig.service.process.json(path, &rig.key).await;
        let of = |row: &&Value| row["external_id"] == question.as_str() && !row["auto_reply"].is_null();
        found = listed["data"].as_array().unwrap().iter().find(of).cloned().unwrap_or_default();
        !found.is_null()
    })
    .await;
    found
}

async fn really(rig: &Rig, question: &Value) -> Value {
    let all = rig.platform().ask("questions").await;
    all.as_array().unwrap().iter().find(|asked| asked["id"] == *question).unwrap().clone()
}

#[tokio::test]
async fn a_question_waits_for_a_person_and_is_answered_where_it_was_asked() {
    let rig = Rig::start(Platform::mercadolibre(10)).await;
    let id = rig.connect().await;
    let template = json!({"name": "Prices", "category": "price_question", "language": "es",
        "variations": ["Mirá en {link}", "Es el precio publicado."]});
    let (_, template) = send(&rig, Method::POST, "/api/v1/reply-templates", template).await;
    let path = format!("/api/v1/reply-templates/{}", template["id"]);
    let approve = json!({"state": "approved", "approved_by": "Ana"});
    assert_eq!(send(&rig, Method::PATCH, &path, approve.clone()).await.0, 200);
    let linked =
        json!({"name": "Link", "category": "price_question", "language": "es", "variations": ["Mirá en {link}"]});
    let (_, linked) = send(&rig, Method::POST, "/api/v1/reply-templates", linked).await;
    let path = format!("/api/v1/reply-templates/{}", linked["id"]);
    assert_eq!(send(&rig, Method::PATCH, &path, approve).await.0, 200);
    let mode = json!({"mode": "approve"});
    assert_eq!(send(&rig, Method::PUT, "/api/v1/social/settings", mode).await.0, 200);

    let asked = rig.platform().happens("questions", &json!({"text": "¿Cuánto cuesta?"})).await["id"].clone();
    let held = decided(&rig, &asked).await;
    assert_eq!((&held["category"], &held["username"]), (&json!("price_question"), &Value::Null));
    let reply = &held["auto_reply"];
    assert_eq!((&reply["state"], &reply["reason"]), (&json!("held"), &json!("needs_approval")));
    assert_eq!((&reply["message"], &reply["template_id"]), (&json!("Es el precio publicado."), &template["id"]));

    let path = format!("/api/v1/conversations/{}/reply", held["id"]);
    for (body, field) in [
        (json!({"action": "send", "message": "Escribinos a ventas@shop.example"}), "message"),
        (json!({"action": "send", "message": "a".repeat(2_001)}), "message"),
        (json!({"action": "approve", "template_id": linked["id"]}), "template_id"),
    ] {
        let (status, refused) = send(&rig, Method::POST, &path, body).await;
        assert_eq!((status, &refused["param"]), (400, &json!(field)), "{refused}");
    }
    assert_eq!(send(&rig, Method::POST, &path, json!({"action": "approve"})).await.0, 200);
    rig.until("the answer is there", async || !really(&rig, &asked).await["answer"].is_null()).await;
    let whole = format!("/api/v1/conversations/{}", held["id"]);
    rig.until("it is settled", async || {
        rig.service.process.json(&whole, &rig.key).await["auto_reply"]["state"] == "sent"
    })
    .await;
    let settled = rig.service.process.json(&whole, &rig.key).await;
    let question = asked.to_string();
    assert_eq!(settled["auto_reply"]["reply_id"], json!(format!("answer/{question}")));
    assert_eq!((&settled["messages"][0]["body"], &settled["waiting_since"]), (&reply["message"], &Value::Null));
    let there = really(&rig, &asked).await;
    assert_eq!((&there["answer"], &there["by_app"]), (&reply["message"], &json!(true)));

    // In the shop's own words, and nothing once the shop is given back.
    let asked = rig.platform().happens("questions", &json!({"text": "Nunca me llegó"})).await["id"].clone();
    let complaint = decided(&rig, &asked).await;
    assert_eq!(complaint["auto_reply"]["reason"], json!("complaint"));
    let path = format!("/api/v1/conversations/{}/reply", complaint["id"]);
    let words = json!({"action": "send", "message": "Lo sentimos, ya lo vemos."});
    assert_eq!(send(&rig, Method::POST, &path, words).await.0, 200);
    rig.until("the words are there", async || really(&rig, &asked).await["answer"] == "Lo sentimos, ya lo vemos.")
        .await;
    let request = rig.service.process.request(Method::DELETE, &format!("/api/v1/integrations/{id}"));
    assert_eq!(request.bearer_auth(&rig.key).send().await.unwrap().status(), 200);
    let sql = rig.service.db.client().await.unwrap();
    let ended = "SELECT count(*) FROM social_accounts WHERE channel = 'mercadolibre' AND ended_at IS NOT NULL
        AND poll_due_at IS NULL";
    assert_eq!(sql.query_one(ended, &[]).await.unwrap().get::<_, i64>(0), 1);
}
