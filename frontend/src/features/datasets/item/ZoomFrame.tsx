import { type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef } from 'react';
import classes from './item.module.css';
import { FITTED, moved, type View, zoomed } from './view';

interface ZoomFrameProps {
  src: string;
  alt: string;
  label: string;
  /** The id of the text that says which keys it takes. */
  describedBy: string;
  view: View;
  onView: (change: (old: View) => View) => void;
  onSize?: (width: number, height: number) => void;
  onBroken?: () => void;
  /** Lies on the picture and is zoomed and moved with it. */
  over?: ReactNode;
}

export const ZOOM_STEP = 1.5;
const MOVE_PX = 60;

/** A picture in a frame, zoomed with the wheel or keys and moved by dragging; where it lies is its owner's. */
export function ZoomFrame({ src, alt, label, describedBy, view, onView, onSize, onBroken, over }: ZoomFrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  const dragged = useRef<{ x: number; y: number } | null>(null);
  const change = useRef(onView);
  change.current = onView;
  useEffect(() => {
    const box = frame.current;
    if (!box) return;
    // React's own wheel handlers cannot keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top, width, height } = box.getBoundingClientRect();
      const [x, y] = [event.clientX - left - width / 2, event.clientY - top - height / 2];
      change.current((old) => zoomed(old, Math.exp(-event.deltaY / 300), x, y));
    };
    box.addEventListener('wheel', onWheel, { passive: false });
    return () => box.removeEventListener('wheel', onWheel);
  }, []);
  const move = (dx: number, dy: number) => {
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {};
    onView((old) => moved(old, dx, dy, clientWidth, clientHeight));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [MOVE_PX, 0],
      ArrowRight: [-MOVE_PX, 0],
      ArrowUp: [0, MOVE_PX],
      ArrowDown: [0, -MOVE_PX],
    };
    const by = moves[event.key];
    if (event.key === '+' || event.key === '=') onView((old) => zoomed(old, ZOOM_STEP));
    else if (event.key === '-') onView((old) => zoomed(old, 1 / ZOOM_STEP));
    else if (event.key === '0') onView(() => FITTED);
    else if (by && view.scale > 1) move(...by);
    else return;
    event.preventDefault();
    // Arrows that move a picture do not go to the next one.
    event.stopPropagation();
  };
  const onPointerDown = (event: PointerEvent) => {
    dragged.current = { x: event.clientX, y: event.clientY };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!dragged.current) return;
    move(event.clientX - dragged.current.x, event.clientY - dragged.current.y);
    dragged.current = { x: event.clientX, y: event.clientY };
  };
  const stop = () => {
    dragged.current = null;
  };
  const transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a frame that takes keys is no fieldset
    <div
      ref={frame}
      className={classes.frame}
      role="group"
      aria-label={label}
      aria-describedby={describedBy}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is zoomed and moved by keys
      tabIndex={0}
      data-zoomed={view.scale > 1 || undefined}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={stop}
      onPointerCancel={stop}
      onDoubleClick={() => onView((old) => (old.scale > 1 ? FITTED : zoomed(old, 4)))}
    >
      <img
        src={src}
        alt={alt}
        draggable={false}
        className={classes.whole}
        style={{ transform }}
        onLoad={({ currentTarget }) => onSize?.(currentTarget.naturalWidth, currentTarget.naturalHeight)}
        onError={onBroken}
      />
      {over && (
        <div className={classes.over} style={{ transform, '--zoom': view.scale } as CSSProperties}>
          {over}
        </div>
      )}
    </div>
  );
}
