import { ActionIcon, Badge, Group, Modal, Skeleton, Text, Tooltip } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DiffRow, Entry } from '@/api/contract/datasets';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { Bytes } from '@/shared/ui/values';
import { visible } from '@/shared/ui/visible';
import { DrawnSwitch } from '../drawn/DrawnSwitch';
import { EntryOverlay } from '../drawn/EntryOverlay';
import { useDrawn } from '../drawn/useDrawn';
import { FITTED, type View } from '../item/view';
import { ZoomButtons } from '../item/ZoomButtons';
import { ZoomFrame } from '../item/ZoomFrame';
import { LabelChange } from './DiffCard';
import classes from './diff.module.css';
import { lookOf } from './kinds';
import { ObjectChanges, useChangedObjects } from './ObjectChanges';
import { type DiffAsked, useDiff } from './queries';

interface DiffViewerProps {
  name: string;
  asked: DiffAsked;
  /** Which of the changes, from 0. */
  number: number;
  onNumber: (number: number) => void;
  onClose: () => void;
}

/** Both sides of one change, large; arrows go to the next one, and pictures zoom together. */
export function DiffViewer({ name, asked, number, onNumber, onClose }: DiffViewerProps) {
  const { t } = useTranslation();
  const diff = useDiff(name, asked, number, 1);
  // The one that comes next is there when it is asked for.
  useDiff(name, asked, number + 1, 1);
  const total = diff.data?.total ?? 0;
  const row = diff.data?.results[0];
  const step = (by: number) => {
    if (number + by >= 0 && number + by < total) onNumber(number + by);
  };
  const { toggle } = useDrawn();
  const onKeyDown = (event: KeyboardEvent) => {
    // The page's own shortcuts rest while a dialog is open.
    if (event.key.toLowerCase() === 'o' && !event.ctrlKey && !event.metaKey && !event.altKey) toggle();
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    step(event.key === 'ArrowLeft' ? -1 : 1);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      fullScreen
      title={t('diff.viewer')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      classNames={{ body: classes.viewerBody, content: classes.viewerContent }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: it takes keys for what it holds */}
      <div
        className={classes.viewer}
        role="group"
        aria-label={t('diff.viewer')}
        // Its keys work from the beginning.
        data-autofocus
        tabIndex={-1}
        onKeyDown={onKeyDown}
      >
        <Group gap="sm" wrap="nowrap">
          <Step label={t('diff.previous')} icon={IconChevronLeft} disabled={number === 0} onClick={() => step(-1)} />
          <Text size="sm" className="tabular" role="status">
            {total > 0 && number < total && t('diff.position', { number: number + 1, total })}
          </Text>
          <Step label={t('diff.next')} icon={IconChevronRight} disabled={number + 1 >= total} onClick={() => step(1)} />
          {row && <What row={row} name={name} asked={asked} />}
        </Group>
        {diff.error ? (
          <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />
        ) : !diff.data ? (
          <Skeleton height="60vh" aria-busy />
        ) : row ? (
          <Pair key={`${row.kind} ${row.path}`} row={row} />
        ) : (
          <EmptyState title={t('diff.gone')} />
        )}
        <Text size="xs" c="dimmed" id="diff-keys" visibleFrom="sm">
          {t('diff.keys')}
        </Text>
      </div>
    </Modal>
  );
}

interface StepProps {
  label: string;
  icon: typeof IconChevronLeft;
  disabled: boolean;
  onClick: () => void;
}

function Step({ label, icon: Glyph, disabled, onClick }: StepProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size="lg" aria-label={label} aria-disabled={disabled} onClick={onClick}>
        <Glyph size={18} opacity={disabled ? 0.4 : 1} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Its kind, its path and its labels, with the way to its page. */
function What({ row, name, asked }: { row: DiffRow; name: string; asked: DiffAsked }) {
  const { t } = useTranslation();
  const look = lookOf(row.kind);
  const ref = row.new ? asked.to : asked.from;
  return (
    <Group gap="xs" className={classes.what}>
      <Badge size="sm" color={look?.color ?? 'gray'} leftSection={look?.sign}>
        {look ? t(`datasets.${look.kind}`) : row.kind}
      </Badge>
      <Text size="sm" className={classes.path}>
        {visible(
          row.old_path && row.old_path !== row.path ? t('item.fromTo', { from: row.old_path, to: row.path }) : row.path,
        )}
      </Text>
      <LabelChange before={row.old} after={row.new} mt={0} />
      <ObjectChanges counts={row.objects} />
      <AnchorLink to="/datasets/$name/item" params={{ name }} search={{ ref, item: row.path }} size="sm">
        {t('diff.toFile')}
      </AnchorLink>
    </Group>
  );
}

/** The file before and after, under one view. */
function Pair({ row }: { row: DiffRow }) {
  const { t } = useTranslation();
  const [view, setView] = useState<View>(FITTED);
  const marked = useChangedObjects(row.objects);
  const hasObjects = Boolean(row.old?.annotations?.objects_total || row.new?.annotations?.objects_total);
  const isPicture = Boolean(row.old?.thumb_url ?? row.new?.thumb_url);
  return (
    <>
      <div className={classes.pair}>
        <Side
          entry={row.old}
          caption={t('datasets.before')}
          absent={t('diff.notThere.before')}
          marked={marked}
          view={view}
          onView={setView}
        />
        <Side
          entry={row.new}
          caption={t('datasets.after')}
          absent={t('diff.notThere.after')}
          marked={marked}
          view={view}
          onView={setView}
        />
      </div>
      {isPicture && (
        <Group gap="sm">
          <ZoomButtons onView={setView} />
          <Text size="xs" c="dimmed">
            {t('diff.together')}
          </Text>
          {hasObjects && <DrawnSwitch />}
        </Group>
      )}
    </>
  );
}

interface SideProps {
  entry: Entry | null | undefined;
  caption: string;
  absent: string;
  /** The objects that differ, by id. */
  marked: ReadonlySet<string>;
  view: View;
  onView: (change: (old: View) => View) => void;
}

function Side({ entry, caption, absent, marked, view, onView }: SideProps) {
  const { t } = useTranslation();
  const [size, setSize] = useState<[number, number]>();
  const [broken, setBroken] = useState(false);
  const src = entry?.thumb_url ? entry.media_url : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was wrong with one picture is not with the next
  useEffect(() => setBroken(false), [src]);
  return (
    <figure className={classes.large}>
      <div className={classes.largePicture}>
        {src && !broken ? (
          <ZoomFrame
            src={src}
            alt={`${caption}: ${entry?.path}`}
            label={caption}
            describedBy="diff-keys"
            view={view}
            onView={onView}
            onSize={(width, height) => setSize([width, height])}
            onBroken={() => setBroken(true)}
            over={<EntryOverlay annotations={entry?.annotations} marked={marked} withNames />}
          />
        ) : (
          <Text c="dimmed" size="sm">
            {entry ? t('diff.noPicture') : absent}
          </Text>
        )}
      </div>
      <figcaption>
        {caption}
        {entry && (
          <>
            {' · '}
            <Bytes value={entry.size_bytes} />
            {size && ` · ${t('item.pixels', { width: size[0], height: size[1] })}`}
          </>
        )}
      </figcaption>
    </figure>
  );
}
