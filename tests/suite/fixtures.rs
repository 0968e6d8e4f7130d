//! What integration tests share: a host on a clock moved by hand, and gates that scripts wait at.

use remontoire::{Clock, Host};
use rhai::{FuncRegistration, Module};
use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// Gates by name, closed at first. A script waits with `while !gate::opened("a") {}`, which can be cancelled.
#[derive(Clone, Default)]
pub(crate) struct Gates(Arc<Inner>);

#[derive(Default)]
struct Inner {
    open: Mutex<HashSet<String>>,
    opened: Condvar,
    reached: Mutex<HashSet<String>>,
    arrived: Notify,
}

impl Gates {
    /// Lets everybody through who waits at this gate, now and later.
    pub(crate) fn open(&self, gate: &str) {
        self.0.open.lock().unwrap().insert(gate.to_owned());
        self.0.opened.notify_all();
    }

    /// Waits until a script has come to this gate.
    pub(crate) async fn reached(&self, gate: &str) {
        loop {
            let arrived = self.0.arrived.notified();
            if self.0.reached.lock().unwrap().contains(gate) {
                return;
            }
            arrived.await;
        }
    }

    /// What a script asks. Blocks for a moment while the gate is closed, so that waiting scripts do not burn the machine.
    fn opened(&self, gate: &str) -> bool {
        if self.0.reached.lock().unwrap().insert(gate.to_owned()) {
            self.0.arrived.notify_waiters();
        }
        let open = self.0.open.lock().unwrap();
        let moment = Duration::from_millis(1);
        self.0.opened.wait_timeout_while(open, moment, |open| !open.contains(gate)).unwrap().0.contains(gate)
    }
}

/// The module `gate` that scripts ask.
pub(crate) fn gate_module(gates: &Gates) -> Module {
    let asked = gates.clone();
    let mut module = Module::new();
    FuncRegistration::new("opened").set_into_module(&mut module, move |gate: &str| asked.opened(gate));
    module
}

/// A host on this clock, and its gates.
pub(crate) fn host(clock: &Clock) -> (Host, Gates) {
    let gates = Gates::default();
    let host = Host::builder()
        .describe("orders service, staging")
        .clock(clock.clone())
        .module("gate", gate_module(&gates))
        .build()
        .expect("the host can be built");
    (host, gates)
}
