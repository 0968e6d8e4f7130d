//! [`Api`]: registering native functions so that a panic in one is an error of the script that called it, nothing else.

use super::environment::ModuleRecord;
use super::error::{Fallible, fail};
use rhai::{Dynamic, FuncRegistration, Module, NativeCallContext, RhaiFunc, RhaiNativeFunc, Shared};
use std::any::{Any, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A module of native functions under construction. Every function is run under `catch_unwind`.
#[derive(Debug, Default)]
pub(crate) struct Api {
    module: Module,
    /// The names of its functions, each with whether one of them takes a function.
    calling: HashMap<String, bool>,
}

impl Api {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a function. `params` are its parameters as docs show them, with the returned type last when it is worth saying:
    /// `["secs: float", "Dynamic"]`; `doc` is its doc comment without comment marks. A method takes its object as `&mut T`
    /// first, and may be called on constants.
    pub(crate) fn function<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
        &mut self,
        name: &str,
        params: &[&str],
        doc: &str,
        function: FUNC,
    ) -> &mut Self
    where
        R: rhai::Variant + Clone,
        FUNC: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    {
        self.add(name, FuncRegistration::new(name), params, doc, true, function)
    }

    /// Adds a method that changes its object: constants refuse it.
    pub(crate) fn mutating<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
        &mut self,
        name: &str,
        params: &[&str],
        doc: &str,
        function: FUNC,
    ) -> &mut Self
    where
        R: rhai::Variant + Clone,
        FUNC: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    {
        self.add(name, FuncRegistration::new(name), params, doc, false, function)
    }

    /// Adds a method that is told its arguments as they come, and so whether its object is a constant. Every one of `types` is a
    /// type of the value itself. Constants refuse it unless it is `pure`.
    pub(crate) fn method(
        &mut self,
        name: &str,
        types: &[TypeId],
        params: &[&str],
        doc: &str,
        pure: bool,
        function: impl Fn(NativeCallContext<'_>, &mut [&mut Dynamic]) -> Fallible<Dynamic> + Send + Sync + 'static,
    ) -> &mut Self {
        let mut registration = FuncRegistration::new(name).with_params_info(params);
        if !doc.is_empty() {
            registration = registration.with_comments(doc.lines().map(|line| format!("/// {line}")));
        }
        let function = RhaiFunc::Method {
            func: Shared::new(move |context: Option<NativeCallContext<'_>>, arguments: &mut [&mut Dynamic]| {
                // Rhai passes the context because `has_context` says so.
                context.map_or(Ok(Dynamic::UNIT), |context| function(context, arguments))
            }),
            has_context: true,
            is_pure: pure,
            is_volatile: true,
        };
        registration.set_into_module_raw(&mut self.module, types, guarded(function));
        self
    }

    /// Adds a method of a type that this module defines, for a module that scripts call by its name: a method is found without that name.
    pub(crate) fn own_method<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
        &mut self,
        name: &str,
        params: &[&str],
        doc: &str,
        function: FUNC,
    ) -> &mut Self
    where
        R: rhai::Variant + Clone,
        FUNC: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    {
        self.add(name, FuncRegistration::new(name).in_global_namespace(), params, doc, true, function)
    }

    /// Says what the module is for, in a line.
    pub(crate) fn about(&mut self, doc: &str) -> &mut Self {
        self.module.set_doc(doc);
        self
    }

    /// Adds a property that can be read: `value.name`.
    pub(crate) fn getter<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
        &mut self,
        name: &str,
        doc: &str,
        function: FUNC,
    ) -> &mut Self
    where
        R: rhai::Variant + Clone,
        FUNC: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    {
        self.add(name, FuncRegistration::new_getter(name), &[], doc, true, function)
    }

    fn add<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
        &mut self,
        name: &str,
        registration: FuncRegistration,
        params: &[&str],
        doc: &str,
        pure: bool,
        function: FUNC,
    ) -> &mut Self
    where
        R: rhai::Variant + Clone,
        FUNC: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    {
        *self.calling.entry(name.to_owned()).or_default() |= params.iter().any(|param| param.ends_with(": Fn"));
        let mut registration = registration.with_params_info(params);
        if !doc.is_empty() {
            registration = registration.with_comments(doc.lines().map(|line| format!("/// {line}")));
        }
        let guarded = guarded(function.into_rhai_function(pure, true));
        registration.set_into_module_raw(&mut self.module, FUNC::param_types(), guarded);
        self
    }

    /// Names a type of the host as scripts see it.
    pub(crate) fn custom_type<T: rhai::Variant + Clone>(&mut self, name: &str) -> &mut Self {
        self.module.set_custom_type::<T>(name);
        self
    }

    /// Says that a `for` goes through values of this type.
    pub(crate) fn iterator<T>(&mut self) -> &mut Self
    where
        T: rhai::Variant + Clone + Iterator,
        T::Item: rhai::Variant + Clone,
    {
        self.module.set_iterator::<T>();
        self
    }

    /// The finished module.
    pub(crate) fn build(self) -> Module {
        self.module
    }

    /// The finished module, which scripts know by this name. It tells which of its functions call nothing of what they are given: those
    /// without a parameter that is a function.
    pub(crate) fn build_as(self, name: &str) -> Module {
        let Self { mut module, calling } = self;
        let quiet = calling.into_iter().filter(|(_, calls)| !calls).map(|(name, _)| (name.into(), BTreeSet::new()));
        ModuleRecord::put_into(&mut module, name.into(), quiet.collect(), Vec::new());
        module
    }
}

/// Adds a function that is told its arguments as they come.
pub(crate) fn add_raw(
    module: &mut Module,
    name: &str,
    types: &[TypeId],
    function: impl Fn(NativeCallContext<'_>, &mut [&mut Dynamic]) -> Fallible<Dynamic> + Send + Sync + 'static,
) {
    let function = RhaiFunc::Pure {
        func: Shared::new(move |context: Option<NativeCallContext<'_>>, arguments: &mut [&mut Dynamic]| {
            // Rhai passes the context because `has_context` says so.
            context.map_or(Ok(Dynamic::UNIT), |context| function(context, arguments))
        }),
        has_context: true,
        is_pure: true,
        is_volatile: true,
    };
    FuncRegistration::new(name).set_into_module_raw(module, types, guarded(function));
}

fn guarded(function: RhaiFunc) -> RhaiFunc {
    match function {
        RhaiFunc::Pure { func, has_context, is_pure, is_volatile } => RhaiFunc::Pure {
            func: Shared::new(move |context: Option<NativeCallContext<'_>>, arguments: &mut [&mut Dynamic]| {
                catch(|| func(context, arguments))
            }),
            has_context,
            is_pure,
            is_volatile,
        },
        RhaiFunc::Method { func, has_context, is_pure, is_volatile } => RhaiFunc::Method {
            func: Shared::new(move |context: Option<NativeCallContext<'_>>, arguments: &mut [&mut Dynamic]| {
                catch(|| func(context, arguments))
            }),
            has_context,
            is_pure,
            is_volatile,
        },
        other => other,
    }
}

fn catch(call: impl FnOnce() -> Fallible<Dynamic>) -> Fallible<Dynamic> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(fail("Panic", panic_text(&*payload))))
}

/// The message of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    format!("a native function panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhai::Engine;

    #[test]
    fn a_panic_is_an_error_that_scripts_can_catch() {
        let mut api = Api::new();
        api.function("boom", &["i64"], "Breaks.", || -> i64 { panic!("broken {}", 1) });
        api.mutating("grow", &["n: i64"], "", |list: &mut rhai::Array, n: i64| list.resize(n as usize, Dynamic::UNIT));
        let mut engine = Engine::new();
        engine.register_global_module(api.build().into());
        let caught: String = engine.eval("let t = \"\"; try { boom() } catch (e) { t = e.message; } t").unwrap();
        assert_eq!(caught, "a native function panicked: broken 1");
        assert_eq!(engine.eval::<i64>("let l = [1]; l.grow(3); l.len()").unwrap(), 3);
        assert!(engine.eval::<()>("const L = [1]; L.grow(3)").is_err());
        // A captured list survives a panic in a method on it: its lock is not poisoned.
        assert_eq!(
            engine.eval::<i64>("let l = [1]; let f = || l.len(); try { l.grow(-1) } catch {} l.len()").unwrap(),
            1
        );
    }
}
