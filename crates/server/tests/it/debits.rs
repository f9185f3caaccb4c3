//! No debit is charged twice, and none that was refused is charged: many clients debit through a connection that loses
//! answers, and repeat under the same key what they were not answered, while Postgres is killed with -9.
//!
//! The run of `make test` is small; `CRASH_DEBITS` and `CRASH_DATABASE_KILLS` make it larger.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use domain::{
    AccountId,
    credits::{CreditAmount, CreditLedger, Debit, DebitError, FeatureName, OperationKey},
};
use serde_json::Map;
use store::{Connect, PoolOptions, Store};
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::JoinSet,
};

use crate::crashes::{account, connect, durable_cluster, kill_database, setting};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(300);
const CLIENTS: usize = 64;
const ACCOUNTS: usize = 4;
/// What the service has in practice: fewer connections than clients.
const CONNECTIONS: usize = 32;
/// Of this number of answers that say a transaction was committed, one is lost, and its connection with it.
const COMMITS_TO_A_LOSS: usize = 13;
/// The same of the other messages of the server.
const OTHERS_TO_A_LOSS: usize = 211;

/// What came by, and what of it was lost.
#[derive(Default)]
struct Answers {
    commits: AtomicUsize,
    others: AtomicUsize,
    lost_commits: AtomicUsize,
    lost_others: AtomicUsize,
}

impl Answers {
    /// Whether this one is lost.
    fn lose(&self, answer: &[u8]) -> bool {
        let commits = answer.windows(7).any(|bytes| bytes == b"COMMIT\0");
        let (seen, lost, to_a_loss) = if commits {
            (&self.commits, &self.lost_commits, COMMITS_TO_A_LOSS)
        } else {
            (&self.others, &self.lost_others, OTHERS_TO_A_LOSS)
        };
        let lose = (seen.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(to_a_loss);
        lost.fetch_add(usize::from(lose), Ordering::Relaxed);
        lose
    }
}

/// Stands between the store and the server.
async fn relay(listener: TcpListener, socket: PathBuf, answers: Arc<Answers>) {
    while let Ok((client, _)) = listener.accept().await {
        let (socket, answers) = (socket.clone(), answers.clone());
        tokio::spawn(async move {
            // Without a server the client is hung up on.
            if let Ok(server) = UnixStream::connect(socket).await {
                let _ = pass(client, server, &answers).await;
            }
        });
    }
}

/// Passes everything on in both ways until an answer is lost, after what it answers has reached the server.
async fn pass(mut client: TcpStream, mut server: UnixStream, answers: &Answers) -> std::io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 16_384], vec![0; 16_384]);
    loop {
        tokio::select! {
            count = client.read(&mut asked) => match count? {
                0 => return Ok(()),
                count => server.write_all(&asked[..count]).await?,
            },
            count = server.read(&mut answered) => {
                let count = count?;
                if count == 0 {
                    return Ok(());
                }
                if answers.lose(&answered[..count]) {
                    return Ok(());
                }
                client.write_all(&answered[..count]).await?;
            }
        }
    }
}

/// A debit, and its client's final answer: its row, or that there are too few credits.
struct Told {
    account: AccountId,
    key: String,
    amount: i64,
    row: Option<i64>,
}

fn amount(number: usize) -> i64 {
    1 + i64::try_from(number % 3).unwrap()
}

/// Debits every 64th number, and repeats each until it is answered.
async fn debit(
    store: Store,
    accounts: Vec<AccountId>,
    client: usize,
    count: usize,
    told: watch::Sender<usize>,
) -> Vec<Told> {
    let mut all = Vec::new();
    for number in (client..count).step_by(CLIENTS) {
        let (account, key, amount) = (accounts[number % ACCOUNTS], format!("job-{number}"), amount(number));
        let debit = Debit {
            account,
            amount: CreditAmount::new(amount).unwrap(),
            feature: FeatureName::new("chaos").unwrap(),
            key: OperationKey::new(&key).unwrap(),
            meta: Map::new(),
        };
        let row = loop {
            match store.debit(debit.clone(), OffsetDateTime::now_utc()).await {
                Ok(transaction) => {
                    assert_eq!(transaction.amount, -amount, "{key} was answered with another debit");
                    break Some(transaction.id.0);
                }
                Err(DebitError::Insufficient { balance }) => {
                    assert!(balance < amount, "{key} was refused with {balance} credits left");
                    break None;
                }
                Err(DebitError::Store(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(error) => panic!("{key}: {error}"),
            }
        };
        all.push(Told { account, key, amount, row });
        told.send_modify(|told| *told += 1);
    }
    all
}

/// Accounts that can pay for nine tenths of what will be asked of them.
async fn accounts(url: &str, count: usize) -> Vec<(AccountId, i64)> {
    let client = connect(url).await;
    let mut made = Vec::new();
    for place in 0..ACCOUNTS {
        let account = account(&client, place).await;
        let credits = (place..count).step_by(ACCOUNTS).map(amount).sum::<i64>() * 9 / 10;
        client
            .execute(
                "WITH b AS (INSERT INTO credit_balances (account_id, balance, updated_at) VALUES ($1, $2, now()))
                 INSERT INTO credit_transactions (account_id, kind, amount, balance_after, created_at)
                 VALUES ($1, 'grant', $2, $2, now())",
                &[&account.0, &credits],
            )
            .await
            .unwrap();
        made.push((account, credits));
    }
    made
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_debit_is_made_once_or_refused_whatever_is_lost_on_the_way() {
    let count = setting("CRASH_DEBITS", 300);
    let kills = setting("CRASH_DATABASE_KILLS", 2);
    let folder = tempfile::tempdir().unwrap();
    let cluster = durable_cluster(&folder).await;
    let url = cluster.url();
    let opened = accounts(&url, count).await;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let through = format!("postgres://postgres@{}/postgres", listener.local_addr().unwrap());
    let answers = Arc::new(Answers::default());
    tokio::spawn(relay(listener, cluster.socket_directory().join(".s.PGSQL.5432"), answers.clone()));
    let options = PoolOptions { max_connections: CONNECTIONS, ..testkit::patient() };
    let store = Store::connect(&Connect::parse(&through).unwrap(), options).unwrap();

    let (told, mut progress) = watch::channel(0);
    let mut clients = JoinSet::new();
    let ids: Vec<AccountId> = opened.iter().map(|(account, _)| *account).collect();
    for client in 0..CLIENTS {
        clients.spawn(debit(store.clone(), ids.clone(), client, count, told.clone()));
    }
    // A kill each time another part of the debits has been answered, so most often in the middle of many.
    for number in 1..=kills {
        let wanted = number * count / (kills + 1);
        let some = progress.wait_for(|told| *told >= wanted);
        tokio::time::timeout(PATIENCE, some).await.unwrap().unwrap();
        kill_database(&url).await;
    }
    let all = tokio::time::timeout(PATIENCE, clients.join_all()).await.unwrap();
    let all: Vec<Told> = all.into_iter().flatten().collect();
    assert_eq!(all.len(), count);

    let client = connect(&url).await;
    let [mut lost, mut doubled, mut refused_but_charged] = [0; 3];
    for Told { account, key, row, .. } in &all {
        let under_key = "SELECT id FROM credit_transactions WHERE account_id = $1 AND operation_key = $2";
        let rows = client.query(under_key, &[&account.0, &key]).await.unwrap();
        let rows: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        doubled += usize::from(rows.len() > 1);
        match row {
            Some(row) => lost += usize::from(!rows.contains(row)),
            None => refused_but_charged += usize::from(!rows.is_empty()),
        }
    }
    assert_eq!([lost, doubled, refused_but_charged], [0; 3], "lost, doubled, refused but charged");
    for (account, credits) in opened {
        let paid = all.iter().filter(|told| told.account == account && told.row.is_some());
        let (rows, left) = (paid.clone().count(), credits - paid.map(|told| told.amount).sum::<i64>());
        let books = client
            .query_one(
                "SELECT b.balance, sum(t.amount)::bigint, (array_agg(t.balance_after ORDER BY t.id DESC))[1],
                    count(*) FILTER (WHERE t.kind = 'consume'), min(t.balance_after),
                    (SELECT count(*) FROM events e WHERE e.account_id = $1 AND e.kind = 'credit.consumed')
                 FROM credit_balances b JOIN credit_transactions t ON t.account_id = b.account_id
                 WHERE b.account_id = $1 GROUP BY b.balance",
                &[&account.0],
            )
            .await
            .unwrap();
        let books: [i64; 6] = std::array::from_fn(|column| books.get(column));
        let rows = i64::try_from(rows).unwrap();
        assert_eq!(books, [left, left, left, rows, left, rows], "balance, sum, newest, debits, least, events");
    }
    let (paid, refused) =
        (all.iter().filter(|told| told.row.is_some()).count(), all.iter().filter(|told| told.row.is_none()).count());
    let [commits, others] = [&answers.lost_commits, &answers.lost_others].map(|count| count.load(Ordering::Relaxed));
    assert!(refused > 0 && commits > 0, "{refused} refused, {commits} commits unheard of");
    println!(
        "{count} debits by {CLIENTS} clients, {kills} servers killed, {commits} answers of commits and {others} others lost: \
         {paid} paid, {refused} refused; 0 lost, 0 doubled, 0 refused and charged"
    );
}
