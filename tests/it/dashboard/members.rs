//! Members, their roles, their sessions, and what is noted of them.

use super::{
    Dashboard,
    log_in::with_person,
    mails::{PASSWORD, field, log_in, sign_up, with_mail},
};

#[tokio::test]
async fn an_invitation_makes_a_member_with_its_role() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut ana = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let sent = ana.post("/settings/people", "email=Eva%40example.com&role=editor").await;
    // A reload of what comes next invites nobody again.
    assert_eq!((sent.status, sent.header("location")), (303, Some("/settings/people?sent=true")));
    let page = ana.get("/settings/people?sent=true").await.text;
    assert!(page.contains("on its way"), "{page}");
    let mail = receiver.next();
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("eva@example.com", "ana invites you to Casa Clara"));
    assert!(ana.get("/settings/people").await.text.contains("eva@example.com"));
    let link = mail.link(&dashboard);
    let mut eva = dashboard.browser();
    assert!(eva.get(&link).await.text.contains("name=\"password\""));
    assert_eq!(eva.post(&link, "password=short").await.status, 422);
    assert_eq!(eva.post(&link, "password=eva+and+her+dogs+by+the+sea").await.status, 303);
    assert!(eva.get("/").await.text.contains("Casa Clara"));
    assert_eq!(eva.get("/settings/people").await.status, 403);
    assert!(eva.get(&link).await.text.contains("no longer works"));
    // Who has an account joins by the button alone; another browser logs in as usual.
    let mut other = sign_up(&dashboard, &receiver, "rosa@example.com", "Casa Rosa").await;
    other.post("/settings/people", "email=eva%40example.com&role=viewer").await;
    let link = receiver.next().link(&dashboard);
    assert!(!eva.get(&link).await.text.contains("name=\"password\""));
    let joined = dashboard.browser().post(&link, "").await;
    assert_eq!((joined.status, joined.header("set-cookie")), (200, None));
    assert!(joined.text.contains("You have joined the shop"), "{}", joined.text);
    // Who is logged in sees the shop at once.
    let mut third = sign_up(&dashboard, &receiver, "luz@example.com", "Casa Luz").await;
    third.post("/settings/people", "email=eva%40example.com&role=viewer").await;
    let link = receiver.next().link(&dashboard);
    assert_eq!(eva.post(&link, "").await.header("location"), Some("/"));
    assert!(eva.get("/").await.text.contains("Casa Luz"));
    let roles = "SELECT string_agg(role, ' ' ORDER BY role) FROM memberships JOIN people ON id = person_id
        WHERE email = 'eva@example.com'";
    assert_eq!(dashboard.sql.query_one(roles, &[]).await.unwrap().get::<_, String>(0), "editor viewer viewer");
    let refused = ana.post("/settings/people", "email=no-address&role=viewer").await;
    assert!(refused.status == 400 && refused.text.contains("no email address"), "{}", refused.text);
    assert_eq!(ana.post("/settings/people", "email=x%40example.com&role=king").await.status, 400);
}

#[tokio::test]
async fn an_invitation_is_withdrawn_or_replaced() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut ana = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let mut links = Vec::new();
    for role in ["owner", "viewer"] {
        ana.post("/settings/people", &format!("email=eva%40example.com&role={role}")).await;
        links.push(receiver.next().link(&dashboard));
    }
    let mut eva = dashboard.browser();
    assert!(eva.get(&links[0]).await.text.contains("no longer works"));
    assert!(eva.get(&links[1]).await.text.contains("name=\"password\""));
    let page = ana.get("/settings/people").await.text;
    assert_eq!(page.matches("name=\"email\" value=\"eva@example.com\"").count(), 1, "{page}");
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    let withdraw = ("/settings/people/withdraw", "email=eva%40example.com");
    assert_eq!(stranger.post(withdraw.0, withdraw.1).await.status, 404);
    let gone = ana.post(withdraw.0, withdraw.1).await;
    assert_eq!((gone.status, gone.header("location")), (303, Some("/settings/people")));
    assert!(!ana.get("/settings/people").await.text.contains("eva@example.com"));
    let refused = eva.post(&links[1], "password=eva+and+her+dogs+by+the+sea").await;
    assert!(refused.text.contains("no longer works") && !eva.is_in().await, "{}", refused.text);
    assert!(ana.get("/settings/activity").await.text.contains("Withdrew an invitation: eva@example.com"));
    assert_eq!(ana.post(withdraw.0, withdraw.1).await.status, 404);
}

/// No server takes the mail for now.
#[tokio::test]
async fn an_invitation_that_waits_to_be_sent_is_shown_and_withdrawn() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut ana = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let waits = "INSERT INTO mails (recipient, language, facts, created_at, due_at)
        SELECT 'eva@example.com', 'en', jsonb_build_object('kind', 'invitation', 'user', user_id, 'role', 'owner', 'by', 'ana',
            'shop', 'Casa Clara'), now(), now() + interval '1 day'
        FROM memberships JOIN people ON id = person_id WHERE email = 'ana@example.com'";
    assert_eq!(dashboard.sql.execute(waits, &[]).await.unwrap(), 1);
    let page = ana.get("/settings/people").await.text;
    assert!(page.contains("eva@example.com") && page.contains("not sent yet"), "{page}");
    let gone = ana.post("/settings/people/withdraw", "email=eva%40example.com").await;
    assert_eq!((gone.status, gone.header("location")), (303, Some("/settings/people")));
    assert!(!ana.get("/settings/people").await.text.contains("eva@example.com"));
    let queued = "SELECT count(*) FROM mails WHERE recipient = 'eva@example.com'";
    assert_eq!(dashboard.sql.query_one(queued, &[]).await.unwrap().get::<_, i64>(0), 0);
}

/// A member loses nothing by an invitation, the only owner least of all.
#[tokio::test]
async fn an_invitation_gives_and_takes_nothing_away() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut ana = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    ana.post("/settings/people", "email=ana%40example.com&role=viewer").await;
    let link = receiver.next().link(&dashboard);
    assert_eq!(dashboard.browser().post(&link, "").await.status, 200);
    assert_eq!(ana.get("/settings/people").await.status, 200);
}

#[tokio::test]
async fn the_last_owner_stays_and_who_is_removed_is_out_at_once() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, "ana@example.com", "owner").await;
    let mut eva = with_person(&dashboard, "eva@example.com", "editor").await;
    let id = async |email: &str| -> i64 {
        dashboard.sql.query_one("SELECT id FROM people WHERE email = $1", &[&email]).await.unwrap().get(0)
    };
    let (of_ana, of_eva) = (id("ana@example.com").await, id("eva@example.com").await);
    for fields in ["role=viewer", ""] {
        let refused = ana.post(&format!("/settings/people/{of_ana}"), fields).await;
        assert!(refused.status == 400 && refused.text.contains("always has an owner"), "{}", refused.text);
    }
    assert_eq!(ana.post("/settings/people/999999", "role=owner").await.status, 404);
    assert_eq!(ana.post(&format!("/settings/people/{of_eva}"), "role=owner").await.status, 303);
    assert_eq!(eva.get("/settings/people").await.status, 200);
    assert_eq!(ana.post(&format!("/settings/people/{of_eva}"), "").await.status, 303);
    assert!(!eva.is_in().await && ana.is_in().await);
    let answer = log_in(&mut eva, "eva@example.com", PASSWORD).await;
    assert!(answer.status == 422 && answer.text.contains("no longer a member of any shop"), "{}", answer.text);

    let log = ana.get("/settings/activity").await.text;
    for what in ["Removed a member: eva", "Changed a role: eva", "Joined", "role: Editor → "] {
        assert!(log.contains(what), "{what} is not in {log}");
    }
    let members = ana.get("/settings/activity?about=people").await.text;
    assert!(members.contains("Removed a member: eva") && !members.contains("<h3>Logged in"), "{members}");
    assert!(members.contains("/settings/activity.csv?about=people"), "{members}");
    assert_eq!(ana.get("/settings/activity?about=x").await.status, 400);
    let credits = ana.get("/settings/activity?about=credits").await.text;
    assert!(credits.contains("Nothing was done that fits."), "{credits}");
    let file = ana.get("/settings/activity.csv").await;
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"activity.csv\""));
    assert!(file.text.starts_with("at,by,action,target,address,before,after,mode\r\n"), "{}", file.text);
    let removed: Vec<_> = file.text.lines().filter(|line| line.contains("member_removed")).collect();
    assert!(matches!(removed[..], [line] if line.contains(",ana,member_removed,eva,127.0.0.1,")), "{removed:?}");
}

/// Another user's people, invitations and entries are nobody else's.
#[tokio::test]
async fn a_stranger_neither_sees_nor_changes_members() {
    let dashboard = Dashboard::start().await;
    with_person(&dashboard, "ana@example.com", "owner").await;
    let of_ana: i64 = dashboard.sql.query_one("SELECT id FROM people", &[]).await.unwrap().get(0);
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    for path in ["/settings/people", "/settings/activity", "/settings/activity.csv", "/settings/sessions"] {
        let page = stranger.get(path).await;
        assert!(page.status == 200 && !page.text.contains("ana"), "{path}: {}", page.text);
    }
    for fields in ["role=viewer", ""] {
        assert_eq!(stranger.post(&format!("/settings/people/{of_ana}"), fields).await.status, 404);
    }
    let role = "SELECT role FROM memberships WHERE person_id = $1";
    assert_eq!(dashboard.sql.query_one(role, &[&of_ana]).await.unwrap().get::<_, String>(0), "owner");
}

#[tokio::test]
async fn a_person_sees_and_ends_own_sessions_alone() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, "ana@example.com", "viewer").await;
    let mut eva = with_person(&dashboard, "eva@example.com", "owner").await;
    let mut phone = dashboard.browser();
    let agent = [("sec-fetch-site", "same-origin"), ("user-agent", "Mozilla/5.0 (Android 15; Mobile) Firefox/132.0")];
    let fields = format!("email=ana%40example.com&password={}&remember=yes", field(PASSWORD));
    assert_eq!(phone.send(reqwest::Method::POST, "/login", &agent, &fields).await.status, 303);
    let page = ana.get("/settings/sessions").await.text;
    assert!(page.contains("Firefox, Android") && page.contains("This one"), "{page}");
    assert_eq!(page.matches("Log out there").count(), 1);
    let ids = "SELECT s.id, email FROM sessions s JOIN people p ON p.id = person_id ORDER BY s.id";
    let ids: Vec<(i64, String)> =
        dashboard.sql.query(ids, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect();
    let of_eva = ids.iter().find(|(_, email)| email == "eva@example.com").unwrap().0;
    ana.post("/settings/sessions", &format!("session={of_eva}")).await;
    assert!(eva.is_in().await, "another's session");
    let of_phone = ids.last().unwrap().0;
    assert_eq!(ana.post("/settings/sessions", &format!("session={of_phone}")).await.status, 303);
    assert!(!phone.is_in().await && ana.is_in().await);
    assert_eq!(log_in(&mut phone, "ana@example.com", PASSWORD).await.status, 303);
    ana.post("/settings/sessions", "").await;
    assert!(!phone.is_in().await && ana.is_in().await && eva.is_in().await);
}
