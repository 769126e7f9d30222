import { type MouseEvent, memo, type ReactNode } from 'react';
import type { PageStore } from './pageStore';
import { has, type Runs } from './picking';
import classes from './VirtualGrid.module.css';

/** The parts that a grid needs to let cells be chosen. */
export interface Picking<T> {
  runs: Runs;
  /** Chooses one cell or takes it back; `reaches` means everything from the last one to it. */
  pick: (index: number, reaches: boolean) => void;
  pickAll: () => void;
  clear: () => void;
  /** Names the box of a cell. */
  labelOf: (item: T) => string;
}

interface GridRowProps<T> {
  /** Cells `[first, last)`. */
  first: number;
  last: number;
  /** The cell of this row that Tab reaches, if it is here. */
  active: number | null;
  store: PageStore<T>;
  /** Changes when the store has new entries: it is what makes a memoised row look again. */
  revision: number;
  width: number;
  height: number;
  renderCell: (item: T, index: number) => ReactNode;
  onOpen?: (item: T, index: number) => void;
  onActive: (index: number) => void;
  /** Whoever has the focus when it scrolls away gives it to what is called so too (see `keepFocus`). */
  focusAs: string;
  picking?: Picking<T> | undefined;
}

function Cells<T>(props: GridRowProps<T>) {
  const { first, last, active, store, width, height, renderCell, onOpen, onActive, focusAs, picking } = props;
  const onClick = (event: MouseEvent, index: number, item: T | undefined) => {
    if (picking && (event.shiftKey || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      picking.pick(index, event.shiftKey);
    } else if (item !== undefined) onOpen?.(item, index);
  };
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  return indices.map((index) => {
    const item = store.at(index);
    return (
      // biome-ignore lint/a11y/useSemanticElements: a virtual grid cannot be a table
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all cells
      <div
        key={index}
        role="gridcell"
        data-index={index}
        data-focus-as={focusAs}
        tabIndex={index === active ? 0 : -1}
        className={classes.cell}
        style={{ width, height, cursor: onOpen ? 'pointer' : undefined }}
        onFocus={() => onActive(index)}
        onClick={(event) => onClick(event, index, item)}
        // Shift marks cells here, not text.
        onMouseDown={(event) => picking && event.shiftKey && event.preventDefault()}
        aria-selected={picking && has(picking.runs, index)}
      >
        {picking && item !== undefined && (
          <input
            type="checkbox"
            tabIndex={-1}
            data-focus-as={focusAs}
            className={classes.box}
            aria-label={picking.labelOf(item)}
            checked={has(picking.runs, index)}
            onClick={(event) => {
              event.stopPropagation();
              picking.pick(index, event.shiftKey);
            }}
            readOnly
          />
        )}
        {item === undefined ? <div className={classes.placeholder} /> : renderCell(item, index)}
      </div>
    );
  });
}

/** Scrolling moves rows without drawing their cells again. Give `renderCell` and `onOpen` a stable identity. */
export const GridRow = memo(Cells) as <T>(props: GridRowProps<T>) => ReactNode;
