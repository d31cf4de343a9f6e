use std::error::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use crate::address::{Range, special};
use crate::policy::Reach;

/// Lookups at one time. Each holds a thread until the system has an answer, which may take longer
/// than anybody waits for it.
const LOOKUPS: usize = 32;

/// Addresses of one name that are tried.
const ADDRESSES: usize = 16;

/// The system's resolver, without the addresses that may not be reached. Connections are made to
/// what it returns, so that nothing can change between the check and the connection.
#[derive(Debug)]
pub(crate) struct Lookup {
    reach: Reach,
    seats: Arc<Semaphore>,
}

/// Why a name leads nowhere.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("{address} is {range}")]
    Denied { address: IpAddr, range: Range },
    #[error("{reason}")]
    Failed { reason: String },
}

impl Lookup {
    pub(crate) fn new(reach: Reach) -> Self {
        Self { reach, seats: Arc::new(Semaphore::new(LOOKUPS)) }
    }
}

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, seats) = (self.reach, Arc::clone(&self.seats));
        Box::pin(async move {
            let found = lookup(name.as_str().to_owned(), seats).await?;
            let reached = reached(found, reach)?;
            Ok(Box::new(reached.into_iter()) as Addrs)
        })
    }
}

async fn lookup(host: String, seats: Arc<Semaphore>) -> Result<Vec<SocketAddr>, LookupError> {
    let failed = |error: &dyn Error| LookupError::Failed { reason: error.to_string() };
    let seat = seats.acquire_owned().await.map_err(|error| failed(&error))?;
    let looking = tokio::task::spawn_blocking(move || {
        let found = (host.as_str(), 0).to_socket_addrs().map(Iterator::collect);
        drop(seat);
        found
    });
    let found = looking.await.map_err(|error| failed(&error))?;
    found.map_err(|error| failed(&error))
}

/// The addresses that remain, or why none does.
fn reached(found: Vec<SocketAddr>, reach: Reach) -> Result<Vec<SocketAddr>, LookupError> {
    let range = |address: &SocketAddr| match reach {
        Reach::Public => special(address.ip()),
        Reach::Anywhere => None,
    };
    let public = found.iter().filter(|it| range(it).is_none()).take(ADDRESSES);
    let public: Vec<SocketAddr> = public.copied().collect();
    if !public.is_empty() {
        return Ok(public);
    }
    let denied = found.iter().find_map(|it| Some((it.ip(), range(it)?)));
    Err(match denied {
        Some((address, range)) => LookupError::Denied { address, range },
        None => LookupError::Failed { reason: "the lookup found none".to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|it| SocketAddr::new(it.parse().unwrap(), 0)).collect()
    }

    #[test]
    fn a_name_loses_the_addresses_that_are_denied() {
        let mixed = addresses(&["10.0.0.5", "93.184.216.34", "::1", "2606:4700::1111"]);
        let public = addresses(&["93.184.216.34", "2606:4700::1111"]);
        assert_eq!(reached(mixed.clone(), Reach::Public).unwrap(), public);
        assert_eq!(reached(mixed.clone(), Reach::Anywhere).unwrap(), mixed);
        let error = reached(addresses(&["127.0.0.1", "::1"]), Reach::Public).unwrap_err();
        assert_eq!(error.to_string(), "127.0.0.1 is an address of this machine itself");
        assert!(matches!(reached(Vec::new(), Reach::Anywhere), Err(LookupError::Failed { .. })));
        let many = vec![mixed[1]; 1_000];
        assert_eq!(reached(many, Reach::Public).unwrap().len(), ADDRESSES);
    }
}
