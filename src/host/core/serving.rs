//! Where a host is being served: at one address at a time.

use crate::base::lock;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

/// The address at which a host is served, if it is. Shared by cloning.
#[derive(Clone, Debug, Default)]
pub struct Serving(Arc<Mutex<Option<SocketAddr>>>);

impl Serving {
    /// Takes the place for a server at `addr`, until the returned value is dropped. The error is the address of the server
    /// that holds it.
    pub fn occupy(&self, addr: SocketAddr) -> Result<Occupied, SocketAddr> {
        let mut place = self.place();
        match *place {
            Some(running) => Err(running),
            None => {
                *place = Some(addr);
                Ok(Occupied(self.clone()))
            }
        }
    }

    /// Where the host is served.
    pub fn addr(&self) -> Option<SocketAddr> {
        *self.place()
    }

    fn place(&self) -> MutexGuard<'_, Option<SocketAddr>> {
        lock(&self.0)
    }
}

/// The place of the one server of a host. Dropping it makes room for another.
#[derive(Debug)]
#[must_use = "the place is free again when this is dropped"]
pub struct Occupied(Serving);

impl Occupied {
    /// The address that was bound in the end.
    pub fn at(&self, addr: SocketAddr) {
        *self.0.place() = Some(addr);
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        *self.0.place() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_at_a_time_and_the_refusal_names_it() {
        let serving = Serving::default();
        let asked: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let bound: SocketAddr = "127.0.0.1:7766".parse().unwrap();
        let first = serving.occupy(asked).unwrap();
        first.at(bound);
        assert_eq!(serving.clone().occupy(asked).unwrap_err(), bound);
        drop(first);
        assert_eq!(serving.addr(), None);
        assert!(serving.occupy(asked).is_ok());
    }
}
