mod deployment;
mod person;
mod task;
