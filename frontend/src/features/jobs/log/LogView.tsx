import { type KeyboardEvent, type TouchEvent, useEffect, useRef, type WheelEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useBigVirtual } from '@/shared/grid/useBigVirtual';
import type { Highlight } from './highlight';
import { LogLineText } from './LogLine';
import classes from './log.module.css';
import type { LogFilter, LogStore } from './logStore';

const LINE_HEIGHT_PX = 19;
/** A finger that moves less rests. */
const SWIPE_PX = 4;

export interface LogViewProps {
  store: LogStore;
  /** Grows with the store: the view is drawn again. */
  revision: number;
  filter: LogFilter;
  /** The marks in a line, by its number. */
  highlightOf: (line: number) => Highlight;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  showTimes: boolean;
  /** Line number (from 0) to show; a new `nonce` jumps to the same line again. */
  target: { line: number; nonce: number } | null;
  marked: number | null;
  onMark: (line: number) => void;
  emptyText: string;
}

const clock = (timeMs: number) => new Date(timeMs).toLocaleTimeString('en-GB');

export function LogView(props: LogViewProps) {
  const { store, revision, filter, highlightOf, follow, onFollow, showTimes, target, marked, onMark, emptyText } =
    props;
  const { t } = useTranslation();
  const count = store.count(filter);
  const virtual = useBigVirtual(count, LINE_HEIGHT_PX);
  const { scrollToEnd, scrollToIndex } = virtual;

  // biome-ignore lint/correctness/useExhaustiveDependencies: stick to the end whenever the log grows
  useEffect(() => {
    if (follow) scrollToEnd();
  }, [follow, revision, scrollToEnd, virtual.viewportHeight]);

  const shown = useRef(-1);
  // The line may not be here yet: wait until the log has grown to it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: tried again whenever the log grows
  useEffect(() => {
    if (!target || shown.current === target.nonce || target.line >= store.total) return;
    shown.current = target.nonce;
    scrollToIndex(store.rowOf(target.line, filter));
  }, [target, revision, filter, store, scrollToIndex]);

  const onWheel = (event: WheelEvent) => {
    if (event.deltaY < 0) onFollow(false);
    else if (virtual.atEnd && event.deltaY > 0) onFollow(true);
  };
  const touchedAt = useRef(0);
  const heightOf = (event: TouchEvent) => event.touches[0]?.clientY ?? 0;
  // A finger takes the text along: downwards means to what was before.
  const onTouchMove = (event: TouchEvent) => {
    const moved = heightOf(event) - touchedAt.current;
    if (moved > SWIPE_PX) onFollow(false);
    else if (virtual.atEnd && moved < -SWIPE_PX) onFollow(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'End') onFollow(true);
    else if (['ArrowUp', 'PageUp', 'Home'].includes(event.key)) onFollow(false);
  };

  return (
    <div
      ref={virtual.ref}
      className={classes.scroller}
      role="log"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
      tabIndex={0}
      aria-label={t('runlog.label')}
      onWheel={onWheel}
      onTouchStart={(event) => {
        touchedAt.current = heightOf(event);
      }}
      onTouchMove={onTouchMove}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        // The scrollbar: the person is looking for something.
        if (event.target === event.currentTarget) onFollow(false);
      }}
    >
      {count === 0 && <div className={classes.empty}>{emptyText}</div>}
      <div style={{ height: virtual.contentHeight }}>
        <div className={classes.viewport} style={{ height: virtual.viewportHeight }}>
          {virtual.rows.map(({ index, y }) => {
            const number = store.lineAt(index, filter);
            const line = store.line(number);
            return (
              <div
                key={index}
                className={classes.line}
                data-fd={line.fd}
                data-marked={marked === number || undefined}
                style={{ transform: `translateY(${y}px)` }}
              >
                <button
                  type="button"
                  tabIndex={-1}
                  className={classes.number}
                  aria-label={t('runlog.linkToLine', { line: number + 1 })}
                  onClick={() => onMark(number)}
                >
                  {number + 1}
                </button>
                {showTimes && <span className={classes.time}>{clock(line.timeMs)}</span>}
                <LogLineText line={line} highlight={highlightOf(number)} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
