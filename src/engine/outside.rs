//! (additions wanted by the host)
use super::*;
use crate::words::Failure;
pub fn closure_parameters(_f: &rhai::FnPtr) -> Vec<String> {
    todo!()
}
pub fn peek(_a: &Atom) -> Option<rhai::Dynamic> {
    todo!()
}
pub fn space_module(_s: &dyn SpaceView) -> Option<rhai::Shared<rhai::Module>> {
    todo!()
}
pub fn name(_c: &Callable) -> String {
    todo!()
}
pub fn failed(_f: Failure) -> Ended {
    todo!()
}
