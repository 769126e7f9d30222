import { memo, type ReactNode } from 'react';
import type { PageStore } from './pageStore';
import classes from './VirtualGrid.module.css';

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
}

function Cells<T>({ first, last, active, store, width, height, renderCell, onOpen, onActive }: GridRowProps<T>) {
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
        tabIndex={index === active ? 0 : -1}
        className={classes.cell}
        style={{ width, height, cursor: onOpen ? 'pointer' : undefined }}
        onFocus={() => onActive(index)}
        onClick={() => item !== undefined && onOpen?.(item, index)}
      >
        {item === undefined ? <div className={classes.placeholder} /> : renderCell(item, index)}
      </div>
    );
  });
}

/** Scrolling moves rows without drawing their cells again. Give `renderCell` and `onOpen` a stable identity. */
export const GridRow = memo(Cells) as <T>(props: GridRowProps<T>) => ReactNode;
