use super::rig::Rig;
#[test]
fn scratch() {
    let s = Rig::new().seat();
    for code in ["let self_ = #{}; self_.v = 7; self_.f = || self_.v; self_.f.call()", "let rr = (); rr = |n| if n < 2 { 1 } else { n * rr.call(n - 1) }; rr.call(5)", "let pz = [1]; let pc = || pz.len(); pz.map(|v| pc.call())","pz.map(|v| pz.push(1))"] {
        let j = s.run(code);
        println!("{code} -> {} {:?}", j.show(), j.failure());
    }
}
