import { type CSSProperties, memo } from 'react';
import classes from './drawn.module.css';
import { colorOfLabel, dotsOf, maskStrips, type NamedDocument, type NamedObject, outlineOf } from './shapes';

interface DrawnOverlayProps {
  document: NamedDocument;
  /** Labels that are not drawn. */
  hidden?: ReadonlySet<string>;
  /** Tiles are too small for names. */
  withNames?: boolean;
  /** Words for those who do not see it; without them it is left to the text beside it. */
  label?: string;
  /** The object that stands out, by its id. */
  active?: string | null;
  /** Objects that stand out too, such as those that changed. */
  marked?: ReadonlySet<string>;
  /** Is told which object the pointer is on; without it the overlay lets every event through. */
  onActive?: (id: string | null) => void;
}

/** Sizes of names and dots, in pixels of a picture whose longer side is `unit`. */
const sizesOf = (unit: number) => ({ '--name': `${unit / 45}px`, '--dot': `${unit / 150}px` }) as CSSProperties;

/** The objects of a picture, drawn over it: it lies on an image that is fitted into the same frame. */
export function DrawnOverlay(props: DrawnOverlayProps) {
  const { document, hidden, withNames = false, label, active, marked, onActive } = props;
  const { width, height, objects } = document;
  const shown = hidden ? objects.filter((object) => !hidden.has(object.label)) : objects;
  return (
    <svg
      className={classes.overlay}
      style={sizesOf(Math.max(width, height))}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      role={label ? 'img' : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {shown.map((object) => (
        <Shape
          key={object.id}
          object={object}
          withName={withNames || object.id === active}
          isActive={object.id === active || Boolean(marked?.has(object.id))}
          onActive={onActive}
        />
      ))}
    </svg>
  );
}

interface ShapeProps {
  object: NamedObject;
  withName: boolean;
  isActive: boolean;
  onActive: ((id: string | null) => void) | undefined;
}

/** Thousands lie on one picture: only those that change are drawn again. */
const Shape = memo(function Shape({ object, withName, isActive, onActive }: ShapeProps) {
  const color = colorOfLabel(object.label);
  const outline = outlineOf(object);
  const dots = dotsOf(object);
  const strips = object.rle ? maskStrips(object.rle) : [];
  const isLine = object.kind === 'polyline';
  const [x, y] = /^M(\S+) ([-\d.e]+)/.exec(outline)?.slice(1).map(Number) ?? [dots[0]?.x, dots[0]?.y];
  return (
    <g
      style={{ color }}
      data-object={object.id}
      data-ignore={object.ignore || undefined}
      data-active={isActive || undefined}
      data-live={onActive ? true : undefined}
      onPointerEnter={onActive && (() => onActive(object.id))}
      onPointerLeave={onActive && (() => onActive(null))}
    >
      {outline && (
        <path d={outline} className={classes.outline} fillRule="evenodd" fill={isLine ? 'none' : 'currentColor'} />
      )}
      {strips.length > 0 && (
        <path
          d={strips.map(([left, top, tall]) => `M${left} ${top}h1v${tall}h-1Z`).join('')}
          className={classes.mask}
        />
      )}
      {dots.map((dot) => (
        <circle
          key={`${dot.x}/${dot.y}`}
          cx={dot.x}
          cy={dot.y}
          className={classes.dot}
          fill={dot.isHidden ? 'none' : 'currentColor'}
        />
      ))}
      {withName && x !== undefined && y !== undefined && (
        <text x={x} y={y} dy="-0.3em" className={classes.name}>
          {object.label}
        </text>
      )}
    </g>
  );
});
