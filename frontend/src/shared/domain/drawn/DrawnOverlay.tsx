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
}

/** The objects of a picture, drawn over it: it lies on an image that is fitted into the same frame. */
export function DrawnOverlay({ document, hidden, withNames = false, label }: DrawnOverlayProps) {
  const { width, height, objects } = document;
  const shown = hidden ? objects.filter((object) => !hidden.has(object.label)) : objects;
  return (
    <svg
      className={classes.overlay}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      role={label ? 'img' : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {shown.map((object) => (
        <Shape key={object.id} object={object} unit={Math.max(width, height)} withName={withNames} />
      ))}
    </svg>
  );
}

function Shape({ object, unit, withName }: { object: NamedObject; unit: number; withName: boolean }) {
  const color = colorOfLabel(object.label);
  const outline = outlineOf(object);
  const dots = dotsOf(object);
  const strips = object.rle ? maskStrips(object.rle) : [];
  const isLine = object.kind === 'polyline';
  const [x, y] = /^M(\S+) ([-\d.e]+)/.exec(outline)?.slice(1).map(Number) ?? [dots[0]?.x, dots[0]?.y];
  return (
    <g style={{ color }} data-ignore={object.ignore || undefined}>
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
          r={unit / 150}
          className={classes.dot}
          fill={dot.isHidden ? 'none' : 'currentColor'}
        />
      ))}
      {withName && x !== undefined && y !== undefined && (
        <text x={x} y={y} dy="-0.3em" fontSize={unit / 45} className={classes.name}>
          {object.label}
        </text>
      )}
    </g>
  );
}
