import { ActionIcon, Kbd, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Label } from '@/api/contract/labeling';
import classes from '../tiles.module.css';
import { type ClassRow, classRows, countOf, matchingRows, openRows } from './classTree';

/** More classes than this are searched, and at first only those at the top are shown. */
const MANY = 20;
const INDENT_PX = 14;

export const isSearched = (labels: readonly Label[]): boolean =>
  labels.length > MANY || labels.some(({ parent }) => typeof parent === 'number');

interface ClassListProps {
  labels: readonly Label[];
  counts: ReadonlyMap<number, number>;
  held: Label | null;
  onLabel: (label: Label) => void;
  /** The search was left: the keys belong to the images again. */
  onLeave: () => void;
}

/** The classes of a grid: nested ones below their parents, found by a search where they are many. */
export function ClassList({ labels, counts, held, onLabel, onLeave }: ClassListProps) {
  const { t } = useTranslation();
  const rows = useMemo(() => classRows(labels), [labels]);
  const [closed, setClosed] = useState<ReadonlySet<number>>(
    () => new Set(labels.length > MANY ? rows.filter((row) => row.hasChildren).map(({ label }) => label.id) : []),
  );
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const isSearching = text.trim() !== '';
  const shown = isSearching ? matchingRows(rows, text) : openRows(rows, closed);
  const toggle = (id: number) => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const leave = () => {
    setText('');
    setAt(0);
    onLeave();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = shown[at]?.label;
    if (step) setAt(Math.max(0, Math.min(shown.length - 1, at + step)));
    else if (event.key === 'Enter' && isSearching && chosen) onLabel(chosen);
    else if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    if (!step) leave();
  };
  return (
    <>
      {isSearched(labels) && (
        <TextInput
          size="xs"
          mb={4}
          aria-label={t('labeling.work.findClass')}
          aria-keyshortcuts="/"
          placeholder={t('labeling.work.findClass')}
          data-find-class
          value={text}
          rightSection={<Kbd size="xs">/</Kbd>}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKey}
        />
      )}
      {shown.map((row, index) => (
        <Row
          key={row.label.id}
          row={row}
          withPath={isSearching}
          isChosen={isSearching && index === at}
          isHeld={held?.id === row.label.id}
          isClosed={closed.has(row.label.id)}
          count={countOf(row, rows, counts, isSearching ? new Set() : closed)}
          onToggle={() => toggle(row.label.id)}
          onLabel={() => onLabel(row.label)}
        />
      ))}
      {shown.length === 0 && (
        <Text size="xs" c="dimmed" role="status">
          {t('labeling.work.noClass')}
        </Text>
      )}
    </>
  );
}

interface RowProps {
  row: ClassRow;
  /** Names of the classes above, in place of an indent. */
  withPath: boolean;
  isChosen: boolean;
  isHeld: boolean;
  isClosed: boolean;
  count: number;
  onToggle: () => void;
  onLabel: () => void;
}

function Row({ row, withPath, isChosen, isHeld, isClosed, count, onToggle, onLabel }: RowProps) {
  const { t } = useTranslation();
  const { label, depth, path, hasChildren } = row;
  const Chevron = isClosed ? IconChevronRight : IconChevronDown;
  return (
    <div style={{ display: 'flex', alignItems: 'center', paddingLeft: withPath ? 0 : depth * INDENT_PX }}>
      {hasChildren && !withPath && (
        <ActionIcon
          size="sm"
          color="gray"
          aria-label={t('labeling.work.classesBelow', { name: label.name })}
          aria-expanded={!isClosed}
          onMouseDown={(event) => event.preventDefault()}
          onClick={onToggle}
        >
          <Chevron size={14} />
        </ActionIcon>
      )}
      <UnstyledButton
        className={classes.labelRow}
        data-held={isHeld || isChosen || undefined}
        // The focus stays with the images: the next Enter submits them, and is not one more press of this.
        onMouseDown={(event) => event.preventDefault()}
        onClick={onLabel}
      >
        <span className={classes.swatch} style={{ background: label.color }} aria-hidden />
        <span style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>
          {withPath ? path.join(' › ') : label.name}
        </span>
        <Text span size="xs" c="dimmed" className="tabular">
          {count || ''}
        </Text>
        {label.hotkey && <Kbd size="xs">{label.hotkey}</Kbd>}
      </UnstyledButton>
    </div>
  );
}
