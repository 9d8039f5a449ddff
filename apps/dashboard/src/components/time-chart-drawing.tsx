import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { TimeSeries } from "../lib/time-series.ts";

interface Props {
  readonly series: TimeSeries;
  readonly limit: number | undefined;
  readonly withAxes: boolean;
  readonly height: number;
  readonly format: (value: number) => string;
  /** Place of the value under the pointer; null when it is elsewhere. */
  readonly onPoint: (index: number | null) => void;
}

type Look = Omit<Props, "series">;

export function TimeChartDrawing({ series, limit, withAxes, height, format, onPoint }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [plot, setPlot] = useState<uPlot | null>(null);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const look = { limit, withAxes, height, format, onPoint };
    const drawn = new uPlot(optionsOf(target, look), [[], []], target);
    const resized = new ResizeObserver(() => drawn.setSize({ width: target.clientWidth, height }));
    resized.observe(target);
    setPlot(drawn);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [limit, withAxes, height, format, onPoint]);
  useEffect(() => {
    plot?.setData([series.times.map((ms) => ms / 1000), [...series.values]]);
  }, [plot, series]);
  return <div ref={element} />;
}

function optionsOf(target: HTMLElement, { limit, withAxes, height, format, onPoint }: Look): uPlot.Options {
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
    ...(!withAxes && { padding: [2, 2, 2, 2] }),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max, limit ?? 0, Number.EPSILON) * 1.1] } },
    axes: withAxes
      ? [
          { ...axis, grid: { show: false } },
          { ...axis, size: 72, values: (_plot, marks) => marks.map(format) },
        ]
      : [{ show: false }, { show: false }],
    series: [
      {},
      { stroke: line ?? "", width: 1.5, spanGaps: false, points: { show: (it) => (it.data[0]?.length ?? 0) < 3 } },
    ],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      draw: limit === undefined ? [] : [(plot) => drawLimit(plot, limit, warning ?? "")],
    },
  };
}

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
