//! `groundstate show`: instances with their attributes.

mod checks;
mod json;
mod run;
mod text;
mod view;

pub(crate) use run::show;
