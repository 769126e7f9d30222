import { useElementSize } from '@mantine/hooks';
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'react';
import { useIsOnline } from '../live/connection';
import { ErrorState } from '../ui/ErrorState';
import { useDensity } from './density';
import { GridRow, type Picking } from './GridRow';
import { type LoadRange, PageStore } from './pageStore';
import { useBigVirtual } from './useBigVirtual';
import classes from './VirtualGrid.module.css';

export interface VirtualGridProps<T> {
  /** Names the grid for screen readers. */
  label: string;
  count: number;
  /** Entries `[start, end)`, fewer at the end of the list. Change `sourceKey` when it reads something else. */
  loadRange: LoadRange<T>;
  sourceKey: string;
  renderCell: (item: T, index: number) => ReactNode;
  onOpen?: (item: T, index: number) => void;
  /** Smallest width of a cell; the columns share what is left. */
  minCellWidth?: number;
  /** Height of a cell for its width. */
  cellHeight: (width: number) => number;
  pageSize?: number;
  /** The first cell to show, for deep links. */
  initialIndex?: number;
  onFirstVisible?: (index: number) => void;
  /** Lets cells be chosen: boxes, Ctrl and Shift with a click, Space, Shift with the arrows, Ctrl A, Escape. */
  picking?: Picking<T> | undefined;
}

/** How much smaller a cell may be where things are set closely. */
const COMPACT = 0.75;
/** A jump far from what is loaded waits for a short rest: dragging the scroll bar must not load all it passes. */
const REST_MS = 60;

export function VirtualGrid<T>(props: VirtualGridProps<T>) {
  const { label, count, loadRange, sourceKey, renderCell, onOpen, minCellWidth = 150, pageSize, picking } = props;
  const { ref: sizeRef, width: observed } = useElementSize();
  const [measured, setMeasured] = useState(0);
  const width = observed || measured;
  const { density } = useDensity();
  const columns = Math.max(1, Math.floor((width || 1000) / (minCellWidth * (density === 'compact' ? COMPACT : 1))));
  const cellWidth = Math.floor((width || 1000) / columns);
  const rowHeight = props.cellHeight(cellWidth);
  const virtual = useBigVirtual(Math.ceil(count / columns), rowHeight, { keyboard: false });
  const scroller = virtual.ref;
  // The observer tells after the first paint: cells drawn for another width would move under the eyes.
  useLayoutEffect(() => setMeasured(scroller.current?.clientWidth ?? 0), [scroller]);
  const [revision, redraw] = useReducer((tick: number) => tick + 1, 0);
  const [active, setActive] = useState(props.initialIndex ?? 0);
  const load = useRef(loadRange);
  load.current = loadRange;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new source needs a new store
  const store = useMemo(
    () => new PageStore<T>((start, end, signal) => load.current(start, end, signal), redraw, pageSize),
    [sourceKey, pageSize],
  );
  useEffect(() => () => store.dispose(), [store]);
  const isOnline = useIsOnline();
  useEffect(() => {
    if (isOnline) store.retry();
  }, [isOnline, store]);

  const first = (virtual.rows[0]?.index ?? 0) * columns;
  const last = Math.min(count, ((virtual.rows.at(-1)?.index ?? 0) + 1) * columns);
  useEffect(() => {
    if (count === 0) return;
    const near = store.at(first) !== undefined || store.at(last - 1) !== undefined;
    const timer = setTimeout(() => store.show(first, last), near ? 0 : REST_MS);
    return () => clearTimeout(timer);
  });

  const { onFirstVisible, initialIndex } = props;
  const firstVisible = Math.floor(virtual.top / rowHeight) * columns;
  useEffect(() => onFirstVisible?.(firstVisible), [firstVisible, onFirstVisible]);
  const jumped = useRef(false);
  useEffect(() => {
    if (jumped.current || !initialIndex || !width) return;
    jumped.current = true;
    virtual.scrollToIndex(Math.floor(initialIndex / columns), 'start');
  }, [initialIndex, width, columns, virtual]);

  const activeShown = active >= first && active < last;
  // Keys act on what can be seen.
  const from = activeShown ? active : firstVisible;
  const focusAs = useId();
  const focusCell = (index: number) => {
    const next = Math.max(0, Math.min(count - 1, index));
    setActive(next);
    virtual.scrollToIndex(Math.floor(next / columns), 'nearest');
    requestAnimationFrame(() =>
      virtual.ref.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus({ preventScroll: true }),
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (picking && pickByKey(event, picking, from)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(virtual.viewportHeight / rowHeight)) * columns;
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: columns,
      ArrowUp: -columns,
      PageDown: page,
      PageUp: -page,
      Home: -count,
      End: count,
    };
    const step = steps[event.key];
    const item = store.at(from);
    if (step !== undefined) {
      if (picking && event.shiftKey) picking.pick(Math.max(0, Math.min(count - 1, from + step)), true);
      focusCell(from + step);
    } else if (event.key === 'Enter' && onOpen && item) onOpen(item, from);
    else return;
    event.preventDefault();
  };

  const failed = count > 0 ? store.errorWithin(first, last) : null;
  return (
    <div ref={sizeRef} className={classes.frame}>
      {failed != null && <ErrorState error={failed} onRetry={() => store.retry()} />}
      {/* biome-ignore lint/a11y/useSemanticElements: a virtual grid cannot be a table */}
      <div
        ref={virtual.ref}
        className={classes.scroller}
        role="grid"
        data-focus-as={focusAs}
        // When the active cell has scrolled away, the grid itself is what Tab reaches.
        tabIndex={activeShown ? -1 : 0}
        aria-label={label}
        aria-multiselectable={picking ? true : undefined}
        aria-rowcount={Math.ceil(count / columns)}
        aria-colcount={columns}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: virtual.contentHeight }} role="presentation">
          <div className={classes.viewport} style={{ height: virtual.viewportHeight }} role="presentation">
            {virtual.rows.map(({ index, y }) => (
              // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: the cells take the focus
              <div
                key={index}
                role="row"
                aria-rowindex={index + 1}
                className={classes.row}
                style={{ transform: `translateY(${y}px)` }}
              >
                <GridRow
                  first={index * columns}
                  last={Math.min(count, (index + 1) * columns)}
                  active={Math.floor(active / columns) === index ? active : null}
                  store={store}
                  revision={revision}
                  width={cellWidth}
                  height={rowHeight}
                  renderCell={renderCell}
                  onOpen={onOpen}
                  onActive={setActive}
                  focusAs={focusAs}
                  picking={picking}
                />
              </div>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** The keys that choose cells; returns whether it was one. */
function pickByKey<T>(event: KeyboardEvent, picking: Picking<T>, active: number): boolean {
  const isAll = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'a';
  if (isAll) picking.pickAll();
  else if (event.key === ' ') picking.pick(active, event.shiftKey);
  else if (event.key === 'Escape' && picking.runs.length > 0) picking.clear();
  else return false;
  return true;
}
