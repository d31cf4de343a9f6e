use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use seaway_model::Name;
use seaway_store::{postgres, sqlite};
use seaway_wire::Append;

use super::place::{Backend, Place};
use super::round::Rates;
use crate::composer::Composer;
use crate::sample::Latencies;
use crate::watch::{Watch, per_second};

/// The tables without engine, writer thread or pool.
enum Raw {
    Sqlite(sqlite::Raw),
    Postgres(postgres::Raw),
}

/// Inserts everything into a fresh database, and does so again until enough time was measured.
pub(super) async fn insert(
    backend: Backend,
    transactions: &[Vec<Append>],
    (projects, enough): (&[Name], Duration),
) -> Result<Rates> {
    let mut latencies = Latencies::default();
    let (mut records, mut took) = (0, Duration::ZERO);
    while took < enough {
        let place = Place::new(backend).await?;
        let mut raw = Raw::open(&place, backend).await?;
        for project in projects {
            raw.create_project(project).await?;
        }
        for transaction in transactions {
            let watch = Watch::start();
            raw.append_all(transaction).await?;
            let elapsed = watch.elapsed();
            latencies.push(elapsed);
            took += elapsed;
            records += transaction.iter().map(|append| append.rows.len()).sum::<usize>();
        }
        drop(raw);
        place.remove().await?;
    }
    let (p50_ms, p99_ms) = (latencies.quantile(0.5), latencies.quantile(0.99));
    Ok(Rates { records_per_s: per_second(records, took), p50_ms, p99_ms })
}

impl Raw {
    async fn open(place: &Place, backend: Backend) -> Result<Self> {
        let address = place.address();
        Ok(match backend {
            Backend::Sqlite => Self::Sqlite(sqlite::Raw::open(Path::new(&address))?),
            Backend::Postgres => Self::Postgres(postgres::Raw::connect(&address).await?),
        })
    }

    async fn create_project(&mut self, name: &Name) -> Result<()> {
        let epoch = u32::try_from(Composer::EPOCH.0).expect("it is the first owner");
        match self {
            Self::Sqlite(raw) => raw.create_project(name, epoch)?,
            Self::Postgres(raw) => raw.create_project(name, epoch).await?,
        }
        Ok(())
    }

    async fn append_all(&mut self, appends: &[Append]) -> Result<()> {
        match self {
            Self::Sqlite(raw) => raw.append_all(appends)?,
            Self::Postgres(raw) => raw.append_all(appends).await?,
        }
        Ok(())
    }
}
