const WIDTH = 100;
const HEIGHT = 30;

/** SVG path through `values`, scaled to the box; null makes a gap. */
export function sparkPath(values: readonly (number | null)[]): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length === 0) return '';
  const min = Math.min(...known);
  const span = Math.max(...known) - min || 1;
  let pen = 'M';
  return values
    .map((value, index) => {
      if (value === null || !Number.isFinite(value)) {
        pen = 'M';
        return '';
      }
      const x = (index / Math.max(1, values.length - 1)) * WIDTH;
      const point = `${pen}${x.toFixed(1)},${(HEIGHT - 1 - ((value - min) / span) * (HEIGHT - 2)).toFixed(1)}`;
      pen = 'L';
      return point;
    })
    .join('');
}

export interface SparklineProps {
  values: readonly (number | null)[];
  label: string;
  color?: string;
  height?: number;
}

/** A trend without axes. The label must say what it shows: the line is drawn for the eye only. */
export function Sparkline({
  values,
  label,
  color = 'var(--mantine-primary-color-filled)',
  height = 32,
}: SparklineProps) {
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      width="100%"
      height={height}
      role="img"
      aria-label={label}
    >
      <path d={sparkPath(values)} fill="none" stroke={color} strokeWidth="1.6" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
