//! Spreading the tables over the nodes of a Citus cluster.

use crate::Connect;

/// What distributes the tables; safe to run again, and to be run by hand.
pub const DISTRIBUTE: &str = include_str!("citus.sql");

/// Distributes the tables that are not distributed yet. The database needs the extension and its nodes beforehand.
///
/// # Errors
/// When the extension is missing, or a table cannot be distributed; nothing is changed then.
pub async fn distribute(connect: &Connect) -> anyhow::Result<()> {
    let (client, driver) = connect.open().await?;
    let driving = tokio::spawn(driver);
    let there = client.query_opt("SELECT FROM pg_extension WHERE extname = 'citus'", &[]).await?;
    anyhow::ensure!(
        there.is_some(),
        "this database has no Citus: `CREATE EXTENSION citus`, and add the nodes by citus_add_node(), then try again"
    );
    client.batch_execute(DISTRIBUTE).await?;
    drop(client);
    driving.abort();
    Ok(())
}
