mod deployment;
mod person;
mod task;
mod trigger;
