//! How charts look.

/// The stylesheet of all charts, for pages that hold them as elements: see
/// [`Drawing::element`](super::Drawing::element). All its rules are about what is inside an element
/// of the class `chart`.
///
/// Plain colours and no variables: not every viewer of SVG knows those. The eight tints of bars are of
/// one lightness.
pub const CHART_STYLE: &str = "
.chart text { fill: #1f2933; font: 10.5px ui-monospace, monospace; }
.chart .paper { fill: #ffffff; }
.chart .hit { fill: #1f2933; fill-opacity: 0; }
.chart .lifeline, .chart .axis { stroke: #7b8794; stroke-width: 1.2; }
.chart .arrow, .chart .sync { stroke: #1f2933; stroke-width: 1.4; fill: none; }
.chart .handover { stroke: #0b69a3; stroke-width: 1.3; stroke-dasharray: 5 3; fill: none; }
.chart .moment { stroke: #cbd2d9; stroke-width: 1; stroke-dasharray: 3 3; }
.chart .back { stroke: #c2410c; stroke-width: 1.2; stroke-dasharray: 5 3; }
.chart .head, .chart .dot { fill: #1f2933; }
.chart .handover-head { fill: #0b69a3; }
.chart .process { fill: #d3f2e1; stroke: #1f2933; stroke-width: 1.2; }
.chart .place { fill: #f0f4f8; stroke: #7b8794; stroke-width: 1; }
.chart .bar { stroke: #52606d; stroke-width: 0.6; }
.chart .open { fill-opacity: 0.45; }
.chart .t0 { fill: #bcdcf5; } .chart .t1 { fill: #f7d9b5; } .chart .t2 { fill: #c9e7c4; }
.chart .t3 { fill: #f3c6cf; } .chart .t4 { fill: #d8cdf0; } .chart .t5 { fill: #f5ecb0; }
.chart .t6 { fill: #bfe6e4; } .chart .t7 { fill: #dcdcdc; }
.chart .time, .chart .note { fill: #52606d; }
.chart .message { paint-order: stroke; stroke: #ffffff; stroke-width: 3; stroke-linejoin: round; }
.chart .component { fill: #f0f4f8; stroke: #52606d; stroke-width: 1.2; }
.chart .component.circle { stroke: #c2410c; stroke-width: 2; }
.chart .wait { stroke: #1f2933; stroke-width: 1.4; fill: none; }
.chart .wait.elsewhere { stroke-dasharray: 6 3; }
.chart .wait.precedence { stroke-dasharray: 2 3; }
.chart .wait.circle { stroke: #c2410c; stroke-width: 2; }
.chart .circle-head { fill: #c2410c; }
.chart .heading { font-weight: bold; }
.chart .edge .way { stroke: #7b8794; stroke-width: 1.2; fill: none; }
.chart .edge-head { fill: #7b8794; }
.chart .edge text, .chart .location text { paint-order: stroke; stroke: #ffffff; stroke-width: 3; stroke-linejoin: round; }
.chart .edge.enabled .way { stroke: #1f2933; stroke-width: 1.7; }
.chart .edge.enabled .edge-head { fill: #1f2933; }
.chart .edge.taken .way { stroke: #c2410c; stroke-width: 2.2; }
.chart .edge.taken .edge-head { fill: #c2410c; }
.chart .edge.next .way { stroke: #1f6f5c; stroke-width: 3; }
.chart .edge.next .edge-head { fill: #1f6f5c; }
.chart .guard { fill: #2f6f1d; }
.chart .action { fill: #0b69a3; }
.chart .update { fill: #5b3aa0; }
.chart .invariant { fill: #8a3ffc; }
.chart .location .initial { fill: none; stroke: #7b8794; stroke-width: 1; }
.chart .location.here .place { fill: #ffd9b8; stroke: #c2410c; stroke-width: 2.2; }
.chart .location text { stroke: none; }
@media (prefers-color-scheme: dark) {
  .chart text { fill: #e4e7eb; }
  .chart .paper { fill: #14181d; }
  .chart .hit { fill: #e4e7eb; fill-opacity: 0; }
  .chart .arrow, .chart .sync, .chart .wait { stroke: #e4e7eb; }
  .chart .handover { stroke: #62b0e8; }
  .chart .handover-head { fill: #62b0e8; }
  .chart .moment { stroke: #3e4c59; }
  .chart .back { stroke: #fb923c; }
  .chart .head, .chart .dot { fill: #e4e7eb; }
  .chart .process { fill: #1d4a36; stroke: #9aa5b1; }
  .chart .place, .chart .component { fill: #222b35; stroke: #7b8794; }
  .chart .bar { stroke: #9aa5b1; }
  .chart .t0 { fill: #1f4a6b; } .chart .t1 { fill: #6b471c; } .chart .t2 { fill: #285a2e; }
  .chart .t3 { fill: #6b2a39; } .chart .t4 { fill: #463572; } .chart .t5 { fill: #5c5416; }
  .chart .t6 { fill: #1c5654; } .chart .t7 { fill: #4a4f55; }
  .chart .time, .chart .note { fill: #9aa5b1; }
  .chart .message { stroke: #14181d; }
  .chart .component.circle, .chart .wait.circle { stroke: #fb923c; }
  .chart .circle-head { fill: #fb923c; }
  .chart .edge text { stroke: #14181d; }
  .chart .edge.enabled .way { stroke: #e4e7eb; }
  .chart .edge.enabled .edge-head { fill: #e4e7eb; }
  .chart .edge.taken .way { stroke: #fb923c; }
  .chart .edge.taken .edge-head { fill: #fb923c; }
  .chart .edge.next .way { stroke: #4fb89b; }
  .chart .edge.next .edge-head { fill: #4fb89b; }
  .chart .guard { fill: #8fd07d; }
  .chart .action { fill: #62b0e8; }
  .chart .update, .chart .invariant { fill: #bda4f5; }
  .chart .location.here .place { fill: #6b3410; stroke: #fb923c; }
}
.chart .step:hover .hit { fill-opacity: 0.06; }
";
