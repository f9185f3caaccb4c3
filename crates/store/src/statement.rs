//! Statements written in SQL whose prepared form the connection keeps. `diesel::sql_query` prepares anew every time,
//! which for a statement of some size costs more than running it.

use diesel::{
    QueryResult,
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate},
    pg::Pg,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::{BigInt, Bool},
};

/// Declares a statement: its parameters in the order of the `?` in its text, and the columns that it returns. A parameter
/// that is needed again has its number there, `$3` for the third.
macro_rules! statement {
    ($(#[$meta:meta])* $name:ident($($field:ident: $rust:ty => $sql:ty),* $(,)?) -> $row:ty = $text:expr) => {
        $(#[$meta])*
        #[derive(Clone)]
        struct $name { $($field: $rust,)* }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl diesel::query_builder::Query for $name {
            type SqlType = $row;
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                let text: &str = $text;
                let mut parts = text.split('?');
                out.push_sql(parts.next().unwrap_or_default());
                $(
                    out.push_bind_param::<$sql, _>(&self.$field)?;
                    out.push_sql(parts.next().unwrap_or_default());
                )*
                Ok(())
            }
        }
    };
}

/// A condition with one parameter, at the `?`, in the filter of a query. With it, unlike with `diesel::dsl::sql`, the
/// connection keeps the prepared form.
pub(crate) struct Condition {
    pub text: &'static str,
    pub value: i64,
}

impl Expression for Condition {
    type SqlType = Bool;
}

impl<T> AppearsOnTable<T> for Condition {}
impl<T> SelectableExpression<T> for Condition {}

impl<G> ValidGrouping<G> for Condition {
    type IsAggregate = is_aggregate::Never;
}

impl QueryId for Condition {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Pg> for Condition {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let (before, after) = self.text.split_once('?').unwrap_or((self.text, ""));
        out.push_sql(before);
        out.push_bind_param::<BigInt, _>(&self.value)?;
        out.push_sql(after);
        Ok(())
    }
}
