use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Somebody to whom a server sends requests: a real one on a socket of its own.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    state: Arc<Shared>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    plan: Mutex<VecDeque<Answer>>,
    received: watch::Sender<Vec<Received>>,
}

/// What to answer. Without a plan it is 204.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Status(u16),
    /// None, ever.
    Silence,
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether it was answered well.
    pub(crate) taken: bool,
}

impl Receiver {
    pub(crate) async fn open(plan: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let plan = Mutex::new(plan.into_iter().collect());
        let state = Arc::new(Shared { plan, received: watch::Sender::new(Vec::new()) });
        let router = Router::new().fallback(receive).with_state(state.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What to answer next.
    pub(crate) fn plan(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.plan.lock().unwrap().extend(answers);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.received.borrow().clone()
    }

    /// Waits until what was received is as it should be.
    pub(crate) async fn until(&self, wanted: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let mut received = self.state.received.subscribe();
        let waited = received.wait_for(|received| wanted(received));
        match tokio::time::timeout(PATIENCE, waited).await {
            Ok(received) => received.unwrap().clone(),
            Err(_) => panic!("only these came: {:#?}", self.received()),
        }
    }

    /// Waits until so many requests were answered well.
    pub(crate) async fn taken(&self, count: usize) -> Vec<Received> {
        let taken = |received: &[Received]| received.iter().filter(|it| it.taken).count() >= count;
        let received = self.until(taken).await;
        received.into_iter().filter(|it| it.taken).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(
    State(state): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let answer = state.plan.lock().unwrap().pop_front().unwrap_or(Answer::Status(204));
    let status = match answer {
        Answer::Status(status) => Some(StatusCode::from_u16(status).unwrap()),
        Answer::Silence => None,
    };
    let taken = status.is_some_and(|status| status.is_success());
    let received = Received { path: uri.to_string(), headers, body, taken };
    state.received.send_modify(|all| all.push(received));
    match status {
        Some(status) => status,
        None => std::future::pending().await,
    }
}
