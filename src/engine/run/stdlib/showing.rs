//! Lists, maps and function pointers as text.

use crate::engine::native::Api;
use crate::engine::rhai_internals::closure_name::names_closure;
use crate::engine::task::context::Task;
use crate::engine::value::text;
use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map, NativeCallContext};

pub(super) fn register(api: &mut Api) {
    type Context<'c> = NativeCallContext<'c>;
    // Rhai falls back to its own, endless text when one of these fails: they never do.
    for name in ["print", "to_string", "debug", "to_debug"] {
        api.function(name, &["array: Array", "String"], "", |context: Context<'_>, list: &mut Array| {
            shown(&context, list)
        });
        api.function(name, &["map: Map", "String"], "", |context: Context<'_>, map: &mut Map| shown(&context, map));
        api.function(name, &["f: FnPtr", "String"], "", |pointer: &mut FnPtr| text::pointer_text(pointer));
        // Rhai leaves out the sign of a zero.
        api.function(name, &["number: f64", "String"], "", text::float_text);
    }
    const ANONYMOUS: &str = "Whether the function is a closure.";
    let anonymous = |pointer: &mut FnPtr| names_closure(pointer.fn_name());
    api.function("is_anonymous", &["f: FnPtr", "bool"], ANONYMOUS, anonymous);
    api.getter("is_anonymous", ANONYMOUS, anonymous);
}

fn shown<T: rhai::Variant + Clone + Default>(context: &NativeCallContext<'_>, place: &mut T) -> ImmutableString {
    let task = Task::of(context);
    let custom = |value: &Dynamic| {
        let mut value = value.clone();
        context.call_native_fn_raw("to_debug", true, &mut [&mut value]).ok()?.into_immutable_string().ok()
    };
    borrowed(place, |value| text::notation(value, text::LONGEST, &custom, &|| !task.must_end())).into()
}

/// Looks at a typed value as a value of Rhai, without copying it.
pub(super) fn borrowed<T: rhai::Variant + Clone + Default, R>(place: &mut T, look: impl FnOnce(&Dynamic) -> R) -> R {
    let value = Dynamic::from(std::mem::take(place));
    let result = look(&value);
    if let Some(back) = value.try_cast::<T>() {
        *place = back;
    }
    result
}
