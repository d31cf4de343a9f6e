use std::collections::BTreeMap;

use crate::code::Code;
use crate::limits;
use crate::report::{Draft, Place, Report};
use crate::yaml::node::{Entry, Key, Node, Value};
use crate::yaml::read::too_deep;
use crate::yaml::scalar::Scalar;

/// Why no tree can be built; what it is has been reported.
#[derive(Debug)]
pub(super) struct Stop;

/// Puts events together to a tree of bounded size.
#[derive(Debug, Default)]
pub(super) struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    bytes: usize,
    root: Option<Node>,
}

/// A collection whose end was not yet seen.
#[derive(Debug)]
struct Open {
    collection: Collection,
    anchor: usize,
    place: Place,
}

#[derive(Debug)]
enum Collection {
    List(Vec<Node>),
    Map(OpenMap),
}

#[derive(Debug, Default)]
struct OpenMap {
    entries: Vec<Entry>,
    seen: BTreeMap<String, Place>,
    next: Next,
    /// What stands behind `<<`.
    merged: Vec<Node>,
}

/// What the next node of a mapping is.
#[derive(Debug, Default)]
enum Next {
    #[default]
    Key,
    ValueOf(Key),
    /// The value of a key that was refused.
    Nothing,
}

impl Builder {
    /// The document that has just ended. What the next one may hold is what this one left over.
    pub(super) fn finish(&mut self) -> Option<Node> {
        self.anchors.clear();
        self.root.take()
    }

    pub(super) fn scalar(
        &mut self,
        report: &mut Report<'_>,
        scalar: Scalar,
        (anchor, place): (usize, Place),
    ) -> Result<(), Stop> {
        self.charge(report, place, (1, scalar.text.len()))?;
        let node = Node { value: Value::Scalar(scalar), place };
        self.put(report, node, anchor)
    }

    pub(super) fn alias(
        &mut self,
        report: &mut Report<'_>,
        anchor: usize,
        place: Place,
    ) -> Result<(), Stop> {
        let Some(node) = self.anchors.get(&anchor) else {
            let message = "the alias stands inside of what it stands for";
            let draft = Draft::error(Code::Syntax, place, message);
            report.push(draft.hint("write the value out"));
            return Err(Stop);
        };
        let size = node.size();
        self.charge(report, place, size)?;
        let node = self.anchors.get(&anchor).expect("it was there before").clone();
        self.put(report, node, 0)
    }

    pub(super) fn open_list(
        &mut self,
        report: &mut Report<'_>,
        at: (usize, Place),
    ) -> Result<(), Stop> {
        self.open(report, Collection::List(Vec::new()), at)
    }

    pub(super) fn open_map(
        &mut self,
        report: &mut Report<'_>,
        at: (usize, Place),
    ) -> Result<(), Stop> {
        self.open(report, Collection::Map(OpenMap::default()), at)
    }

    pub(super) fn close(&mut self, report: &mut Report<'_>) -> Result<(), Stop> {
        let Some(Open { collection, anchor, place }) = self.open.pop() else { return Ok(()) };
        let (value, first) = match collection {
            Collection::List(items) => {
                let first = items.first().map(|it| it.place);
                (Value::List(items), first)
            }
            Collection::Map(map) => {
                let first = map.entries.first().map(|it| it.key.place);
                (Value::Map(map.close(report)), first)
            }
        };
        // A collection has no text of its own: its first part stands for it.
        self.put(report, Node { value, place: first.unwrap_or(place) }, anchor)
    }

    fn open(
        &mut self,
        report: &mut Report<'_>,
        collection: Collection,
        (anchor, place): (usize, Place),
    ) -> Result<(), Stop> {
        if self.open.len() >= limits::DEPTH {
            report.push(too_deep(place));
            return Err(Stop);
        }
        self.charge(report, place, (1, 0))?;
        self.open.push(Open { collection, anchor, place });
        Ok(())
    }

    fn put(&mut self, report: &mut Report<'_>, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            // The copy that aliases are made of counts as well, which bounds nested anchors.
            let size = node.size();
            self.charge(report, node.place, size)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(Open { collection, .. }) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match collection {
            Collection::List(items) => items.push(node),
            Collection::Map(map) => map.put(report, node),
        }
        Ok(())
    }

    fn charge(
        &mut self,
        report: &mut Report<'_>,
        place: Place,
        (nodes, bytes): (usize, usize),
    ) -> Result<(), Stop> {
        self.nodes += nodes;
        self.bytes += bytes;
        let message = if self.nodes > limits::NODES {
            format!("the document has more than {} values", limits::NODES)
        } else if self.bytes > limits::EXPANDED_BYTES {
            let most = limits::EXPANDED_BYTES >> 20;
            format!("the document has more than {most} MiB of text with its aliases written out")
        } else {
            return Ok(());
        };
        let hint = "aliases count as often as they are used";
        report.push(Draft::error(Code::TooLarge, place, message).hint(hint));
        Err(Stop)
    }
}

impl OpenMap {
    fn put(&mut self, report: &mut Report<'_>, node: Node) {
        let key = match std::mem::take(&mut self.next) {
            Next::Key => {
                self.next = as_key(report, node).map_or(Next::Nothing, Next::ValueOf);
                return;
            }
            Next::Nothing => return,
            Next::ValueOf(key) => key,
        };
        if key.text == "<<" {
            self.merged.push(node);
        } else if let Some(first) = self.seen.get(&key.text) {
            let message = format!("the key `{}` is there twice", key.text);
            let draft = Draft::error(Code::DuplicateKey, key.place, message);
            report.push(draft.also(*first, "the first is here"));
        } else {
            self.seen.insert(key.text.clone(), key.place);
            self.entries.push(Entry { key, value: node });
        }
    }

    /// Takes over what the mappings behind `<<` have and this one has not.
    fn close(mut self, report: &mut Report<'_>) -> Vec<Entry> {
        let sources = self.merged.into_iter().flat_map(|node| match node.value {
            Value::List(items) => items,
            value => vec![Node { value, place: node.place }],
        });
        for Node { value, place } in sources {
            let Value::Map(inherited) = value else {
                let message = "`<<` takes a mapping, or a list of mappings";
                report.push(Draft::error(Code::WrongType, place, message));
                continue;
            };
            for entry in inherited {
                if !self.seen.contains_key(&entry.key.text) {
                    self.seen.insert(entry.key.text.clone(), entry.key.place);
                    self.entries.push(entry);
                }
            }
        }
        self.entries
    }
}

fn as_key(report: &mut Report<'_>, node: Node) -> Option<Key> {
    let Node { value, place } = node;
    if let Value::Scalar(Scalar { text, .. }) = value {
        return Some(Key { text, place });
    }
    let message = "a key has to be a text, not a list or a mapping";
    let draft = Draft::error(Code::WrongType, place, message);
    report.push(draft.hint("quote a text that begins with `{` or `[`"));
    None
}
