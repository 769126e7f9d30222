import { Badge, Card, Group, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DiffRow, Entry } from '@/api/contract/datasets';
import { Thumb } from '@/shared/grid/Thumb';
import { Bytes } from '@/shared/ui/values';
import { visible } from '@/shared/ui/visible';
import { EntryOverlay } from '../drawn/EntryOverlay';
import classes from './diff.module.css';
import { lookOf } from './kinds';
import { ObjectChanges, useChangedObjects } from './ObjectChanges';

/** One change: what was on the left, what is on the right. */
export function DiffCard({ row, onOpen }: { row: DiffRow; onOpen: () => void }) {
  const { t } = useTranslation();
  const look = lookOf(row.kind);
  const { old: before, new: after } = row;
  const marked = useChangedObjects(row.objects);
  return (
    <Card padding="xs" role="listitem" className={classes.card}>
      <Group justify="space-between" wrap="nowrap" mb={6}>
        <Badge size="sm" color={look?.color ?? 'gray'} leftSection={look?.sign}>
          {look ? t(`datasets.${look.kind}`) : row.kind}
        </Badge>
      </Group>
      <UnstyledButton className={classes.sides} data-diff-open onClick={onOpen}>
        <VisuallyHidden>
          {t('diff.open', { path: row.path, kind: look ? t(`datasets.${look.kind}`) : row.kind })}
        </VisuallyHidden>
        {before && <Side entry={before} caption={t('datasets.before')} marked={marked} gone={!after} />}
        {before && after && <IconArrowRight size={14} aria-hidden className={classes.arrow} />}
        {after && <Side entry={after} caption={t('datasets.after')} marked={marked} />}
      </UnstyledButton>
      {row.old_path && row.old_path !== row.path && (
        <Text size="xs" c="dimmed" td="line-through" className={classes.path}>
          {visible(row.old_path)}
        </Text>
      )}
      <Text size="xs" className={classes.path}>
        {visible(row.path)}
      </Text>
      <LabelChange before={before} after={after} />
      <ObjectChanges counts={row.objects} />
    </Card>
  );
}

interface SideProps {
  entry: Entry;
  caption: string;
  /** The objects that differ, by id. */
  marked: ReadonlySet<string>;
  gone?: boolean;
}

function Side({ entry, caption, marked, gone = false }: SideProps) {
  return (
    <span className={classes.side} data-gone={gone || undefined}>
      <span className={classes.picture}>
        <Thumb src={entry.thumb_url} />
        {entry.thumb_url && <EntryOverlay annotations={entry.annotations} marked={marked} />}
      </span>
      <span className={classes.caption}>
        {caption} · <Bytes value={entry.size_bytes} />
      </span>
    </span>
  );
}

interface LabelChangeProps {
  before?: Entry | null;
  after?: Entry | null;
  mt?: number;
}

export function LabelChange({ before, after, mt = 4 }: LabelChangeProps) {
  const { t } = useTranslation();
  const words = (entry: Entry) => [entry.label ?? t('datasets.noLabel'), entry.split].filter(Boolean).join(' · ');
  const [old, now] = [before && words(before), after && words(after)];
  return (
    <Group gap={4} mt={mt} wrap="nowrap">
      {old && old !== now && (
        <Badge size="sm" color="gray" td="line-through">
          {old}
        </Badge>
      )}
      {old && now && old !== now && <IconArrowRight size={12} aria-hidden />}
      {now && <Badge size="sm">{now}</Badge>}
    </Group>
  );
}
