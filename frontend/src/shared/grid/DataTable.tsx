import { Checkbox, Skeleton, Table } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { Link, type LinkProps, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '../ui/ErrorState';
import { LoadMore } from '../ui/LoadMore';
import classes from './DataTable.module.css';
import { useDensity } from './density';

export interface Column<T> {
  key: string;
  header: string;
  cell: (row: T) => ReactNode;
  /** The value to sort by; without it the column cannot be sorted. Sorting is local unless `onSort` is given. */
  sortValue?: (row: T) => string | number | null;
  align?: 'left' | 'right' | 'center';
  width?: number | string;
  /** Names and short values stay on one line; numbers do anyway. */
  nowrap?: boolean;
  /** Takes the room that the other columns leave, and no more: give it a `LongName`. */
  elastic?: boolean;
  /** Hidden below this breakpoint. */
  from?: 'xs' | 'sm' | 'md' | 'lg';
}

/** `key` ascending, `-key` descending. */
export type Sort = string;

export interface DataTableProps<T> {
  /** Names the table for screen readers. */
  label: string;
  columns: Column<T>[];
  /** Undefined while the first page loads. */
  rows: T[] | undefined;
  rowKey: (row: T) => string;
  /** Where a row leads; the first column becomes the link. Null: that row leads nowhere. */
  rowLink?: (row: T) => LinkProps | null;
  rowName?: (row: T) => string;
  /** The heading that a row stands under, such as its day; rows of one section follow each other. */
  section?: (row: T) => string;
  empty: ReactNode;
  error?: unknown;
  refetch?: () => void;
  hasMore?: boolean;
  isLoadingMore?: boolean;
  loadMore?: () => void;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** With `onSort`: the order is kept outside (in the URL), but the rows are sorted here. */
  sortLocally?: boolean;
  selected?: ReadonlySet<string>;
  onSelect?: (selected: Set<string>) => void;
}

export function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sortRows<T>(rows: T[], columns: Column<T>[], sort: Sort): T[] {
  const descending = sort.startsWith('-');
  const value = columns.find((column) => column.key === sort.replace(/^-/, ''))?.sortValue;
  if (!value) return rows;
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compareValues(value(a), value(b)));
}

/** Rows with the heading that they stand under; one section without a heading if there is none. */
function sectionsOf<T>(rows: T[], section?: (row: T) => string): { heading: string; rows: T[] }[] {
  const sections: { heading: string; rows: T[] }[] = [];
  for (const row of rows) {
    const heading = section?.(row) ?? '';
    const last = sections.at(-1);
    if (last?.heading === heading) last.rows.push(row);
    else sections.push({ heading, rows: [row] });
  }
  return sections;
}

const SKELETON_ROWS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Arrow keys walk the row links; Enter follows the focused one, as links do. */
function walkRows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row-link]')];
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = links[at + step];
  if (at < 0 || !next) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}

const isInteractive = (target: EventTarget) =>
  target instanceof Element && target.closest('a,button,input,label,select,[role=button],[role=menuitem]') !== null;

export function DataTable<T>(props: DataTableProps<T>) {
  const { label, columns, rows, error, refetch, empty } = props;
  const [localSort, setLocalSort] = useState<Sort>('');
  const { density } = useDensity();
  const sort = props.sort ?? localSort;
  const setSort = props.onSort ?? setLocalSort;
  const local = props.onSort === undefined || props.sortLocally === true;
  const shown = useMemo(() => (rows && local ? sortRows(rows, columns, sort) : rows), [rows, local, columns, sort]);

  if (error && !rows) return <ErrorState error={error} onRetry={refetch} />;
  // The ones that are looked for may be on the next page.
  if (rows?.length === 0 && !props.hasMore) return empty;
  return (
    <>
      {error != null && <ErrorState error={error} onRetry={refetch} />}
      <div className={classes.wrap}>
        <Table
          aria-label={label}
          aria-busy={rows === undefined}
          verticalSpacing={density === 'compact' ? 3 : 7}
          highlightOnHover
          onKeyDown={walkRows}
        >
          <TableHead {...props} sort={sort} setSort={setSort} />
          {shown ? (
            sectionsOf(shown, props.section).map(({ heading, rows }) => (
              <Table.Tbody key={heading}>
                {heading && (
                  <Table.Tr>
                    <Table.Th scope="rowgroup" colSpan={columns.length + (props.onSelect ? 1 : 0)} fz="xs" c="dimmed">
                      {heading}
                    </Table.Th>
                  </Table.Tr>
                )}
                {rows.map((row) => (
                  <Row key={props.rowKey(row)} row={row} table={props} />
                ))}
              </Table.Tbody>
            ))
          ) : (
            <Table.Tbody>
              {SKELETON_ROWS.map((key) => (
                <SkeletonRow key={key} columns={columns} />
              ))}
            </Table.Tbody>
          )}
        </Table>
      </div>
      {props.loadMore && props.hasMore && (
        <LoadMore onLoad={props.loadMore} loading={props.isLoadingMore ?? false} error={error} />
      )}
    </>
  );
}

function TableHead<T>(props: DataTableProps<T> & { sort: Sort; setSort: (sort: Sort) => void }) {
  const { columns, sort, setSort, selected, onSelect, rows, rowKey } = props;
  const { t } = useTranslation();
  const keys = rows?.map(rowKey) ?? [];
  const all = keys.length > 0 && keys.every((key) => selected?.has(key));
  return (
    <Table.Thead className={classes.head}>
      <Table.Tr>
        {onSelect && (
          <Table.Th w={36}>
            <Checkbox
              size="xs"
              aria-label={t('common.all')}
              checked={all}
              indeterminate={!all && (selected?.size ?? 0) > 0}
              onChange={() => onSelect(new Set(all ? [] : keys))}
            />
          </Table.Th>
        )}
        {columns.map((column) => {
          const state = sort === column.key ? 'ascending' : sort === `-${column.key}` ? 'descending' : undefined;
          return (
            <Table.Th key={column.key} ta={column.align} w={column.width} visibleFrom={column.from} aria-sort={state}>
              {column.sortValue ? (
                <button
                  type="button"
                  className={classes.sort}
                  data-active={state}
                  title={t('common.sortBy', { column: column.header })}
                  onClick={() => setSort(state === 'ascending' ? `-${column.key}` : column.key)}
                >
                  {column.header}
                  {state === 'ascending' && <IconArrowUp size={12} aria-hidden />}
                  {state === 'descending' && <IconArrowDown size={12} aria-hidden />}
                </button>
              ) : (
                column.header
              )}
            </Table.Th>
          );
        })}
      </Table.Tr>
    </Table.Thead>
  );
}

function Row<T>({ row, table }: { row: T; table: DataTableProps<T> }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { columns, rowKey, rowLink, rowName, selected, onSelect } = table;
  const key = rowKey(row);
  const link = rowLink?.(row);
  const open = (event: MouseEvent) => {
    // Text being selected in the row is not a click on it.
    if (!link || isInteractive(event.target) || window.getSelection()?.toString()) return;
    void navigate(link as Parameters<typeof navigate>[0]);
  };
  const toggle = () => {
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    onSelect?.(next);
  };
  return (
    <Table.Tr className={classes.row} data-linked={link ? true : undefined} onClick={open}>
      {onSelect && (
        <Table.Td>
          <Checkbox
            size="xs"
            aria-label={t('common.selectRow', { name: rowName?.(row) ?? key })}
            checked={selected?.has(key) ?? false}
            onChange={toggle}
          />
        </Table.Td>
      )}
      {columns.map((column, index) => (
        <Table.Td
          key={column.key}
          ta={column.align}
          visibleFrom={column.from}
          className={column.elastic ? classes.elastic : undefined}
          style={column.nowrap ? { whiteSpace: 'nowrap' } : undefined}
        >
          {link && index === 0 ? (
            <Link {...link} className={classes.link} data-row-link>
              {column.cell(row)}
            </Link>
          ) : (
            column.cell(row)
          )}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}

function SkeletonRow<T>({ columns }: { columns: Column<T>[] }) {
  return (
    <Table.Tr>
      {columns.map((column) => (
        <Table.Td key={column.key} visibleFrom={column.from}>
          <Skeleton height={12} my={4} />
        </Table.Td>
      ))}
    </Table.Tr>
  );
}
