use anyhow::{Result, bail};
use seaway_api::{Executor, Subscription};
use seaway_client::{Paging, Whole, whole};

use crate::connection::Server;
use crate::get::args::GetArgs;
use crate::out::Out;
use crate::print::{Format, list};

pub(super) async fn run(server: &Server, args: &GetArgs, out: &mut Out) -> Result<()> {
    let project = server.project(args.project.project.as_ref()).await?;
    let read = async |paging: Paging| server.client.executors(&project, &paging).await;
    let Whole { mut items, .. } = whole(args.limit.get(), read).await?;
    if let Some(name) = &args.name {
        items.retain(|it| it.name == *name);
        if items.is_empty() {
            bail!("no executor {name} is registered in {project}; see `seaway get executors`");
        }
    }
    list(out, args.to.output, &items, |out, executors| {
        if executors.is_empty() {
            return out.aside(format_args!(
                "no executor is registered in {project}; start one with `seaway worker`"
            ));
        }
        let wide = args.to.output == Format::Wide;
        let rows = executors.iter().map(|it| row(it, wide));
        out.table(["EXECUTOR", "TASKS", "HOLDS OR AWAITS", "SILENT AT MOST"], rows)
    })
}

fn row(executor: &Executor, wide: bool) -> [String; 4] {
    let subscriptions = executor.subscriptions.iter();
    let tasks: Vec<String> = match wide {
        true => subscriptions.map(whole_subscription).collect(),
        false => subscriptions.map(|it| it.task.clone()).collect(),
    };
    let ttl = format!("{} s", executor.ttl_seconds);
    [executor.name.clone(), tasks.join(", "), executor.tasks.to_string(), ttl]
}

fn whole_subscription(it: &Subscription) -> String {
    let mut text = it.task.clone();
    for (what, names) in [(" in ", &it.stages), (" for ", &it.services)] {
        if !names.is_empty() {
            text.push_str(what);
            text.push_str(&names.join("|"));
        }
    }
    if !it.match_expressions.is_empty() {
        text.push_str(" where it matches");
    }
    text
}
