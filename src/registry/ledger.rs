//! Debts to owners, and the claims of answers on their way, as data.
//!
//! Owns the ledger of each owner and the list of open claims. The steps that move entries between them stand in `delivery`.

use crate::base::{EntryId, Owner, Status};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The reasons for which a header session is adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// This process never saw its id.
    Unknown,
    /// The session that had the id ended after a silence. Its entries may still be kept.
    Expired,
}

/// The name of one claim. Every claim ends by `Registry::written` or `Registry::dropped`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(u64);

/// The news one answer is to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a claim ends by `written` or `dropped`"]
pub struct Claim {
    /// Its name.
    pub id: ClaimId,
    /// Settled news, by id.
    pub settled: Vec<(EntryId, Status)>,
    /// Entries of this owner that were evicted, by id.
    pub evicted: Vec<EntryId>,
    /// The reason why this is a new session under an old id, when the answer has to say so.
    pub adopted: Option<Adoption>,
}

/// The debts to one owner. There is one for each live session, and for the nil caller while there is a prompt: nobody else
/// can be owed anything.
#[derive(Default)]
pub(super) struct Ledger {
    /// Settled entries whose outcome it has not seen.
    pub(super) unread: BTreeSet<EntryId>,
    /// Settled news to be told.
    pub(super) news: BTreeMap<EntryId, Status>,
    /// Evicted entries it was not told about.
    pub(super) evicted: BTreeSet<EntryId>,
    /// The reason of its adoption under an old id, until it was told.
    pub(super) adopted: Option<Adoption>,
}

/// The claims of answers that are on their way.
#[derive(Default)]
pub(super) struct Claims {
    newest: u64,
    open: HashMap<ClaimId, OpenClaim>,
}

/// The claim of one answer on its way.
#[derive(Default)]
pub(super) struct OpenClaim {
    pub(super) to: Option<Owner>,
    /// Outcomes it renders to their owner.
    pub(super) rendered: BTreeSet<EntryId>,
    /// Entries that the scripts of these read: delivered along with them.
    pub(super) read: BTreeSet<EntryId>,
    /// Outcomes it renders to somebody else.
    pub(super) looked_at: BTreeSet<EntryId>,
    pub(super) settled: Vec<(EntryId, Status)>,
    pub(super) evicted: BTreeSet<EntryId>,
    pub(super) adopted: Option<Adoption>,
    /// The entry it makes followed.
    pub(super) follow: Option<EntryId>,
}

impl Claims {
    pub(super) fn add(&mut self, claim: OpenClaim) -> ClaimId {
        self.newest += 1;
        let id = ClaimId(self.newest);
        self.open.insert(id, claim);
        id
    }

    /// Takes a claim out when its answer has come to its end.
    pub(super) fn remove(&mut self, id: ClaimId) -> Option<OpenClaim> {
        self.open.remove(&id)
    }
}
