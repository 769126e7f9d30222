import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconMaximize, IconZoomIn, IconZoomOut } from '@tabler/icons-react';
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './item.module.css';
import { FITTED, moved, type View, zoomed } from './view';

interface ZoomViewProps {
  src: string;
  alt: string;
  /** Width and height of the picture, as soon as the browser knows them. */
  onSize: (width: number, height: number) => void;
  onBroken: () => void;
}

const STEP = 1.5;
const MOVE_PX = 60;

/** A picture as large as there is room for, to be zoomed with the wheel or keys and moved by dragging. */
export function ZoomView({ src, alt, onSize, onBroken }: ZoomViewProps) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const dragged = useRef<{ x: number; y: number } | null>(null);
  const [view, setView] = useState<View>(FITTED);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another picture is seen whole at first
  useEffect(() => setView(FITTED), [src]);
  useEffect(() => {
    const box = frame.current;
    if (!box) return;
    // React's own wheel handlers cannot keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top, width, height } = box.getBoundingClientRect();
      const [x, y] = [event.clientX - left - width / 2, event.clientY - top - height / 2];
      setView((old) => zoomed(old, Math.exp(-event.deltaY / 300), x, y));
    };
    box.addEventListener('wheel', onWheel, { passive: false });
    return () => box.removeEventListener('wheel', onWheel);
  }, []);
  const move = (dx: number, dy: number) => {
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {};
    setView((old) => moved(old, dx, dy, clientWidth, clientHeight));
  };
  const zoom = (factor: number) => setView((old) => zoomed(old, factor));
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [MOVE_PX, 0],
      ArrowRight: [-MOVE_PX, 0],
      ArrowUp: [0, MOVE_PX],
      ArrowDown: [0, -MOVE_PX],
    };
    const by = moves[event.key];
    if (event.key === '+' || event.key === '=') zoom(STEP);
    else if (event.key === '-') zoom(1 / STEP);
    else if (event.key === '0') setView(FITTED);
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
  const actions = [
    { label: t('item.zoomIn'), icon: IconZoomIn, run: () => zoom(STEP) },
    { label: t('item.zoomOut'), icon: IconZoomOut, run: () => zoom(1 / STEP) },
    { label: t('item.fit'), icon: IconMaximize, run: () => setView(FITTED) },
  ];
  return (
    <div className={classes.viewer}>
      {/* biome-ignore lint/a11y/useSemanticElements: a frame that takes keys is no fieldset */}
      <div
        ref={frame}
        className={classes.frame}
        role="group"
        aria-label={t('item.picture')}
        aria-describedby="item-zoom-keys"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is zoomed and moved by keys
        tabIndex={0}
        data-zoomed={view.scale > 1 || undefined}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={stop}
        onPointerCancel={stop}
        onDoubleClick={() => setView((old) => (old.scale > 1 ? FITTED : zoomed(old, 4)))}
      >
        <img
          src={src}
          alt={alt}
          draggable={false}
          className={classes.whole}
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
          onLoad={({ currentTarget }) => onSize(currentTarget.naturalWidth, currentTarget.naturalHeight)}
          onError={onBroken}
        />
      </div>
      <span id="item-zoom-keys" hidden>
        {t('item.zoomKeys')}
      </span>
      <Group gap={4} className={classes.zoom}>
        {actions.map(({ label, icon: Glyph, run }) => (
          <Tooltip key={label} label={label}>
            <ActionIcon variant="default" aria-label={label} onClick={run}>
              <Glyph size={16} />
            </ActionIcon>
          </Tooltip>
        ))}
      </Group>
    </div>
  );
}
