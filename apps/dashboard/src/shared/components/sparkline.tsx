import classes from "./sparkline.module.css";

const [WIDTH, HEIGHT] = [100, 24];

/** A line without axes beside a figure, whose words say what it shows. A line that is zero all along is no news. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(...values);
  if (values.length < 2 || most <= 0) return null;
  const points = values.map(
    (value, at) => `${(at / (values.length - 1)) * WIDTH},${HEIGHT - 1 - (value / most) * (HEIGHT - 2)}`,
  );
  return (
    <svg className={classes.line} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      <polyline points={points.join(" ")} />
    </svg>
  );
}
