//! [`Api`]: registering native functions so that a panic in one is an error of the script that called it, nothing else.

use rhai::{FuncRegistration, Module, RhaiNativeFunc};

/// A module of native functions under construction. Every function is run under `catch_unwind`.
#[derive(Debug, Default)]
pub struct Api {
    module: Module,
}

impl Api {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function. `params` are its parameters as docs show them, with the returned type last when it is worth saying:
    /// `["secs: float", "Dynamic"]`; `doc` is its doc comment without comment marks.
    pub fn function<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
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
        let _ = (name, params, doc, function);
        todo!()
    }

    /// Adds a property that can be read: `value.name`.
    pub fn getter<A: 'static, const N: usize, const X: bool, R, const F: bool, FUNC>(
        &mut self,
        name: &str,
        doc: &str,
        function: FUNC,
    ) -> &mut Self
    where
        R: rhai::Variant + Clone,
        FUNC: RhaiNativeFunc<A, N, X, R, F> + Send + Sync + 'static,
    {
        let _ = (FuncRegistration::new_getter(name), doc, function);
        todo!()
    }

    /// Names a type of the host as scripts see it.
    pub fn custom_type<T: rhai::Variant + Clone>(&mut self, name: &str) -> &mut Self {
        self.module.set_custom_type::<T>(name);
        self
    }

    /// The finished module.
    pub fn build(self) -> Module {
        self.module
    }
}
