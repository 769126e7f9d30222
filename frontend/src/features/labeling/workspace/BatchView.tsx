import { ActionIcon, Alert, Badge, Button, Group, Kbd, Text, Tooltip } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconArrowBackUp, IconArrowForwardUp, IconArrowLeft, IconArrowRight } from '@tabler/icons-react';
import { type MouseEvent, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Label, LabelTask, LeasedSlot } from '@/api/contract/labeling';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useStored } from '@/shared/ui/stored';
import { confirmUndo, notifyError } from '@/shared/ui/undo';
import { labelById } from '../labels';
import { ViewSwitch } from '../objects/ViewSwitch';
import { TaskNotice } from '../TaskNotice';
import classes from '../tiles.module.css';
import { ActiveTime } from './activeTime';
import { isSearched } from './ClassList';
import { exceptions, type Grid, gridReducer, type Labels, openGrid, unlabelled } from './grid';
import type { GridBench, ShownBatch } from './gridBench';
import type { Command } from './keys';
import { Refusals, Refused } from './Refused';
import { SaveState } from './SaveState';
import { SidePanel } from './SidePanel';
import { SkipButton } from './SkipButton';
import { TileGrid } from './TileGrid';
import { useKeyboard } from './useKeyboard';

const TILE_SIZES = [72, 96, 120, 156, 200, 260];

export interface BatchViewProps {
  task: LabelTask;
  bench: GridBench;
  batch: ShownBatch;
  /** Whether an image can have several classes; an answer without a class is possible then. */
  multiple: boolean;
}

/** Tells the workbench which classes changed since the last render, so that they are saved. */
function useAutosave(bench: GridBench, labels: Labels) {
  const before = useRef(labels);
  useEffect(() => {
    const ids = new Set([...Object.keys(before.current), ...Object.keys(labels)]);
    for (const id of ids) if (before.current[id] !== labels[id]) bench.choose(id, labels[id] ?? null);
    before.current = labels;
  }, [bench, labels]);
}

export function BatchView({ task, bench, batch, multiple }: BatchViewProps) {
  const { t } = useTranslation();
  const [presetName, setPresetName] = useStored(`atom-preset/${task.id}`, '');
  const storedPreset = task.labels.some((label) => String(label.id) === presetName) ? Number(presetName) : null;
  // Work that was sent back was wrong once: it gets no preset.
  const preset = batch.preset ?? (batch.returned ? null : storedPreset);
  const [grid, dispatch] = useReducer(gridReducer, null, () =>
    openGrid(
      batch.slots.map(({ id }) => ({ id })),
      batch.labels,
      preset,
      multiple,
    ),
  );
  const [time] = useState(() => new ActiveTime());
  const [size, setSize] = useStored('atom-tile-size', '120');
  const [blocked, setBlocked] = useState(false);
  const { ref: sizeRef, width } = useElementSize();
  const list = useRef<HTMLDivElement>(null);
  const columns = Math.max(1, Math.floor(((width || 900) + 8) / (Number(size) + 8)));
  const labels = useMemo(() => labelById(task.labels), [task.labels]);
  const slots = useMemo(() => new Map(batch.slots.map((slot) => [slot.id, slot])), [batch.slots]);
  useAutosave(bench, grid.labels);
  useEffect(
    () => dispatch({ type: 'sync', ids: batch.slots.map(({ id }) => id), labels: batch.labels }),
    [batch.slots, batch.labels],
  );
  useEffect(() => {
    list.current?.focus({ preventScroll: true });
    time.touch(Date.now());
  }, [time]);

  const open = unlabelled(grid);
  const submit = () => {
    if (open.length > 0) {
      setBlocked(true);
      dispatch({ type: 'goTo', index: open[0] as number });
      return;
    }
    submitAll();
  };
  const submitAll = () => void bench.submit(grid.labels, grid.preset, time.take(Date.now()));
  const back = () => void bench.back(grid.labels, grid.preset);
  const skip = (reason = '') => {
    const id = grid.items[grid.cursor]?.id;
    if (id) void bench.skip(id, reason).then(told, notifyError);
  };
  const told = (slot: LeasedSlot | null) => {
    if (slot) tellSkipped(t('labeling.skip.done', { name: fileName(slot.path) }), () => bench.unskip(slot));
  };
  const resize = (step: number) => {
    const at = TILE_SIZES.indexOf(Number(size));
    setSize(String(TILE_SIZES[Math.max(0, Math.min(TILE_SIZES.length - 1, at + step))]));
  };
  const onCommand = (command: Command) => {
    time.touch(Date.now());
    setBlocked(false);
    if (command.do === 'grid') dispatch(command.action);
    else if (command.do === 'submit') submit();
    else if (command.do === 'back') back();
    else if (command.do === 'skip') skip();
    else if (command.do === 'search') document.querySelector<HTMLElement>('[data-find-class]')?.focus();
    else if (command.do === 'toggle') dispatch({ type: 'select', index: grid.cursor, how: 'toggle' });
    else if (command.do === 'escape') dispatch({ type: 'goTo', index: grid.cursor });
    else resize(command.do === 'larger' ? 1 : -1);
  };
  const onLabel = (label: Label) => {
    time.touch(Date.now());
    setBlocked(false);
    dispatch({ type: 'assign', label: label.id, advance: true });
  };
  const keyboard = useKeyboard({ labels: task.labels, columns, onCommand, onLabel, enabled: true });
  const onTile = (index: number, event: MouseEvent) => {
    time.touch(Date.now());
    list.current?.focus({ preventScroll: true });
    const held = keyboard.takeHeld();
    if (held) dispatch({ type: 'assignAt', index, label: held.id });
    else
      dispatch({
        type: 'select',
        index,
        how: event.shiftKey ? 'range' : event.ctrlKey || event.metaKey ? 'toggle' : 'one',
      });
  };
  useKeyList(task.labels);
  const cursorSlot = slots.get(grid.items[grid.cursor]?.id ?? '');

  return (
    <Page fill>
      <PageHeader
        title={task.name}
        above={
          <AnchorLink to="/labeling/$taskId" params={{ taskId: task.id }} size="xs">
            {t('labeling.work.toTask')}
          </AnchorLink>
        }
        badges={
          <>
            <Badge color={batch.returned ? 'orange' : 'atom'}>
              {batch.returned
                ? t('labeling.work.returnedBatch', { count: batch.slots.length })
                : t('labeling.work.images', { count: grid.items.length })}
            </Badge>
            <SaveState bench={bench} />
          </>
        }
        subtitle={
          <span aria-live="polite">
            <GridWords grid={grid} />
            {' · '}
            {t('labeling.work.session', { count: bench.submitted })}
          </span>
        }
      >
        <ViewSwitch task={task} />
        <Tooltip label={t('common.undo')}>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t('common.undo')}
            disabled={grid.past.length === 0}
            onClick={() => dispatch({ type: 'undo' })}
          >
            <IconArrowBackUp size={16} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t('labeling.work.redo')}>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t('labeling.work.redo')}
            disabled={grid.future.length === 0}
            onClick={() => dispatch({ type: 'redo' })}
          >
            <IconArrowForwardUp size={16} />
          </ActionIcon>
        </Tooltip>
        <SkipButton disabled={grid.items.length === 0 || task.state !== 'active'} onSkip={skip} />
        <Button variant="default" leftSection={<IconArrowLeft size={14} />} disabled={!bench.held} onClick={back}>
          {t('labeling.work.back')}
        </Button>
        <Button rightSection={<IconArrowRight size={14} />} onClick={submit}>
          {t('labeling.work.submit')}
        </Button>
      </PageHeader>
      <TaskNotice task={task} />
      <Refused bench={bench} />
      <Refusals texts={batch.refusals ?? []} />
      {blocked && (
        <Alert color="orange" variant="light" mb="sm" py={6} role="alert">
          {t('labeling.work.missing', { count: open.length })}{' '}
          {multiple && (
            <Button size="compact-xs" variant="light" color="orange" onClick={submitAll}>
              {t('labeling.work.submitWithout')}
            </Button>
          )}
        </Alert>
      )}
      <div className={classes.layout}>
        <div className={classes.main} ref={sizeRef}>
          <TileGrid grid={grid} slots={slots} labels={labels} columns={columns} listRef={list} onTile={onTile} />
          <Group gap={6} mt="sm">
            <Text size="xs" c="dimmed">
              {multiple ? t('labeling.work.hintSeveral') : t('labeling.work.hint')}
            </Text>
            <Kbd size="xs">?</Kbd>
          </Group>
        </div>
        <SidePanel
          labels={task.labels}
          grid={grid}
          held={keyboard.held}
          current={cursorSlot}
          guideline={task.guideline}
          onLabel={onLabel}
          onLeave={() => list.current?.focus({ preventScroll: true })}
          onPreset={(label) => {
            setPresetName(label === null ? '' : String(label));
            dispatch({ type: 'preset', label });
            // Out of the field: the class keys would be typed into it.
            requestAnimationFrame(() => list.current?.focus({ preventScroll: true }));
          }}
        />
      </div>
    </Page>
  );
}

const fileName = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** It is done already; undoing it may come too late. */
function tellSkipped(message: string, undo: () => Promise<void>): void {
  confirmUndo({ message, commit: () => {}, rollback: () => void undo().catch(notifyError), delayMs: 8000 });
}

/** The work that is left in this batch, or how it was done. */
function GridWords({ grid }: { grid: Grid }) {
  const { t } = useTranslation();
  const open = unlabelled(grid).length;
  if (open > 0) return t('labeling.work.toLabel', { count: open });
  if (grid.preset === null) return t('labeling.work.allChosen');
  const count = exceptions(grid).length;
  return count > 0 ? t('labeling.work.exceptions', { count }) : t('labeling.work.allPreset');
}

const nothing = () => {};

/** The `?` sheet lists the keys; `useKeyboard` acts on them first. */
function useKeyList(labels: readonly Label[]) {
  const { t } = useTranslation();
  const rows: [string, string][] = [
    ...labels.filter((label) => label.hotkey).map((label): [string, string] => [label.hotkey, label.name]),
    ['Enter', t('labeling.work.submit')],
    ['Shift+Enter', t('labeling.work.back')],
    ['ArrowRight', t('labeling.keys.move')],
    ['Shift+ArrowRight', t('labeling.keys.extend')],
    ['Space', t('labeling.keys.toggle')],
    ['mod+A', t('labeling.keys.all')],
    ['Backspace', t('labeling.keys.clear')],
    ...(isSearched(labels) ? [['/', t('labeling.work.findClass')] as [string, string]] : []),
    ['S', t('labeling.skip.skip')],
    ['mod+Z', t('common.undo')],
    ['mod+Y', t('labeling.work.redo')],
    ['+', t('labeling.keys.size')],
  ];
  useShortcuts(rows.map(([keys, label]) => ({ keys, label, run: nothing })));
}
