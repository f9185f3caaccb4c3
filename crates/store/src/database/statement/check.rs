//! What the declaration of a statement says, compared with what Postgres makes of it.

use std::sync::{Arc, Weak};

use diesel::{
    pg::{Pg, PgMetadataLookup, PgTypeMetadata},
    sql_types::HasSqlType,
};
use testkit::TestDb;
use tokio::sync::Mutex;
use tokio_postgres::types::Type;

/// A parameter or column: its name, and the number of its type.
pub(crate) type Named = (&'static str, u32);

/// Of a column that is read as a value.
pub(crate) const ANY_NAME: &str = "";

/// Types that come with Postgres are not looked up.
struct NoLookup;

impl PgMetadataLookup for NoLookup {
    fn lookup_type(&mut self, type_name: &str, _: Option<&str>) -> PgTypeMetadata {
        panic!("{type_name} is not a type that comes with Postgres")
    }
}

pub(crate) fn oid<ST>() -> u32
where
    Pg: HasSqlType<ST>,
{
    <Pg as HasSqlType<ST>>::metadata(&mut NoLookup).oid().unwrap()
}

/// The database of the tests that run at this moment.
async fn database() -> Arc<TestDb> {
    static SHARED: Mutex<Weak<TestDb>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(db) = shared.upgrade() {
        return db;
    }
    let db = Arc::new(TestDb::new().await.unwrap());
    *shared = Arc::downgrade(&db);
    db
}

/// Makes the tables of the session, prepares a statement with the types that its parameters are declared with, and compares
/// the columns. Fails when the two differ.
///
/// A plain function: hundreds of tests that are futures of their own would take the compiler a while.
pub(crate) fn check(tables: &str, text: &str, parameters: &[Named], columns: &[Named]) {
    run(compare(tables, text, &types(parameters), parameters, columns));
}

/// The same for a statement that is prepared without types, as tokio-postgres does.
pub(crate) fn check_inferred(tables: &str, text: &str, parameters: &[Named], columns: &[Named]) {
    run(compare(tables, text, &[], parameters, columns));
}

fn run(comparison: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(comparison);
}

async fn compare(tables: &str, text: &str, told: &[Type], parameters: &[Named], columns: &[Named]) {
    let db = database().await;
    let client = db.client().await.unwrap();
    client.batch_execute(tables).await.unwrap();
    let prepared = match client.prepare_typed(text, told).await {
        Ok(prepared) => prepared,
        Err(error) => panic!("Postgres refuses the statement: {}\n{text}", error.as_db_error().unwrap()),
    };
    assert_eq!(prepared.params(), types(parameters), "the text has other parameters than the declaration");
    for ((name, _), number) in parameters.iter().zip(1..) {
        assert!(is_used(text, number), "the parameter {name}, ${number}, is not used");
    }
    let found: Vec<(&str, Type)> =
        prepared.columns().iter().map(|column| (column.name(), column.type_().clone())).collect();
    let declared: Vec<(&str, Type)> = columns.iter().map(|column| column.0).zip(types(columns)).collect();
    if let ([(_, found)], [(ANY_NAME, declared)]) = (found.as_slice(), declared.as_slice()) {
        assert_eq!(found, declared, "the value has another type");
        return;
    }
    assert_eq!(found, declared, "the columns are others than the row's");
}

fn types(named: &[Named]) -> Vec<Type> {
    named.iter().map(|(_, oid)| Type::from_oid(*oid).unwrap()).collect()
}

fn is_used(text: &str, number: usize) -> bool {
    let parameter = format!("${number}");
    text.match_indices(&parameter)
        .any(|(at, _)| !text[at + parameter.len()..].starts_with(|c: char| c.is_ascii_digit()))
}
