//! Statements written in SQL whose prepared form the connection keeps. `diesel::sql_query` prepares anew every time,
//! which for a statement of some size costs more than running it.

/// Declares a statement: its parameters in the order of the `?` in its text, and the columns that it returns.
macro_rules! statement {
    ($(#[$meta:meta])* $name:ident($($field:ident: $rust:ty => $sql:ty),* $(,)?) -> $row:ty = $text:expr) => {
        $(#[$meta])*
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
