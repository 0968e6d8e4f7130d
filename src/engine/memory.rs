//! The memory count: an allocator that counts per thread and for the process. One of the two modules with `unsafe`.

/// An allocator that counts what it hands out. Install it with `#[global_allocator]`.
#[derive(Debug)]
pub struct CountingAllocator;

/// Bytes that this thread allocated and has not freed. Negative when it freed what others had allocated.
pub fn thread_bytes() -> i64 {
    todo!()
}

/// Bytes that the process has allocated and not freed; 0 when the allocator is not installed.
pub fn process_bytes() -> usize {
    todo!()
}

/// Whether the allocator is installed, measured by allocating.
pub fn installed() -> bool {
    todo!()
}
