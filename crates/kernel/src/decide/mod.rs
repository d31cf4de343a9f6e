mod apply;
mod approve;
mod deployment;
mod person;
mod take;
mod task;
mod trigger;
