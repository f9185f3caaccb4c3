//! `api integrations connect`: prints where the owner grants access, and serves the page that the platform redirects to.

use std::{
    net::{IpAddr, Ipv4Addr, TcpListener},
    sync::{Arc, Mutex, PoisonError},
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use anyhow::Context;
use app::shops::connect::{Begun, ConnectService, Owner, Randomness};
use domain::{
    AccountId,
    accounts::{AccountStore, Platform},
    integrations::Integration,
    shops::authorizations::Initiator,
};
use store::Store;
use tokio::sync::oneshot;
use url::{Host, Url};

use crate::{output::rfc3339, random, services::stop_signal};

/// The queries that the platform redirects with; the first one is taken.
type Queries = Arc<Mutex<Option<oneshot::Sender<String>>>>;

/// What the owner sees: neither the page nor its address tells anything that is secret.
const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Connecting</title>\
    <p>The answer has arrived. See the terminal for what came of it; this page can be closed.</p></html>";

pub async fn connect(
    service: &ConnectService,
    store: &Store,
    account: AccountId,
    provider: Platform,
    shop: Option<&str>,
) -> anyhow::Result<()> {
    let known = AccountStore::find(store, account).await?.with_context(|| format!("there is no account {account}"))?;
    let owner = Owner { account, by: Initiator { user: known.user_id, session: None } };
    let (listener, path) = listen(&service.redirect_uri)?;
    let random = Randomness { state: bytes()?, verifier: bytes()? };
    let Begun { url, state_expires_at } = service.authorize(&owner, provider, shop, random, None).await?.value;
    println!("Open this address as the owner of the shop, by {}:\n\n  {url}\n", rfc3339(state_expires_at));
    let query = received(listener, path).await?;
    let Integration { id, shop, .. } = service.complete(&owner, provider, &query, None, None).await?.value;
    println!(
        "Connected {shop} as connection {id}. Its history is read by any process that works (`api up`, `api work`)."
    );
    Ok(())
}

/// Where the platform redirects to, on this machine.
fn listen(redirect_uri: &str) -> anyhow::Result<(TcpListener, String)> {
    let url: Url = redirect_uri.parse().context("integration_redirect_url")?;
    let loopback = match url.host() {
        Some(Host::Ipv4(address)) if address.is_loopback() => IpAddr::V4(address),
        Some(Host::Ipv6(address)) if address.is_loopback() => IpAddr::V6(address),
        Some(Host::Domain("localhost")) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => anyhow::bail!(
            "BAS_INTEGRATION_REDIRECT_URL is not on this machine: the page there completes the connection \
             (POST /api/v1/integrations/{{provider}}/complete)"
        ),
    };
    let port = url.port_or_known_default().context("integration_redirect_url has no port")?;
    let listener = TcpListener::bind((loopback, port));
    let listener =
        listener.with_context(|| format!("cannot listen on {loopback}:{port}, where the platform redirects to"))?;
    Ok((listener, url.path().to_owned()))
}

/// The query of the first redirect.
async fn received(listener: TcpListener, path: String) -> anyhow::Result<String> {
    let (sender, receiver) = oneshot::channel();
    let queries: Queries = Arc::new(Mutex::new(Some(sender)));
    let app = move || App::new().app_data(web::Data::new(queries.clone())).route(&path, web::get().to(redirected));
    let mut server = HttpServer::new(app).workers(1).disable_signals().listen(listener)?.run();
    let handle = server.handle();
    let query = tokio::select! {
        query = receiver => query.context("the page ended")?,
        ended = &mut server => { ended?; anyhow::bail!("the page ended") }
        stopped = stop_signal() => { stopped?; anyhow::bail!("stopped; nothing is connected") }
    };
    // The answer to the owner goes out first.
    let ((), ended) = tokio::join!(handle.stop(true), server);
    ended?;
    Ok(query)
}

async fn redirected(request: HttpRequest, queries: web::Data<Queries>) -> HttpResponse {
    let sender = queries.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(sender) = sender {
        // The command may have been stopped meanwhile.
        let _ = sender.send(request.query_string().to_owned());
    }
    HttpResponse::Ok().content_type("text/html; charset=utf-8").insert_header(("cache-control", "no-store")).body(PAGE)
}

fn bytes() -> anyhow::Result<[u8; 32]> {
    let drawn: Vec<u8> = random::bytes().take(32).collect();
    drawn.try_into().map_err(|_| anyhow::anyhow!("no random numbers from the system"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_served() {
        for elsewhere in ["https://dashboard.example.com/callback", "http://192.168.1.4/callback", "callback"] {
            assert!(listen(elsewhere).is_err(), "{elsewhere}");
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert_eq!(listen(&format!("http://127.0.0.1:{free}/callback")).unwrap().1, "/callback");
    }

    #[actix_web::test]
    async fn the_query_of_the_redirect_is_taken_as_it_came() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asking = async {
            let url = format!("http://{address}/callback?code=a%2Bb&state=s");
            reqwest::Client::builder().no_proxy().build().unwrap().get(url).send().await.unwrap().text().await.unwrap()
        };
        let (query, page) = tokio::join!(received(listener, "/callback".to_owned()), asking);
        assert_eq!(query.unwrap(), "code=a%2Bb&state=s");
        assert!(!page.contains("state"), "{page}");
    }
}
