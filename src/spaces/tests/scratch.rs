use super::rig::Rig;
#[test]
fn scratch() {
    let s = Rig::new().seat();
    for code in [
        "let base = 100; fn mkr() { |x| x + base } let r3 = mkr(); r3.call(1)",
        "base = 200; [r3.call(1), mkr().call(1)]",
        "base = 200; [mkr().call(1)]",
        "base = 300; [base, mkr().call(1)]",
        "base = 300; [1, mkr()]",
        "base = 300; [1]",
        "base = 1; base = 2; mkr().call(1)",
        "base = 1; #{a: mkr().call(1)}",
        "let z = 1; z = 2; [z]",
    ] {
        let j = s.run(code);
        println!("{code} -> {} {:?}", j.show(), j.failure());
    }
}
