import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedRun } from '@/api/contract/jobs';
import { useFormat } from '@/shared/ui/format';
import { type Axis, position, stretch, type Within } from './axes';
import classes from './compare.module.css';
import { type Look, labelOf } from './looks';

interface ParallelCoordinatesProps {
  axes: Axis[];
  runs: ComparedRun[];
  looks: Map<number, Look>;
  /** Which runs pass the filters, by their place. */
  inside: boolean[];
  within: Within;
  onBrush: (name: string, filter: Within[string] | undefined) => void;
}

const HEIGHT = 300;
const TOP = 34;
const BOTTOM = HEIGHT - 18;
const SIDE = 64;
const STRIP = 28;
const CLICK_PX = 4;
/** Labels of categories do not run into each other. */
const MAX_TICKS = 12;

const toY = (at: number) => BOTTOM - at * (BOTTOM - TOP);
const toShare = (y: number) => (BOTTOM - y) / (BOTTOM - TOP);

/** One line per run from axis to axis; dragging on an axis keeps the runs that cross it there. The filters below the
 *  picture say and do the same without a mouse. */
export function ParallelCoordinates({ axes, runs, looks, inside, within, onBrush }: ParallelCoordinatesProps) {
  const { t } = useTranslation();
  const { ref, width } = useElementSize();
  const step = axes.length > 1 ? Math.max(90, (width - 2 * SIDE) / (axes.length - 1)) : 0;
  const wide = Math.max(width, 2 * SIDE + step * (axes.length - 1));
  const toX = (index: number) => SIDE + index * step;
  return (
    <div ref={ref} style={{ overflowX: 'auto' }}>
      <svg
        width={wide}
        height={HEIGHT}
        className={classes.axes}
        role="img"
        aria-label={t('compare.parallelSummary', { runs: runs.length, axes: axes.length })}
      >
        {runs.map((run, i) => {
          const look = looks.get(run.number);
          const points = axes.map((axis, index) => {
            const at = position(axis, axis.values[i] ?? null);
            return at === null ? null : ([toX(index), toY(at)] as const);
          });
          return (
            <path
              key={run.id}
              d={pathOf(points)}
              className={classes.path}
              stroke={look?.color}
              strokeDasharray={look?.dash?.join(' ')}
              data-out={!inside[i]}
            >
              <title>{labelOf(run)}</title>
            </path>
          );
        })}
        {axes.map((axis, index) => (
          <AxisLine
            key={axis.name}
            axis={axis}
            x={toX(index)}
            filter={within[axis.name]}
            onBrush={(filter) => onBrush(axis.name, filter)}
          />
        ))}
      </svg>
    </div>
  );
}

/** A line through the points; where a run has no value it is interrupted. */
function pathOf(points: (readonly [number, number] | null)[]): string {
  let pen = 'M';
  return points
    .map((point) => {
      if (!point) {
        pen = 'M';
        return '';
      }
      const drawn = `${pen}${point[0]} ${point[1]}`;
      pen = 'L';
      return drawn;
    })
    .join('');
}

interface AxisLineProps {
  axis: Axis;
  x: number;
  filter: Within[string] | undefined;
  onBrush: (filter: Within[string] | undefined) => void;
}

function ticksOf({ range, isLog, categories }: Axis): (number | string)[] {
  if (categories) {
    const every = Math.ceil(categories.length / MAX_TICKS);
    return categories.filter((_, i) => i % every === 0);
  }
  const [min, max] = range as [number, number];
  if (min === max) return [min];
  return [min, isLog ? Math.sqrt(min * max) : (min + max) / 2, max];
}

const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function AxisLine({ axis, x, filter, onBrush }: AxisLineProps) {
  const format = useFormat();
  const [drag, setDrag] = useState<[from: number, to: number] | null>(null);
  const yOf = (event: PointerEvent<SVGElement>) => {
    const { top } = (event.currentTarget.ownerSVGElement as SVGSVGElement).getBoundingClientRect();
    return Math.min(BOTTOM, Math.max(TOP, event.clientY - top));
  };
  const finish = () => {
    if (!drag) return;
    const [low, high] = [Math.max(...drag), Math.min(...drag)];
    onBrush(low - high < CLICK_PX ? undefined : stretch(axis, toShare(low), toShare(high)));
    setDrag(null);
  };
  const shares = (filter ?? []).map((value) => position(axis, value)).filter((at) => at !== null);
  const kept = filter && shares.length > 0 ? [toY(Math.min(...shares)), toY(Math.max(...shares))] : null;
  const span = drag ?? kept;
  return (
    <g transform={`translate(${x} 0)`}>
      <text y={14} textAnchor="middle" fontWeight={600}>
        <title>{axis.name}</title>
        {short(axis.name, 16)}
      </text>
      <line y1={TOP} y2={BOTTOM} className={classes.line} />
      {ticksOf(axis).map((value) => (
        <text key={value} x={-6} y={toY(position(axis, value) ?? 0) + 4} textAnchor="end" className={classes.tick}>
          {typeof value === 'number' ? format.metric(value) : short(value, 9)}
        </text>
      ))}
      {span && (
        <rect
          x={-7}
          width={14}
          y={Math.min(...span) - 3}
          height={Math.abs((span[0] as number) - (span[1] as number)) + 6}
          className={classes.brush}
        />
      )}
      <rect
        x={-STRIP / 2}
        width={STRIP}
        y={TOP - 6}
        height={BOTTOM - TOP + 12}
        className={classes.strip}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag([yOf(event), yOf(event)]);
        }}
        onPointerMove={(event) => drag && setDrag([drag[0], yOf(event)])}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(null)}
      />
    </g>
  );
}
