//! Statements written in SQL. Each is declared with its parameters and the columns that it returns, by name; the declaration
//! brings the test that prepares it on the real schema and compares both. Unlike with `diesel::sql_query` the connection
//! keeps the prepared form: preparing a statement of some size costs more than running it.

use std::marker::PhantomData;

use diesel::{
    QueryResult,
    expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate},
    pg::Pg,
    query_builder::{AstPass, QueryFragment, QueryId},
    sql_types::{BigInt, Bool},
};

#[cfg(test)]
pub(crate) mod check;
#[cfg(test)]
mod scan;

/// The columns that a statement returns.
pub(crate) trait Row {
    type SqlType;
    #[cfg(test)]
    fn columns() -> Vec<check::Named>;
}

/// No columns: the statement is executed.
impl Row for () {
    type SqlType = ();
    #[cfg(test)]
    fn columns() -> Vec<check::Named> {
        Vec::new()
    }
}

/// One column, whatever its name: a value.
pub(crate) struct Scalar<ST>(PhantomData<ST>);

#[cfg(not(test))]
impl<ST> Row for Scalar<ST> {
    type SqlType = ST;
}

#[cfg(test)]
impl<ST> Row for Scalar<ST>
where
    Pg: diesel::sql_types::HasSqlType<ST>,
{
    type SqlType = ST;
    fn columns() -> Vec<check::Named> {
        vec![(check::ANY_NAME, check::oid::<ST>())]
    }
}

/// Declares a statement: its parameters `$1`, `$2` … in order, and the row that it returns, declared by [`row!`], or a single
/// [`Scalar`], or `()`.
macro_rules! statement {
    // For a database with Citus.
    (on Citus: $($declaration:tt)*) => { statement!(@("", testkit::is_citus()) $($declaration)*); };
    // For a session that has made tables of its own.
    (after $tables:expr => $($declaration:tt)*) => { statement!(@($tables, true) $($declaration)*); };
    (@($tables:expr, $is_there:expr) $(#[$meta:meta])* $vis:vis $name:ident $(<$life:lifetime>)? ($($field:ident: $rust:ty => $sql:ty),* $(,)?)
        -> $row:ty = $text:expr) => {
        $(#[$meta])*
        #[derive(Clone)]
        $vis struct $name $(<$life>)? { $($field: $rust,)* }

        impl $(<$life>)? $name $(<$life>)? {
            $vis const TEXT: &'static str = $text;
        }

        const _: () = {
            pub enum Id {}

            impl $(<$life>)? diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = Id;
                const HAS_STATIC_QUERY_ID: bool = true;
            }

            impl $(<$life>)? diesel::query_builder::Query for $name $(<$life>)? {
                type SqlType = <$row as $crate::database::statement::Row>::SqlType;
            }

            impl $(<$life>)? diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name $(<$life>)? {
                fn walk_ast<'b>(
                    &'b self,
                    mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
                ) -> diesel::QueryResult<()> {
                    out.push_sql(Self::TEXT);
                    $(out.push_bind_param_value_only::<$sql, _>(&self.$field)?;)*
                    Ok(())
                }
            }
        };

        #[cfg(test)]
        #[test]
        #[allow(non_snake_case)]
        fn $name() {
            let parameters = [$((stringify!($field), $crate::database::statement::check::oid::<$sql>())),*];
            if $is_there {
                let columns = <$row as $crate::database::statement::Row>::columns();
                $crate::database::statement::check::check($tables, $name::TEXT, &parameters, &columns);
            }
        }
    };
    ($($declaration:tt)*) => { statement!(@("", true) $($declaration)*); };
}

/// Names the columns, in order, of a row whose reading from the database is implemented elsewhere.
macro_rules! columns {
    ($name:ty { $($column:ident: $sql:ty),* $(,)? }) => {
        impl $crate::database::statement::Row for $name {
            type SqlType = ($($sql,)*);
            #[cfg(test)]
            fn columns() -> Vec<$crate::database::statement::check::Named> {
                vec![$((stringify!($column), $crate::database::statement::check::oid::<$sql>())),*]
            }
        }
    };
}

/// Declares a row: the columns that a statement returns, in order.
macro_rules! row {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $column:ident: $rust:ty => $sql:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$field_meta])* $vis $column: $rust,)* }

        columns!($name { $($column: $sql),* });

        impl diesel::deserialize::FromSqlRow<($($sql,)*), diesel::pg::Pg> for $name {
            fn build_from_row<'a>(row: &impl diesel::row::Row<'a, diesel::pg::Pg>) -> diesel::deserialize::Result<Self> {
                let mut row = $crate::database::decode::InOrder::of(row);
                Ok(Self { $($column: row.next::<$sql, _>()?,)* })
            }
        }
    };
}

/// Declares a statement that runs on a connection of tokio-postgres, in a session that has made tables of its own: a text, with
/// its parameters, whose types Postgres tells, and the columns that it returns.
macro_rules! session_statement {
    (after [$($tables:expr),*] => $(#[$meta:meta])* $vis:vis $name:ident($($parameter:ident: $parameter_type:ident),*) -> () = $text:expr) => {
        session_statement!(@ [$($tables),*] $(#[$meta])* $vis $name [$($parameter: $parameter_type),*] [] $text);
    };
    (after [$($tables:expr),*] => $(#[$meta:meta])* $vis:vis $name:ident($($parameter:ident: $parameter_type:ident),*)
        -> ($($column:ident: $column_type:ty),+) = $text:expr) => {
        session_statement!(@ [$($tables),*] $(#[$meta])* $vis $name [$($parameter: $parameter_type),*]
            [$($column: $column_type),+] $text);
    };
    (@ [$($tables:expr),*] $(#[$meta:meta])* $vis:vis $name:ident [$($parameter:ident: $parameter_type:ident),*]
        [$($column:ident: $column_type:ty),*] $text:expr) => {
        $(#[$meta])*
        $vis const $name: &str = $text;

        #[cfg(test)]
        #[allow(non_snake_case)]
        mod $name {
            use super::*;

            #[test]
            fn is_as_declared() {
                use $crate::database::statement::check;

                let parameters = [$((stringify!($parameter), check::oid::<diesel::sql_types::$parameter_type>())),*];
                let columns = {
                    #[allow(unused_imports)]
                    use diesel::sql_types::*;
                    [$((stringify!($column), check::oid::<$column_type>())),*]
                };
                check::check_inferred(&[$($tables),*].concat(), $name, &parameters, &columns);
            }
        }
    };
}

/// Declares statements that run one after the other on a connection of tokio-postgres, with the same parameter and without an
/// answer.
macro_rules! session_statements {
    ($(#[$meta:meta])* $name:ident($parameter:ident: $parameter_type:ident) = [$($text:expr),+ $(,)?]) => {
        $(#[$meta])*
        const $name: &[&str] = &[$($text),+];

        #[cfg(test)]
        #[allow(non_snake_case)]
        mod $name {
            use super::*;

            #[test]
            fn are_as_declared() {
                use $crate::database::statement::check;

                let parameters = [(stringify!($parameter), check::oid::<diesel::sql_types::$parameter_type>())];
                for text in $name {
                    check::check_inferred("", text, &parameters, &[]);
                }
            }
        }
    };
}

/// A condition with one parameter, in the filter of a query. With it, unlike with `diesel::dsl::sql`, the connection keeps the
/// prepared form.
pub(crate) struct Condition {
    /// The text up to the parameter, which a `)` follows.
    pub before: &'static str,
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
        out.push_sql(self.before);
        out.push_bind_param::<BigInt, _>(&self.value)?;
        out.push_sql(")");
        Ok(())
    }
}
