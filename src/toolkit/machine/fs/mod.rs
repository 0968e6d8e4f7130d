//! `fs`: files and folders, through handles.

pub(super) mod module;
mod opening;
mod reading;
mod walking;
mod writing;
