//! Looking around on an instance: questions that evals of a session of their own answer, so that they are neither among the
//! entries nor in the news of the session that evaluates. The answers come as data, over text.

use super::answer::Answer;
use super::client::{Remote, RemoteError};
use serde_json::{Value, json};

/// Characters that are asked for at a time when a value is longer than an answer shows.
const CHUNK: usize = 2_000;

/// The longest time that an answer is waited for, in seconds.
const PATIENCE: u64 = 60;

/// A session for looking around.
#[derive(Debug)]
pub(super) struct Queries {
    remote: Remote,
}

impl Queries {
    pub(super) fn new(remote: Remote) -> Self {
        Self { remote }
    }

    /// The session.
    pub(super) fn session(&self) -> &str {
        self.remote.session()
    }

    /// One entry as it stands, after at most so many seconds. Marks nothing: it belongs to another session. `None` when there is
    /// no such entry any more.
    pub(super) async fn entry(&self, id: u64, seconds: f64) -> Result<Option<Answer>, RemoteError> {
        let answer = self.remote.call("await", json!({ "all": [id], "seconds": seconds }), |_| ()).await?;
        Ok(Answer::of(&answer.text))
    }

    /// The value of an expression, as JSON. Its local names end with it.
    pub(super) async fn value(&self, expression: &str) -> Result<Value, RemoteError> {
        let answer = self.eval(&format!("#{{found: {expression}}}.to_json() + \"\\n\"")).await?;
        let text = if answer.is_cut() { self.rest(answer.facts.id.0).await? } else { answer.outcome() };
        let foreign = || RemoteError::Foreign(text.clone());
        let mut value: Value = serde_json::from_str(&unescaped(&text)).map_err(|_| foreign())?;
        Ok(value["found"].take())
    }

    /// A text that an entry has as its value, piece by piece.
    async fn rest(&self, id: u64) -> Result<String, RemoteError> {
        let length = self.eval(&format!("res({id}).value().len()")).await?.outcome();
        let length: usize = length.parse().map_err(|_| RemoteError::Foreign(length))?;
        let mut text = String::new();
        for from in (0..length).step_by(CHUNK) {
            // The line break makes it a text that is shown as itself; it has no other.
            let piece = self.eval(&format!("res({id}).value().sub_string({from}, {CHUNK}) + \"\\n\"")).await?;
            text.push_str(piece.outcome().lines().next().unwrap_or_default());
        }
        Ok(text)
    }

    async fn eval(&self, code: &str) -> Result<Answer, RemoteError> {
        let answer = self.remote.call("eval", json!({ "code": code, "await": PATIENCE }), |_| ()).await?;
        match Answer::of(&answer.text) {
            Some(parts) if !answer.is_error => Ok(parts),
            Some(parts) => Err(RemoteError::Refused(parts.outcome().lines().next().unwrap_or_default().to_owned())),
            None => Err(RemoteError::Refused(answer.text)),
        }
    }
}

/// JSON whose unsafe characters an answer has escaped the way Rhai does: `\x9b` is `\u009b`.
fn unescaped(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        json.push(c);
        if c == '\\' {
            match characters.next() {
                Some('x') => json.push_str("u00"),
                Some(escaped) => json.push(escaped),
                None => {}
            }
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_rhai_become_escapes_of_json() {
        let value: String = serde_json::from_str(&unescaped(r#""a\x9b\\x41\u202e\n\"""#)).unwrap();
        assert_eq!(value, "a\u{9b}\\x41\u{202e}\n\"");
    }
}
