//! The properties of Rhai that we rely on and that it does not promise. Each of these fails loudly when an upgrade changes it.

use super::closure_name::is_native_pointer;
use super::markers::{Marker, NestingCheck};
use super::runtime_state::*;
use rhai::{Dynamic, Engine, Expr, FnPtr, Module, OptimizationLevel, Position, Scope, Stmt};
use std::sync::{Arc, Mutex};

fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_optimization_level(OptimizationLevel::None);
    engine
}

#[test]
fn closures_are_constants_and_captures_are_shared_then_curried() {
    let ast = engine().compile("let x = 1; let f = |y| y; let g = |y| x + y;").unwrap();
    let value = |index: usize| match &ast.statements()[index] {
        Stmt::Var(parts, ..) => parts.1.clone(),
        other => panic!("{other:?}"),
    };
    let Expr::DynamicConstant(pointer, _) = value(1) else { panic!("{:?}", value(1)) };
    assert!(pointer.read_lock::<FnPtr>().unwrap().fn_name().starts_with("anon$"));
    let Expr::Stmt(block) = value(2) else { panic!("{:?}", value(2)) };
    let [Stmt::Share(shared), second] = block.statements() else { panic!("{block:?}") };
    assert_eq!(shared[0].0.name, "x");
    let call = match second {
        Stmt::FnCall(call, _) => call.clone(),
        Stmt::Expr(expr) => match &**expr {
            Expr::FnCall(call, _) => call.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!((call.name.as_str(), call.args.len()), ("curry", 2));
    assert!(matches!(call.args[0], Expr::DynamicConstant(..)));
}

#[test]
fn markers_are_variables_that_reach_the_hook_with_their_scope() {
    for marker in
        [Marker::Commit, Marker::Sync("total"), Marker::Source("eval 12"), Marker::Module, Marker::Capture("a b")]
    {
        let Stmt::Expr(expr) = marker.statement(Position::NONE) else { panic!() };
        let Expr::Variable(variable, ..) = &*expr else { panic!() };
        assert_eq!(Marker::of(&variable.1), Some(marker));
    }
    assert_eq!(Marker::of("p"), None);
    assert_eq!(Marker::of(""), None);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut engine = engine();
    let note = Arc::clone(&seen);
    #[expect(deprecated, reason = "the hook under test")]
    engine.on_var(move |name, _, context| {
        Ok(Marker::of(name).map(|_| {
            note.lock().unwrap().push((name.to_owned(), context.scope().get_value::<i64>("x")));
            Dynamic::UNIT
        }))
    });
    let ast = engine.compile("let x = 1; x = 2;").unwrap();
    let mut statements = ast.statements().to_vec();
    statements.insert(1, Marker::Commit.statement(Position::NONE));
    statements.insert(2, Marker::Sync("x").statement(Position::NONE));
    statements.push(Marker::Commit.statement(Position::NONE));
    let mut state = RuntimeState::new(&engine);
    let last = run_statements(&engine, &mut state, &mut Scope::new(), &statements).unwrap();
    assert!(last.is_unit());
    assert_eq!(*seen.lock().unwrap(), [(" p".into(), Some(1)), (" sx".into(), Some(1)), (" p".into(), Some(2))]);
}

#[test]
fn sharing_a_variable_asks_the_hook_first_and_skips_what_it_resolves() {
    let mut engine = engine();
    #[expect(deprecated, reason = "the hook under test")]
    engine.on_var(|name, _, _| Ok((name == "kept").then(|| Dynamic::from(7_i64))));
    let mut scope = Scope::new();
    engine.run_with_scope(&mut scope, "let kept = 1; let cell = 2; let f = || kept + cell;").unwrap();
    assert!(!scope.get("kept").unwrap().is_shared());
    assert!(scope.get("cell").unwrap().is_shared());
}

#[test]
fn native_pointers_are_told_from_others() {
    let native = native_pointer("of_ours".into(), |_, _| Ok(Dynamic::UNIT)).unwrap();
    assert!(is_native_pointer(&native));
    assert!(!is_native_pointer(&FnPtr::new("by_name").unwrap()));
    let ast = engine().compile("fn f(x) { x }").unwrap();
    let script = script_functions(ast.shared_lib()).next().unwrap().clone();
    assert!(!is_native_pointer(&pointer_to(script)));
    let mut deep = native;
    for _ in 0..50 {
        let inner = deep.clone();
        deep.set_curry([Dynamic::from(inner)]);
    }
    assert!(is_native_pointer(&deep), "curried arguments are not looked at");
}

#[test]
fn a_native_pointer_is_called_with_this_where_we_expect_it() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let pointer = native_pointer("of_ours".into(), move |context, arguments| {
        let shown = arguments.iter().map(|argument| argument.to_string()).collect::<Vec<_>>().join(" ");
        note.lock().unwrap().push(format!("{}: {shown}", context.fn_name()));
        Ok(Dynamic::UNIT)
    })
    .unwrap();
    let mut curried = pointer.clone();
    curried.set_curry([Dynamic::from("c")]);
    let mut scope = Scope::new();
    scope.push("p", pointer).push("c", curried);
    let script = "p.call(1); c.call(1); \"o\".call(p, 1); \"o\".call(c, 1); let m = #{p: p, c: c}; m.p(1); m.c(1); \
                  [5].for_each(p); [5].for_each(c);";
    engine().run_with_scope(&mut scope, script).unwrap();
    let map = "#{\"c\": Fn#(\"of_ours\", \"c\"), \"p\": Fn#(\"of_ours\")}";
    let expected = [
        "call: 1".to_owned(),
        "call: c 1".into(),
        "call: o 1".into(),
        "call: o c 1".into(),
        format!("of_ours: {map} 1"),
        format!("of_ours: {map} c 1"),
        "of_ours: 5".into(),
        "of_ours: c 5".into(),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn the_check_of_nesting_is_a_call_of_one_argument() {
    let mut engine = engine();
    engine.register_fn(NestingCheck::FUNCTION, |value: Dynamic| Dynamic::from(value.as_int().unwrap_or(0) + 1));
    let around = NestingCheck::new().around(Expr::IntegerConstant(41, Position::NONE));
    let mut state = RuntimeState::new(&engine);
    let value = run_statements(&engine, &mut state, &mut Scope::new(), &[Stmt::Expr(Box::new(around))]).unwrap();
    assert_eq!(value.as_int(), Ok(42));
}

#[test]
fn constants_of_a_module_are_where_they_were_made_known() {
    let known = Arc::new(Mutex::new(None));
    let mut engine = engine();
    let note = Arc::clone(&known);
    #[expect(deprecated, reason = "the hook under test")]
    engine.on_var(move |name, _, mut context| {
        Ok((name == " m").then(|| {
            *note.lock().unwrap() = Some(begin_module(context.global_runtime_state_mut()));
            Dynamic::UNIT
        }))
    });
    let ast = engine.compile("const K = 5; fn f() { global::K } private fn g() { 1 }").unwrap();
    let mut statements = vec![Marker::Module.statement(Position::NONE)];
    statements.extend(ast.statements().iter().cloned());
    let (module, functions) = load_module(&engine, statements, (**ast.shared_lib()).clone()).unwrap();
    let constants = known.lock().unwrap().clone().unwrap();
    assert_eq!(constants.read().unwrap()["K"].as_int(), Ok(5));
    assert_eq!((module.count().1, functions.count().1), (1, 2), "private functions stay inside");
    assert!(functions.id().is_none(), "functions say themselves where they were written");
}

#[test]
fn imports_and_functions_of_a_state_can_be_replaced() {
    let engine = engine();
    let functions = engine.compile("fn f() { m::g() }").unwrap().shared_lib().clone();
    let mut module = Module::new();
    module.set_native_fn("g", || Ok(8_i64));
    module.build_index();
    let mut state = RuntimeState::new(&engine);
    let import = crate::engine::environment::Import { alias: "m".into(), name: None, module: module.into() };
    let environment = crate::engine::environment::Environment {
        functions: functions.clone(),
        imports: Arc::new(vec![import]),
        constants: None,
    };
    state.set_surroundings(&environment);
    state.set_functions([&functions]);
    let ast = engine.compile("f()").unwrap();
    assert_eq!(run_statements(&engine, &mut state, &mut Scope::new(), ast.statements()).unwrap().as_int(), Ok(8));
    assert_eq!((state.moment().import_count(), state.moment().layers()), (1, 1));
}
