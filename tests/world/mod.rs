//! The world a transcript runs in: a host on a clock moved by hand, and gates that scripts wait at.

use remontoire::host::Host;
use remontoire::words::Clock;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
pub struct Gates(Arc<Mutex<HashSet<String>>>);

impl Gates {
    pub fn open(&self, gate: &str) {
        self.0.lock().unwrap().insert(gate.to_owned());
    }
    fn is_open(&self, gate: &str) -> bool {
        self.0.lock().unwrap().contains(gate)
    }
}

pub fn host(clock: &Clock) -> (Host, Gates) {
    let gates = Gates::default();
    let g = gates.clone();
    (Host::fake(clock.clone(), Arc::new(move |n: &str| g.is_open(n))), gates)
}
