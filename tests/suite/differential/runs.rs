//! Running a program each way, and what came of it.

use super::split;
use super::value::rendered;
use remontoire::{
    EvalError, EvalRequest, Evaluated, Host, Limits, rhai::Array, rhai::Dynamic, rhai::Engine, rhai::EvalAltResult,
    rhai::FuncRegistration, rhai::INT, rhai::Map, rhai::Module, rhai::OptimizationLevel, rhai::Scope,
    rhai::module_resolvers::FileModuleResolver,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The stack of a thread that runs programs: recursion as deep as is allowed needs room in an unoptimised build.
pub(super) const STACK: usize = 256 << 20;

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The value, or the kind of the error with what was thrown.
    pub(super) end: Result<String, String>,
    /// Everything printed.
    pub(super) printed: String,
    /// The variables of the top level after the run; `None` where they are no subject.
    pub(super) variables: Option<BTreeMap<String, String>>,
}

impl Outcome {
    /// What differs from what is meant, in words.
    pub(super) fn against(&self, meant: &Self) -> Option<String> {
        let mut words = Vec::new();
        if self.end != meant.end {
            words.push(format!("ended with {:?}, meant is {:?}", self.end, meant.end));
        }
        if self.printed != meant.printed {
            words.push(format!("printed {:?}, meant is {:?}", self.printed, meant.printed));
        }
        if let (Some(ours), Some(theirs)) = (&self.variables, &meant.variables) {
            for name in ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))) {
                if ours.get(name) != theirs.get(name) {
                    words.push(format!("{name} is {:?}, meant is {:?}", ours.get(name), theirs.get(name)));
                }
            }
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// Plain Rhai and a host, for one thread.
pub(super) struct Bench {
    plain: Engine,
    printed: Arc<Mutex<Vec<String>>>,
    host: Host,
    tokio: tokio::runtime::Runtime,
    spaces: usize,
}

impl Bench {
    pub(super) fn new() -> Self {
        let limits = Limits { spaces: 100_000, ..Limits::default() };
        let printed = Arc::<Mutex<Vec<String>>>::default();
        let modules = super::programs::folder().join("modules");

        let mut plain = Engine::new();
        // As a host has them, so that the same recursion and the same expressions are too deep.
        plain.set_max_call_levels(limits.call_depth);
        plain.set_max_expr_depths(limits.expression_depth, limits.function_expression_depth);
        // The optimiser of Rhai has opinions of its own about constants.
        plain.set_optimization_level(OptimizationLevel::None);
        plain.set_module_resolver(FileModuleResolver::new_with_path(&modules));
        plain.register_static_module("shop", Arc::new(shop()));
        let lines = Arc::clone(&printed);
        plain.on_print(move |line| lines.lock().unwrap().push(line.to_owned()));

        let host = Host::builder().limits(limits).scripts(modules).module("shop", shop()).build().unwrap();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { plain, printed, host, tokio, spaces: 0 }
    }

    /// By plain Rhai. What a program that failed has changed is no subject: here its last statement changes nothing.
    pub(super) fn plainly(&self, code: &str) -> Outcome {
        self.printed.lock().unwrap().clear();
        let mut scope = Scope::new();
        let result = self.plain.eval_with_scope::<Dynamic>(&mut scope, code);
        let variables = result.is_ok().then(|| {
            let names = split::variables(&self.plain, code);
            let value = |name: &String| scope.get(name).map(|value| (name.clone(), rendered(value)));
            names.iter().filter_map(value).collect()
        });
        let end = result.map(|value| rendered(&value)).map_err(|error| {
            let mut error = &*error;
            while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) | EvalAltResult::ErrorInModule(_, inner, _) =
                error
            {
                error = inner;
            }
            let shown = format!("{error:?}");
            let kind = shown.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let thrown = match error {
                EvalAltResult::ErrorRuntime(value, _) => Some(value),
                _ => None,
            };
            failed(kind.strip_prefix("Error").unwrap_or(kind), thrown)
        });
        let printed = std::mem::take(&mut *self.printed.lock().unwrap()).join("\n");
        Outcome { end, printed, variables }
    }

    /// In one eval.
    pub(super) fn whole(&mut self, code: &str) -> Outcome {
        let space = self.space();
        let parts = [code.to_owned()];
        self.run(&space, &parts, code)
    }

    /// In one eval, in a space with a function that reads every variable of the program.
    pub(super) fn watched(&mut self, code: &str) -> Outcome {
        let space = self.space();
        let names = split::variables(&self.plain, code);
        self.eval(&space, &format!("fn watcher_of_all() {{ [{}] }}", names.join(", "))).unwrap();
        let parts = [code.to_owned()];
        self.run(&space, &parts, code)
    }

    /// In as many evals as it has statements and functions. Its value is that of the last statement.
    pub(super) fn in_parts(&mut self, code: &str) -> Result<Outcome, String> {
        let parts = split::statements(&self.plain, code)?;
        let space = self.space();
        Ok(self.run(&space, &parts, code))
    }

    fn run(&self, space: &str, parts: &[String], code: &str) -> Outcome {
        let mut end = Ok(rendered(&Dynamic::UNIT));
        let mut printed = Vec::new();
        for part in parts {
            match self.eval(space, part) {
                Ok(evaluated) => {
                    printed.extend(evaluated.output);
                    if parts.len() == 1 || !split::is_function(&self.plain, part) {
                        end = Ok(rendered(&evaluated.value));
                    }
                }
                Err(EvalError::Failed { failure, thrown, output, .. }) => {
                    printed.extend(output);
                    end = Err(failed(&failure.kind, thrown.as_ref()));
                    break;
                }
                Err(other) => {
                    end = Err(other.to_string());
                    break;
                }
            }
        }
        Outcome { end, printed: printed.join("\n"), variables: Some(self.variables(space, code)) }
    }

    /// The variables that the program declares, as the space has them now.
    fn variables(&self, space: &str, code: &str) -> BTreeMap<String, String> {
        let names = split::variables(&self.plain, code);
        if names.is_empty() {
            return BTreeMap::new();
        }
        let each: Vec<_> =
            names.iter().map(|name| format!("{name}: if is_def_var(\"{name}\") {{ [{name}] }}")).collect();
        match self.eval(space, &format!("#{{{}}}", each.join(", "))) {
            Ok(evaluated) => evaluated
                .value
                .cast::<Map>()
                .iter()
                .filter_map(|(name, value)| Some((name.to_string(), rendered(value.as_array_ref().ok()?.first()?))))
                .collect(),
            Err(error) => BTreeMap::from([("all".to_owned(), error.to_string())]),
        }
    }

    fn space(&mut self) -> String {
        self.spaces += 1;
        format!("p{}", self.spaces)
    }

    fn eval(&self, space: &str, code: &str) -> Result<Evaluated, EvalError> {
        self.tokio.block_on(self.host.eval_job(&EvalRequest { code: code.to_owned(), ns: Some(space.to_owned()) }))
    }
}

fn failed(kind: &str, thrown: Option<&Dynamic>) -> String {
    thrown.map_or_else(|| kind.to_owned(), |value| format!("{kind} {}", rendered(value)))
}

/// A native module that both have: functions with a name of their own that change what they are given, and some that do not.
fn shop() -> Module {
    let mut module = Module::new();
    FuncRegistration::new("add").set_into_module(&mut module, |list: &mut Array, item: INT| list.push(item.into()));
    FuncRegistration::new("count")
        .set_into_module(&mut module, |list: &mut Array| INT::try_from(list.len()).unwrap_or(INT::MAX));
    FuncRegistration::new("price").set_into_module(&mut module, |map: &mut Map, price: INT| {
        map.insert("price".into(), price.into());
    });
    FuncRegistration::new("raise").set_into_module(&mut module, |number: &mut INT, by: INT| *number += by);
    FuncRegistration::new("twice").set_into_module(&mut module, |number: INT| number * 2);
    module
}
