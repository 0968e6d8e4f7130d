//! Examples in prose and doc comments, in a form that a test can evaluate.
//!
//! An example is a fenced block that says `rhai`. A line `//---` parts it into steps: evals of one session, one after the other.
//! A step may end with a promise, on a line of its own or after its last line of code: `//=> 42` its value, as an answer shows it;
//! `//=! timed out` a failure whose first line contains these words. A step that promises nothing must go well. A fence that says
//! `rhai compile` is compiled and not run.

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The line of its fence, from 1.
    pub line: usize,
    /// The evals, in order.
    pub steps: Vec<Step>,
    /// It is only compiled.
    pub compile_only: bool,
}

/// One eval of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The script.
    pub code: String,
    /// The value it promises, as an answer shows it.
    pub value: Option<String>,
    /// The failure it promises: a part of its first line.
    pub failure: Option<String>,
}

/// Every example of a Markdown text, in order. A fence that is never closed ends with the text.
pub fn examples(markdown: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut lines = markdown.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.trim().strip_prefix("```") else { continue };
        let mut body = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| line.trim() != "```") {
            body.push_str(line);
            body.push('\n');
        }
        let mut words = info.split_whitespace();
        if words.next() == Some("rhai") {
            found.push(Example {
                line: at + 1,
                steps: steps(&body),
                compile_only: words.any(|word| word == "compile"),
            });
        }
    }
    found
}

/// Parts a block into steps.
fn steps(block: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut code: Vec<&str> = Vec::new();
    let mut end = |code: &mut Vec<&str>, value, failure| {
        let text = std::mem::take(code).join("\n").trim_end().to_owned();
        if !text.is_empty() {
            steps.push(Step { code: text, value, failure });
        }
    };
    for line in block.lines() {
        if line.trim() == "//---" {
            end(&mut code, None, None);
            continue;
        }
        let promise =
            |mark| line.rsplit_once(mark).map(|(before, promise): (_, &str)| (before, promise.trim().to_owned()));
        match (promise("//=>"), promise("//=!")) {
            (Some((before, value)), _) => {
                code.push(before.trim_end());
                end(&mut code, Some(value), None);
            }
            (None, Some((before, failure))) => {
                code.push(before.trim_end());
                end(&mut code, None, Some(failure));
            }
            (None, None) => code.push(line),
        }
    }
    end(&mut code, None, None);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_steps_and_promises() {
        let text = "Prose.\n\n```rhai\nlet a = 1;\n//---\na + 1\n//=> 2\n//---\nnope\n//=! nope\na //=> 1\n```\n```\nnot code\n```\n  \
                    ```rhai compile\nloop {}\n  ```\n";
        let step = |code: &str, value: Option<&str>, failure: Option<&str>| Step {
            code: code.into(),
            value: value.map(Into::into),
            failure: failure.map(Into::into),
        };
        assert_eq!(
            examples(text),
            [
                Example {
                    line: 3,
                    steps: vec![
                        step("let a = 1;", None, None),
                        step("a + 1", Some("2"), None),
                        step("nope", None, Some("nope")),
                        step("a", Some("1"), None),
                    ],
                    compile_only: false
                },
                Example { line: 16, steps: vec![step("loop {}", None, None)], compile_only: true },
            ]
        );
        assert_eq!(examples("no fence"), []);
    }
}
