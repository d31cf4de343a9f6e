use serde::Serialize;

/// One measured number.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    pub(crate) metric: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    #[serde(flatten)]
    pub(crate) beside: Option<Beside>,
}

/// What ran beside it, and how many times that the figure is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Beside {
    pub(crate) baseline: f64,
    pub(crate) ratio: f64,
}

impl Beside {
    pub(crate) fn of(value: f64, baseline: f64) -> Self {
        Self { baseline, ratio: value / baseline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_flat_and_names_its_baseline_only_if_it_has_one() {
        let figure = |beside| Figure {
            bench: "plan",
            case: "members=1".to_owned(),
            metric: "steps_per_s",
            value: 3.0,
            unit: "1/s",
            beside,
        };
        let text = |figure: Figure| serde_json::to_string(&figure).expect("figures are plain");
        let alone = concat!(
            r#"{"bench":"plan","case":"members=1","metric":"steps_per_s","#,
            r#""value":3.0,"unit":"1/s"}"#
        );
        assert_eq!(text(figure(None)), alone);
        let beside = format!("{},\"baseline\":2.0,\"ratio\":1.5}}", &alone[..alone.len() - 1]);
        assert_eq!(text(figure(Some(Beside::of(3.0, 2.0)))), beside);
    }
}
