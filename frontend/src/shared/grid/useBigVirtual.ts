import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Firefox stops at 17.9 million pixels, Chrome at 33.5; longer content is scaled onto this height. */
const MAX_HEIGHT_PX = 8_000_000;
const OVERSCAN_ROWS = 2;

export interface BigVirtual {
  /** Goes on the scrolling element. */
  ref: RefObject<HTMLDivElement | null>;
  /** The rows to draw, with their distance in pixels from the top of the viewport. */
  rows: { index: number; y: number }[];
  /** Height of the element inside the scroller. */
  contentHeight: number;
  viewportHeight: number;
  /** Virtual scroll offset in pixels. */
  top: number;
  atEnd: boolean;
  scrollToIndex: (index: number, align?: 'start' | 'center' | 'nearest') => void;
  scrollToEnd: () => void;
}

export interface BigVirtualOptions {
  maxHeight?: number;
  /** Arrow, page, Home and End keys scroll. Switch it off where cells move the focus themselves. */
  keyboard?: boolean;
}

/**
 * Rows of one height, any number of them. Draw them absolutely inside a sticky element of `viewportHeight`
 * that lies in an element of `contentHeight`; see VirtualGrid for the markup.
 */
export function useBigVirtual(count: number, rowHeight: number, options: BigVirtualOptions = {}): BigVirtual {
  const { maxHeight = MAX_HEIGHT_PX, keyboard = true } = options;
  const ref = useRef<HTMLDivElement>(null);
  const [viewportHeight, setViewportHeight] = useState(600);
  const [top, setTop] = useState(0);
  const topRef = useRef(0);
  // Setting scrollTop fires a scroll event of its own, rounded: it must not move the virtual offset.
  const ownScroll = useRef<number | null>(null);
  const total = count * rowHeight;
  const contentHeight = Math.min(total, maxHeight);
  const maxTop = Math.max(0, total - viewportHeight);
  const ratio = contentHeight > viewportHeight && total > contentHeight ? maxTop / (contentHeight - viewportHeight) : 1;

  const moveTo = useCallback(
    (wanted: number, fromScroll = false) => {
      const next = Math.max(0, Math.min(maxTop, wanted));
      topRef.current = next;
      setTop(next);
      if (fromScroll || !ref.current) return;
      ref.current.scrollTop = next / ratio;
      ownScroll.current = ref.current.scrollTop;
    },
    [maxTop, ratio],
  );

  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setViewportHeight(element.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  // Fewer rows than before: do not stay beyond the end.
  useEffect(() => {
    if (topRef.current > maxTop) moveTo(maxTop);
  }, [maxTop, moveTo]);

  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const onScroll = () => {
      if (ownScroll.current === element.scrollTop) {
        ownScroll.current = null;
        return;
      }
      ownScroll.current = null;
      moveTo(element.scrollTop * ratio, true);
    };
    const onWheel = (event: WheelEvent) => {
      if (ratio === 1 || event.ctrlKey) return;
      event.preventDefault();
      moveTo(topRef.current + (event.deltaMode === 1 ? event.deltaY * rowHeight : event.deltaY));
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const page = viewportHeight * 0.9;
      const steps: Record<string, number> = {
        PageDown: page,
        PageUp: -page,
        ArrowDown: rowHeight,
        ArrowUp: -rowHeight,
      };
      const step = steps[event.key];
      if (event.key === 'Home') moveTo(0);
      else if (event.key === 'End') moveTo(maxTop);
      else if (step !== undefined) moveTo(topRef.current + step);
      else return;
      event.preventDefault();
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    element.addEventListener('wheel', onWheel, { passive: false });
    if (keyboard) element.addEventListener('keydown', onKey);
    return () => {
      element.removeEventListener('scroll', onScroll);
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('keydown', onKey);
    };
  }, [moveTo, ratio, rowHeight, maxTop, viewportHeight, keyboard]);

  const scrollToIndex = useCallback(
    (index: number, align: 'start' | 'center' | 'nearest' = 'center') => {
      const start = index * rowHeight;
      if (align === 'start') moveTo(start);
      else if (align === 'center') moveTo(start - (viewportHeight - rowHeight) / 2);
      else if (start < topRef.current) moveTo(start);
      else if (start + rowHeight > topRef.current + viewportHeight) moveTo(start + rowHeight - viewportHeight);
    },
    [moveTo, rowHeight, viewportHeight],
  );
  const scrollToEnd = useCallback(() => moveTo(maxTop), [moveTo, maxTop]);

  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(count, Math.ceil((top + viewportHeight) / rowHeight) + OVERSCAN_ROWS);
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, offset) => ({
    index: first + offset,
    y: (first + offset) * rowHeight - top,
  }));
  const atEnd = top >= maxTop - 2;
  return { ref, rows, contentHeight, viewportHeight, top, atEnd, scrollToIndex, scrollToEnd };
}
