//! Event streams, taken apart as they come in.

/// Collects bytes until events are whole.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Bytes after the last whole line.
    line: Vec<u8>,
    /// The data of the event that is under way.
    data: Option<String>,
}

impl Events {
    /// Takes more bytes; answers the data of the events that are whole now. Comments and other fields say nothing here.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut whole = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if line.is_empty() {
                whole.extend(self.data.take());
            } else if let Some(data) = line.strip_prefix("data:") {
                let data = data.strip_prefix(' ').unwrap_or(data);
                match &mut self.data {
                    Some(earlier) => {
                        earlier.push('\n');
                        earlier.push_str(data);
                    }
                    None => self.data = Some(data.to_owned()),
                }
            }
        }
        whole
    }

    /// The number of bytes that wait for the rest of their event.
    pub(super) fn pending(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_whole_however_their_bytes_arrive() {
        let stream = ": beat\n\nevent: message\r\ndata: {\"a\":\ndata:1}\r\n\r\nid: 7\n\ndata: é\n\ndata: unfinished\n";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let whole: Vec<String> = stream.as_bytes().chunks(size).flat_map(|part| events.take(part)).collect();
            assert_eq!(whole, ["{\"a\":\n1}", "é"], "in parts of {size}");
            assert_eq!(events.pending(), "unfinished".len());
        }
    }
}
