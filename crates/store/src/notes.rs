//! [`NoteStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use domain::{
    AccountId, NoteId, StoreError,
    audit::Entry,
    notes::{MOST_A_DAY, NewNote, Note, NoteStore, WriteError},
    profit::DayRange,
};
use serde_json::json;
use time::{Date, OffsetDateTime};

use crate::{
    Store, accounts,
    database::{error::Failure, query::RunQueryDsl, transact::Rollback},
    people::audit,
    schema::notes,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = notes, check_for_backend(diesel::pg::Pg))]
struct NoteRow {
    id: i64,
    day: Date,
    text: String,
    person_name: String,
    written_at: OffsetDateTime,
}

impl From<NoteRow> for Note {
    fn from(row: NoteRow) -> Self {
        let NoteRow { id, day, text, person_name, written_at } = row;
        Self { id: NoteId(id), day, text, by: person_name, written_at }
    }
}

#[async_trait]
impl NoteStore for Store {
    async fn of_days(&self, account: AccountId, range: DayRange) -> Result<Vec<Note>, StoreError> {
        let rows: Vec<NoteRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(notes::table
                    .filter(notes::account_id.eq(account.0))
                    .filter(notes::day.between(range.first, range.last))
                    .order((notes::day, notes::id))
                    .select(NoteRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        Ok(rows.into_iter().map(Note::from).collect())
    }

    async fn write(
        &self,
        account: AccountId,
        note: NewNote,
        entry: Entry,
        now: OffsetDateTime,
    ) -> Result<NoteId, WriteError> {
        let NewNote { day, text, person, by } = note;
        let id: i64 = self
            .transact(async |connection| {
                // So that what is counted stays so until it is written.
                accounts::lock(connection, account).await?;
                let of_day = notes::table.filter(notes::account_id.eq(account.0)).filter(notes::day.eq(day));
                let count: i64 = of_day.count().get_result(connection).await?;
                if count >= MOST_A_DAY {
                    return Err(Rollback::Refused(WriteError::TooMany));
                }
                let row = (
                    notes::account_id.eq(account.0),
                    notes::day.eq(day),
                    notes::text.eq(&text),
                    notes::person_id.eq(person.0),
                    notes::person_name.eq(&by),
                    notes::written_at.eq(now),
                );
                let insert = diesel::insert_into(notes::table).values(row).returning(notes::id);
                let id = insert.get_result(connection).await?;
                let told = Some(json!({ "text": text }));
                audit::changed(connection, Some(entry), &day.to_string(), (None, told), now).await?;
                Ok(id)
            })
            .await
            .map_err(Rollback::into_error)?;
        Ok(NoteId(id))
    }

    async fn remove(
        &self,
        account: AccountId,
        id: NoteId,
        entry: Entry,
        now: OffsetDateTime,
    ) -> Result<Option<Date>, StoreError> {
        let day = self
            .transact::<_, Failure>(async |connection| {
                let removed = diesel::delete(notes::table.find((account.0, id.0))).returning((notes::day, notes::text));
                let removed: Option<(Date, String)> = removed.get_result(connection).await.optional()?;
                let Some((day, text)) = removed else { return Ok(None) };
                let told = Some(json!({ "text": text }));
                audit::changed(connection, Some(entry), &day.to_string(), (told, None), now).await?;
                Ok(Some(day))
            })
            .await?;
        Ok(day)
    }
}
