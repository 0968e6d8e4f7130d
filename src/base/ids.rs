//! Ids. Each is a type of its own, prints as people type it, and says what was wrong when it does not parse.

use std::fmt;
use std::str::FromStr;

/// The id of one entry of the registry: counted from 1, global to the process, never given out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EntryId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<u64>() {
            Ok(n) if n > 0 => Ok(Self(n)),
            _ => Err(format!("`{text}` is not an entry id: ids are whole numbers from 1")),
        }
    }
}

/// The identity of a session inside the process. Never reused, never shown: people see a [`Handle`] or a [`HeaderKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// The owner of an entry, and the speaker of a request. Resolved once per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The prompt of this process, or the embedding program: the nil caller.
    Local,
    /// A session of the wire, alive or ended.
    Session(SessionId),
}

/// The identity of a space. Names may come back after `drop_space`; ids do not, so late work cannot reach a namesake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u64);

/// The twenty letters handles are made of: consonants without `y`, so that no handle spells a word.
pub(crate) const CONSONANTS: [u8; 20] = *b"bcdfghjklmnpqrstvwxz";

/// A session's name in tool arguments: three consonants (four once half the space of three is used), as in `bfw`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(String);

impl Handle {
    /// The `n`-th handle of `letters` letters; `n` is taken modulo their number.
    pub fn nth(n: u64, letters: u32) -> Self {
        let mut n = n % 20u64.pow(letters);
        let mut text = vec![b'b'; letters as usize];
        for place in text.iter_mut().rev() {
            *place = CONSONANTS[(n % 20) as usize];
            n /= 20;
        }
        Self(text.into_iter().map(char::from).collect())
    }

    /// The letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Handle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let well_formed = (3..=4).contains(&text.len()) && text.bytes().all(|b| CONSONANTS.contains(&b));
        if well_formed {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("`{text:.40}` is not a session handle: handles are three consonants, such as bfw"))
        }
    }
}

/// A session's name on the handshake wire: the value of `Mcp-Session-Id`, 1 to 128 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeaderKey(String);

impl HeaderKey {
    /// The header's value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first eight characters: how answers name the session.
    pub fn short(&self) -> &str {
        &self.0[..self.0.len().min(8)]
    }
}

impl fmt::Display for HeaderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for HeaderKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.len() > 128 || !text.bytes().all(|b| (0x21..=0x7e).contains(&b)) {
            return Err("a session id is 1 to 128 visible ASCII characters".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

/// The id of a task on the stateless wire: the owner's handle and the entry, as in `bfw-12`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskId {
    /// The session that started the work.
    pub handle: Handle,
    /// The entry doing it.
    pub entry: EntryId,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.handle, self.entry)
    }
}

impl FromStr for TaskId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text:.60}` is not a task id: task ids are a handle and an entry id, such as bfw-12");
        let (handle, entry) = text.split_once('-').ok_or_else(bad)?;
        if entry.starts_with(['+', '0']) {
            return Err(bad());
        }
        Ok(Self { handle: handle.parse().map_err(|_| bad())?, entry: entry.parse().map_err(|_| bad())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_consonants_and_count_through_their_space() {
        assert_eq!(Handle::nth(0, 3).as_str(), "bbb");
        assert_eq!(Handle::nth(7_999, 3).as_str(), "zzz");
        assert_eq!(Handle::nth(8_000, 3).as_str(), "bbb");
        assert_eq!(Handle::nth(21, 4).as_str(), "bbcc");
        for bad in ["", "ab", "bcy", "bca", "bcdfg", "BFW", "b w"] {
            assert!(bad.parse::<Handle>().is_err(), "{bad}");
        }
        assert_eq!("bfw".parse::<Handle>().unwrap().to_string(), "bfw");
    }

    #[test]
    fn task_ids_are_a_handle_and_an_entry() {
        let id: TaskId = "bfw-12".parse().unwrap();
        assert_eq!((id.to_string().as_str(), id.entry), ("bfw-12", EntryId(12)));
        for bad in ["", "bfw", "bfw-", "bfw-0", "bfw--1", "bfw-+1", "bfw-01", "-12", "zzz-1-2", "nonsense"] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn header_keys_are_visible_ascii() {
        assert!("x".repeat(128).parse::<HeaderKey>().is_ok());
        for bad in ["".to_owned(), "x".repeat(129), "a b".to_owned(), "é".to_owned(), "a\u{7f}".to_owned()] {
            assert!(bad.parse::<HeaderKey>().is_err(), "{bad:?}");
        }
        assert_eq!("1a2b3c4d-5e6f".parse::<HeaderKey>().unwrap().short(), "1a2b3c4d");
        assert_eq!("ab".parse::<HeaderKey>().unwrap().short(), "ab");
    }
}
