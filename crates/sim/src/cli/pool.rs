use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// Works through the numbers from `start` on, one thread per core, and hands each result to
/// `take` on this thread until it says that it has enough.
pub(super) fn run<T: Send>(
    numbers: std::ops::Range<u64>,
    work: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(T) -> bool,
) {
    let next = AtomicU64::new(numbers.start);
    let enough = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let (sender, receiver) = mpsc::sync_channel(threads * 4);
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, enough, work) = (&next, &enough, &work);
            scope.spawn(move || {
                while !enough.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end || sender.send(work(number)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for result in receiver {
            if take(result) {
                enough.store(true, Ordering::Relaxed);
            }
        }
    });
}
