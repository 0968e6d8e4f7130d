//! The marks that are due once a response was written, as a value that travels with the response down to the socket.
//!
//! Delivery is claimed, written, then marked: an answer holds a [`Delivery`]; whoever writes it calls [`Delivery::written`]
//! when the socket has accepted all of it. Dropping it unwritten gives everything back.

use std::fmt;

/// The act that is due when a response was written. Dropping the receipt instead means that it was not.
pub trait Receipt: Send + Sync {
    /// The socket accepted the whole response.
    fn written(self: Box<Self>);
}

/// The receipts of one response. Empty for responses that deliver nothing.
#[derive(Default)]
#[must_use = "dropping a delivery says that the response was not written"]
pub struct Delivery(Vec<Box<dyn Receipt>>);

impl Delivery {
    /// A response that delivers nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// A response that delivers what `receipt` stands for.
    pub fn of(receipt: impl Receipt + 'static) -> Self {
        Self(vec![Box::new(receipt)])
    }

    /// Runs `act` once the response was written.
    pub fn then(act: impl FnOnce() + Send + Sync + 'static) -> Self {
        struct Act<F>(F);
        impl<F: FnOnce() + Send + Sync> Receipt for Act<F> {
            fn written(self: Box<Self>) {
                (self.0)();
            }
        }
        Self::of(Act(act))
    }

    /// Both deliveries ride the same response.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Whether nothing is delivered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The socket accepted the whole response.
    pub fn written(self) {
        for receipt in self.0 {
            receipt.written();
        }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Delivery").field(&self.0.len()).finish()
    }
}
