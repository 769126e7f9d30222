import { Divider, Select, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Label, LeasedSlot } from '@/api/contract/labeling';
import { whenReachable } from '@/shared/live/connection';
import { visible } from '@/shared/ui/visible';
import classes from '../tiles.module.css';
import { ClassList } from './ClassList';
import { type Grid, labelsOf } from './grid';

const Guideline = lazy(whenReachable(() => import('../objects/Guideline')));

export interface SidePanelProps {
  labels: readonly Label[];
  grid: Grid;
  held: Label | null;
  current: LeasedSlot | undefined;
  guideline: string;
  onLabel: (label: Label) => void;
  /** The search of classes was left. */
  onLeave: () => void;
  onPreset: (label: number | null) => void;
}

export function SidePanel({ labels, grid, held, current, guideline, onLabel, onLeave, onPreset }: SidePanelProps) {
  const { t } = useTranslation();
  const counts = new Map<number, number>();
  for (const { id } of grid.items) {
    for (const label of labelsOf(grid, id)) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return (
    <aside className={classes.side} aria-label={t('labeling.classes')}>
      <Select
        size="xs"
        mb="sm"
        label={t('labeling.work.preset')}
        description={t('labeling.work.presetHint')}
        placeholder={t('labeling.work.noPreset')}
        clearable
        searchable={labels.length > 10}
        data={labels.map((label) => ({ value: String(label.id), label: label.name }))}
        value={grid.preset === null ? null : String(grid.preset)}
        onChange={(value) => onPreset(value === null ? null : Number(value))}
      />
      <Text size="xs" c="dimmed" fw={600} mb={4}>
        {t('labeling.classes')}
      </Text>
      <ClassList labels={labels} counts={counts} held={held} onLabel={onLabel} onLeave={onLeave} />
      {current && (
        <>
          <Divider my="sm" />
          <img
            className={classes.preview}
            src={current.tiled ? (current.thumb_url ?? current.media_url) : current.media_url}
            alt={t('labeling.work.preview')}
          />
          <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
            {visible(current.path)}
          </Text>
        </>
      )}
      {guideline && (
        <>
          <Divider my="sm" />
          <Text size="xs" c="dimmed" fw={600} mb={4}>
            {t('labeling.guideline')}
          </Text>
          <Suspense>
            <Guideline text={guideline} />
          </Suspense>
        </>
      )}
    </aside>
  );
}
