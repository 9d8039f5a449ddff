import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { TimeRange, TimeSeries } from "../lib/time-series.ts";
import classes from "./time-chart.module.css";

interface Props {
  readonly series: TimeSeries;
  /** Both ends of the time axis. */
  readonly range: TimeRange;
  readonly limit: number | undefined;
  readonly height: number;
  readonly format: (value: number) => string;
  /** Place of the value under the pointer; null when it is elsewhere. */
  readonly onPoint: (index: number | null) => void;
}

type Look = Omit<Props, "series" | "range">;

export function TimeChartDrawing({ series, range, limit, height, format, onPoint }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const drawn = new uPlot(optionsOf(target, { limit, height, format, onPoint }), [[], []], target);
    const resized = new ResizeObserver(() => drawn.setSize({ width: target.clientWidth, height }));
    resized.observe(target);
    setPlot(drawn);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [limit, height, format, onPoint]);
  useEffect(() => {
    plot?.batch(() => {
      plot.setData([series.times.map((ms) => ms / 1000), [...series.values]], false);
      plot.setScale("x", { min: range.from / 1000, max: range.to / 1000 });
    });
  }, [plot, series, range.from, range.to]);
  return <div ref={element} className={classes.drawing} />;
}

function optionsOf(target: HTMLElement, { limit, height, format, onPoint }: Look): uPlot.Options {
  const style = getComputedStyle(target);
  const [line, quiet, border, warning] = ["--mantine-color-anchor", "--w-quiet", "--w-border", "--w-warning"].map(
    (it) => style.getPropertyValue(it),
  );
  const axis: uPlot.Axis = {
    stroke: quiet ?? "",
    font: `12px ${style.fontFamily}`,
    grid: { stroke: border ?? "", width: 1 },
    ticks: { show: false },
  };
  return {
    width: target.clientWidth,
    height,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_plot, _min, max) => [0, (Math.max(max, limit ?? 0) || 1) * 1.1] } },
    axes: [
      { ...axis, grid: { show: false }, size: 32, gap: 10, space: 70, values: (_plot, marks) => timesOf(marks) },
      { ...axis, size: 76, space: 28, values: (_plot, marks) => withoutRepeats(marks.map(format)) },
    ],
    series: [
      {},
      {
        stroke: line ?? "",
        fill: `color-mix(in srgb, ${line ?? "transparent"} 12%, transparent)`,
        width: 1.5,
        spanGaps: false,
        points: { filter: lonePoints },
      },
    ],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      draw: limit === undefined ? [] : [(plot) => drawLimit(plot, limit, warning ?? "")],
    },
  };
}

/** The places of values without a neighbour, which no line reaches. */
function lonePoints({ data }: uPlot, series: number): number[] {
  const values = [...(data[series] ?? [])];
  return values.flatMap((value, at) => (value != null && values[at - 1] == null && values[at + 1] == null ? at : []));
}

const DAY_SECONDS = 86_400;
const exactTime = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const timeOfDay = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayOfYear = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });

/** Labels marks with days where they are days apart, and with times of day otherwise, to the second where they are less than a minute apart. */
function timesOf(marks: readonly number[]): string[] {
  const [first = 0, second = first] = marks;
  const step = second - first;
  const format = step >= DAY_SECONDS ? dayOfYear : step >= 60 ? timeOfDay : exactTime;
  return marks.map((seconds) => format.format(seconds * 1000));
}

/** Small values may round to the same text, of which one is enough. */
const withoutRepeats = (labels: readonly string[]): string[] =>
  labels.map((label, at) => (label === labels[at - 1] ? "" : label));

/** A dashed line across at the value. */
function drawLimit({ ctx, bbox, valToPos }: uPlot, limit: number, colour: string): void {
  const y = valToPos(limit, "y", true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
