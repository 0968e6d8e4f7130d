//! The native modules that come along beside the same work written in a script, in turns.

use crate::evals::Lane;
use crate::{Bench, duration, percentile, ratio, show};
use std::time::Duration;

/// How often each program has its turn.
const ROUNDS: usize = 7;

/// What both work on.
const GIVEN: &str = "
let numbers = []; for i in 0..100000 { numbers.push(i * 7919 % 100003); }
let rows = []; for i in 0..2000 { rows.push(#{id: i, name: `name ${i}`, price: i * 0.5}); }
let json = json::text(rows);
let csv = csv::text(rows);
let text = \"\"; for i in 0..5000 { text += `id=${i} state=ok;\n`; }
";

/// What is done, natively and by a script.
const WORK: [(&str, &str, &str); 6] = [
    (
        "mean of 100,000 numbers",
        "num::mean(numbers)",
        "let s = 0; for n in numbers { s += n; } s * 1.0 / numbers.len()",
    ),
    ("median of 100,000 numbers", "num::median(numbers)", "let l = numbers; l.sort(); (l[49999] + l[50000]) / 2.0"),
    (
        "2,000 rows to JSON",
        "json::text(rows)",
        "let t = \"[\"; for r in rows { if t.len() > 1 { t += \",\"; } t += `{\"id\":${r.id},\"name\":\"${r.name}\",\"price\":${r.price}}`; } t + \"]\"",
    ),
    ("2,000 rows from JSON", "json::parse(json)", "parse_json(json)"),
    (
        "2,000 rows from CSV",
        "csv::parse(csv)",
        "let lines = csv.split(\"\\n\"); let names = lines[0].split(\",\"); let all = []; for line in lines.extract(1) { \
         if line == \"\" { continue; } let cells = line.split(\",\"); let row = #{}; for (name, n) in names { row[name] = cells[n]; } \
         all.push(row); } all",
    ),
    (
        "5,000 numbers out of a text",
        "re::find_all(\"id=(\\\\d+)\", text)",
        "let all = []; for line in text.split(\"\\n\") { let at = line.index_of(\"id=\"); if at < 0 { continue; } \
         let end = line.index_of(\" \", at); all.push(line.sub_string(at + 3, end - at - 3)); } all",
    ),
];

pub(crate) fn run(bench: &Bench) {
    if !bench.wants("library") {
        return;
    }
    let lane = Lane::new();
    lane.eval(GIVEN);
    for (what, native, script) in WORK {
        let mut samples: [Vec<Duration>; 2] = Default::default();
        for round in 0..ROUNDS {
            for (index, program) in [native, script].into_iter().enumerate() {
                // In a function, where the variables of the space are read as values, so that both pay the same for them.
                let code = format!("fn work_{index}_{round}() {{ {program} }} work_{index}_{round}(); ()");
                samples[index].push(bench.time(|| lane.eval(&code)).0);
            }
        }
        let [native, script] = samples.each_mut().map(|samples| percentile(samples, 50));
        show(what, duration(native));
        show("… by a script, times that", format!("{:.1}", ratio(script, native)));
    }
    let mut calls: Vec<_> =
        (0..ROUNDS).map(|_| bench.time(|| lane.eval("for i in 0..20000 { re::test(\"x+\", \"abc\"); }")).0).collect();
    show("20,000 calls of re::test on a short text", duration(percentile(&mut calls, 50)));
    let push =
        |call: &str| format!("let kept = []; fn size() {{ kept.len() }} for i in 0..10000 {{ kept.push(i); {call} }}");
    let time = |code: &str| {
        let mut samples: Vec<_> = (0..ROUNDS).map(|_| bench.time(|| lane.eval(code)).0).collect();
        percentile(&mut samples, 50)
    };
    let (without, with) = (time(&push("let z = 0;")), time(&push("num::gcd(i, 12);")));
    show("10,000 pushes to a list that a function reads", duration(without));
    show("… beside a call of a native module, times that", format!("{:.2}", ratio(with, without)));
}
