//! Deliveries: what an answer claims, what becomes of it when the answer was written, and what is given back when it was not.

use super::{Owner, State};
use crate::words::{EntryId, Status, Time};

/// The name of one claim. Every claim ends by [`State::written`] or [`State::dropped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(u64);

/// What an answer is to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a claim ends by `written` or `dropped`"]
pub struct Claim {
    /// Its name.
    pub id: ClaimId,
    /// Settled news, by id.
    pub settled: Vec<(EntryId, Status)>,
    /// Entries of this owner that were evicted, by id.
    pub evicted: Vec<EntryId>,
    /// Whether to say that this is a new session under an old id.
    pub adopted: bool,
}

impl<V: Clone> State<V> {
    /// Claims what one answer to `to` delivers: the outcomes it renders (ids that have not settled are left out; those of other
    /// owners are only touched), and with `news` everything else that is owed. What is claimed appears in no other answer's news.
    pub fn claim(&mut self, to: Owner, outcomes: &[EntryId], news: bool, now: Time) -> Claim {
        let _ = (to, outcomes, news, now);
        todo!()
    }

    /// Everything that is owed: [`State::claim`] without an outcome. Written to the nil caller, settled news absorbs.
    pub fn claim_news(&mut self, to: Owner, now: Time) -> Claim {
        self.claim(to, &[], true, now)
    }

    /// A task answer for the entry is about to be sent. Written, the entry is followed; dropped, it is an ordinary one again.
    pub fn claim_follow(&mut self, id: EntryId) -> ClaimId {
        let _ = id;
        todo!()
    }

    /// The answer was accepted by the socket as a whole.
    pub fn written(&mut self, claim: ClaimId, now: Time) {
        let _ = (claim, now);
        todo!()
    }

    /// The answer was not written: what it claimed is owed again.
    pub fn dropped(&mut self, claim: ClaimId) {
        let _ = claim;
        todo!()
    }
}
