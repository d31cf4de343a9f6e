use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::decode::Damaged;
use crate::log_store::{Columns, Value};

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) => int.to_sql_checked(ty, out),
            Self::Text(text) => (&**text).to_sql_checked(ty, out),
            Self::Blob(bytes) => (&**bytes).to_sql_checked(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

impl Columns for Row {
    fn maybe_int(&self, column: usize) -> Result<Option<i64>, Damaged> {
        read(self, column)
    }

    fn maybe_text(&self, column: usize) -> Result<Option<&str>, Damaged> {
        read(self, column)
    }

    fn maybe_blob(&self, column: usize) -> Result<Option<&[u8]>, Damaged> {
        read(self, column)
    }
}

fn read<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<Option<T>, Damaged> {
    row.try_get(column).map_err(|error| Damaged::Unreadable(column, error.into()))
}
