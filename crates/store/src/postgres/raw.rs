use seaway_model::Name;
use seaway_wire::Append;

use super::pool::{Access, Session};
use super::{append, fault, schema};
use crate::error::{AppendError, OpenError};

/// The tables without the pool: what the database itself can do for one connection. For benchmarks.
#[derive(Debug)]
pub struct Raw(Session);

impl Raw {
    /// Connects to a database with the schema and the durability of the real store.
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        let config = fault::parse(url)?;
        let place = fault::place(&config);
        schema::migrate(&config, &place).await?;
        let connected = Session::connect(&config, Access::ReadWrite).await;
        connected.map(Self).map_err(|error| OpenError::Unusable { place, source: error.into() })
    }

    /// Makes a project and gives it the epoch under which appends are expected.
    pub async fn create_project(&mut self, name: &Name, epoch: u32) -> Result<(), AppendError> {
        let sql = "INSERT INTO project (name, epoch) VALUES ($1, $2)";
        let created = self.0.client().execute(sql, &[&name.as_str(), &i64::from(epoch)]).await;
        created.map(|_| ()).map_err(|error| AppendError::Unavailable(error.into()))
    }

    /// Writes all of them in one transaction.
    pub async fn append_all(&mut self, appends: &[Append]) -> Result<(), AppendError> {
        let lost = |error: tokio_postgres::Error| AppendError::Unavailable(error.into());
        // Both ways of calling are prepared first: a transaction borrows the whole session.
        let mut statements = Vec::with_capacity(appends.len());
        for append in appends {
            statements.push(self.0.statement(append::statement(append)).await.map_err(lost)?);
        }
        let transaction = self.0.client_mut().transaction().await.map_err(lost)?;
        for (append, statement) in appends.iter().zip(&statements) {
            let called = append::call(&transaction, statement, append).await;
            called.map_err(|error| append::error(error, append))?;
        }
        transaction.commit().await.map_err(lost)
    }
}
