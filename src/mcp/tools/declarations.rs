//! The table of tools: names in order, closed schemas, annotations, and the sets in which clients are shown them. The texts are
//! made in `render`; what the tools do is in `calls`.

use crate::base::Limits;
use crate::mcp::rpc::fault::RpcError;
use crate::mcp::rpc::message::Object;
use crate::mcp::rpc::revision::Era;
use crate::render::teach;
use serde_json::{Value, json};

/// The set of tools that a client is shown. It depends on the era, and in the modern one on tasks being declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolSet {
    /// A session that a handshake opened: `session` is optional.
    Legacy,
    /// The modern era without tasks: `session` is required.
    Modern,
    /// The modern era with tasks: what lasts becomes a task, so nothing is needed to wait with.
    Tasks,
}

impl ToolSet {
    /// The era it belongs to.
    pub(crate) fn era(self) -> Era {
        match self {
            Self::Legacy => Era::Legacy,
            Self::Modern | Self::Tasks => Era::Modern,
        }
    }

    /// The variant of the texts.
    fn variant(self) -> teach::Variant {
        match self {
            Self::Legacy | Self::Modern => teach::Variant::Await,
            Self::Tasks => teach::Variant::Tasks,
        }
    }

    /// The tools it shows, in order.
    fn tools(self) -> &'static [Name] {
        match self {
            Self::Legacy | Self::Modern => &Name::ALL,
            Self::Tasks => &[Name::CreateSession, Name::Eval],
        }
    }
}

/// A built-in tool. All are answered in every era, listed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// `create-session`
    CreateSession,
    /// `eval`
    Eval,
    /// `await`
    Await,
    /// `cancel`
    Cancel,
}

impl Name {
    /// All of them, in order.
    pub(crate) const ALL: [Self; 4] = [Self::CreateSession, Self::Eval, Self::Await, Self::Cancel];

    /// The tool with this name.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CreateSession => "create-session",
            Self::Eval => "eval",
            Self::Await => "await",
            Self::Cancel => "cancel",
        }
    }

    fn text(self) -> teach::Tool {
        match self {
            Self::CreateSession => teach::Tool::CreateSession,
            Self::Eval => teach::Tool::Eval,
            Self::Await => teach::Tool::Await,
            Self::Cancel => teach::Tool::Cancel,
        }
    }

    fn annotations(self) -> Value {
        let (read_only, destructive, idempotent, open_world) = match self {
            Self::CreateSession => (false, false, false, false),
            Self::Eval => (false, true, false, true),
            Self::Await => (true, false, true, false),
            Self::Cancel => (false, true, true, false),
        };
        json!({
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": open_world,
        })
    }
}

/// The declarations a client is shown, in order.
pub(crate) fn declarations(set: ToolSet, limits: &Limits) -> Vec<Value> {
    set.tools().iter().map(|tool| declaration(*tool, set, limits)).collect()
}

/// Lists are answered whole: no cursor was ever given out.
pub(crate) fn check_cursor(params: &Object) -> Result<(), RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(cursor)) if cursor.is_empty() => Ok(()),
        Some(_) => Err(RpcError::BadParams("no such `cursor`: lists are answered whole".into())),
    }
}

fn declaration(tool: Name, set: ToolSet, limits: &Limits) -> Value {
    json!({
        "name": tool.as_str(),
        "title": teach::tool_title(tool.text()),
        "description": teach::tool_description(tool.text(), set.variant(), set == ToolSet::Legacy, limits),
        "inputSchema": schema(tool, set, limits),
        "annotations": tool.annotations(),
    })
}

/// The closed schema of a tool's arguments. It says how they are meant; what else is taken, such as a number as a text, is not
/// in it: clients that check calls by it, and models that read it, do best with one simple type.
fn schema(tool: Name, set: ToolSet, limits: &Limits) -> Value {
    let ids = |description: &str| {
        let id = json!({"type": "integer", "minimum": 1});
        json!({"type": "array", "items": id, "description": description})
    };
    let seconds = |description: &str| json!({"type": "number", "minimum": 0, "description": description});
    let text = |description: &str| json!({"type": "string", "description": description});
    let session = match set {
        ToolSet::Legacy => "Handle from create-session; the connection's own session when left out",
        ToolSet::Modern | ToolSet::Tasks => "Handle from create-session",
    };
    let (properties, mut required) = match (tool, set) {
        (Name::CreateSession, _) => (vec![("note", text("What you are at work on, for the roster"))], vec![]),
        (Name::Eval, _) => {
            let third = match set {
                ToolSet::Legacy | ToolSet::Modern => ("await", seconds(&teach::eval_wait(limits))),
                ToolSet::Tasks => {
                    ("background", json!({"type": "boolean", "description": "Answer with a task at once"}))
                }
            };
            let code = ("code", text("Rhai script; the last expression is the value"));
            let ns = (
                "ns",
                text(
                    "Script module or shared space to evaluate in. Your session moves there and stays; left out: where it is now",
                ),
            );
            (vec![code, ns, third, ("session", text(session))], vec!["code"])
        }
        (Name::Await, _) => {
            let properties = vec![
                ("all", ids("Wait for every one of these ids")),
                ("any", ids("And for one of these ids")),
                ("seconds", seconds(&teach::await_wait(limits))),
                ("session", text(session)),
            ];
            (properties, vec![])
        }
        (Name::Cancel, _) => (vec![("ids", ids("Ids of the evals to stop")), ("session", text(session))], vec!["ids"]),
    };
    if set.era() == Era::Modern && tool != Name::CreateSession {
        required.push("session");
    }
    let properties: Object = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: [ToolSet; 3] = [ToolSet::Legacy, ToolSet::Modern, ToolSet::Tasks];

    /// `name: property property; required …` for every tool of a set.
    fn outline(set: ToolSet) -> Vec<String> {
        let names = |value: &Value| match value {
            Value::Object(object) => object.keys().cloned().collect::<Vec<_>>().join(" "),
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            _ => String::new(),
        };
        let line = |tool: &Name| {
            let schema = schema(*tool, set, &Limits::default());
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
            format!("{}: {}; required {}", tool.as_str(), names(&schema["properties"]), names(&schema["required"]))
        };
        set.tools().iter().map(line).collect()
    }

    #[test]
    fn each_set_has_its_tools_and_arguments() {
        assert_eq!(
            SETS.map(outline),
            [
                vec![
                    "create-session: note; required ",
                    "eval: code ns await session; required code",
                    "await: all any seconds session; required ",
                    "cancel: ids session; required ids",
                ],
                vec![
                    "create-session: note; required ",
                    "eval: code ns await session; required code session",
                    "await: all any seconds session; required session",
                    "cancel: ids session; required ids session",
                ],
                vec!["create-session: note; required ", "eval: code ns background session; required code session"],
            ]
        );
    }

    #[test]
    fn every_tool_is_found_by_its_name() {
        for tool in [Name::CreateSession, Name::Eval, Name::Await, Name::Cancel] {
            assert_eq!(Name::from_text(tool.as_str()), Some(tool));
        }
        assert_eq!(Name::from_text("Eval"), None);
    }
}
