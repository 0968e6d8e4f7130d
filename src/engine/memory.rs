//! The memory count: an allocator that counts per thread and for the process; and what the program asks of the C library's, which
//! stands below it. One of the two modules with `unsafe`.
//!
//! The count of a thread goes up by what it allocates and down by what it frees, also when another thread had allocated it;
//! an eval therefore compares with what the count was when it began.

#![expect(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

thread_local! {
    static THREAD: Cell<i64> = const { Cell::new(0) };
}

static PROCESS: AtomicI64 = AtomicI64::new(0);

/// An allocator that counts what it hands out. Install it with `#[global_allocator]`.
#[derive(Debug)]
pub struct CountingAllocator;

// SAFETY: every call is handed on to the system's allocator unchanged; counting touches no memory that is handed out and does
// not allocate (the thread's cell is initialised at compile time, and has no destructor).
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`, and the memory came from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract of `realloc`, and the memory came from the system's allocator.
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn count(added: usize, freed: usize) {
    // Sizes are at most `isize::MAX`, which the contract of `Layout` guarantees.
    let change = added as i64 - freed as i64;
    // A thread that ends may free after its cell is gone.
    let _gone = THREAD.try_with(|bytes| bytes.set(bytes.get() + change));
    PROCESS.fetch_add(change, Ordering::Relaxed);
}

/// Bytes that this thread allocated and has not freed. Negative when it freed what others had allocated.
pub(crate) fn thread_bytes() -> i64 {
    THREAD.try_with(Cell::get).unwrap_or(0)
}

/// Bytes that the process has allocated and not freed; 0 when the allocator is not installed.
pub fn process_bytes() -> usize {
    usize::try_from(PROCESS.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Whether the allocator is installed, measured once by allocating.
pub(crate) fn installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let before = thread_bytes();
        let block = black_box(vec![0_u8; 4_096]);
        let after = thread_bytes();
        drop(block);
        after - before >= 4_096
    })
}

/// Lets all threads share two arenas of the C library's allocator, where it is the GNU one. As a rule each thread that finds the
/// others in use gets one of its own, and keeps what was freed in it: with a thread for each running entry the system shows several
/// times of what is held.
///
/// For a program that owns its process, before it starts a thread. Returns whether it took effect.
pub fn share_arenas() -> bool {
    share_arenas_of(ARENAS)
}

/// The number of arenas. With one, threads would wait for each other.
const ARENAS: i32 = 2;

#[cfg(all(feature = "cli", target_os = "linux", target_env = "gnu"))]
fn share_arenas_of(arenas: i32) -> bool {
    // SAFETY: it sets a number in the allocator, under the allocator's own lock; the value is one that it documents.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) == 1 }
}

#[cfg(not(all(feature = "cli", target_os = "linux", target_env = "gnu")))]
fn share_arenas_of(_: i32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static COUNTING: CountingAllocator = CountingAllocator;

    #[test]
    fn what_a_thread_allocates_is_counted_until_it_is_freed() {
        assert!(installed(), "test binaries install the allocator");
        let before = thread_bytes();
        let mut block: Vec<u8> = black_box(Vec::with_capacity(1_000_000));
        assert!(thread_bytes() - before >= 1_000_000);
        block.reserve_exact(2_000_000);
        assert!(thread_bytes() - before >= 2_000_000);
        std::thread::spawn(move || drop(block)).join().unwrap();
        assert!(thread_bytes() - before >= 2_000_000, "another thread freed it: this thread's count stays");
        assert!(process_bytes() > 0);
    }
}
