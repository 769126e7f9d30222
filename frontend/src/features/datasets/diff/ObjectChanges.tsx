import { Badge, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { DiffListing, DiffRow } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { lookOf } from './kinds';

const CHANGES = ['added', 'removed', 'changed'] as const;

/** How many objects of pictures were added, removed and changed; nothing where none were. */
export function ObjectChanges({ counts }: { counts: DiffListing['objects'] | DiffRow['objects'] }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!counts || CHANGES.every((change) => counts[change] === 0)) return null;
  return (
    <Group gap={4} wrap="wrap" role="group" aria-label={t('drawn.objects')}>
      <Text size="xs" c="dimmed">
        {t('drawn.objects')}
      </Text>
      {CHANGES.filter((change) => counts[change] > 0).map((change) => (
        <Badge key={change} size="sm" variant="light" color={lookOf(change)?.color ?? 'gray'}>
          {lookOf(change)?.sign} {t(`drawn.changed.${change}`, { number: format.number(counts[change]) })}
        </Badge>
      ))}
    </Group>
  );
}

/** The objects of a file that differ, by id. */
export const useChangedObjects = (objects: DiffRow['objects']): ReadonlySet<string> =>
  useMemo(() => new Set(objects?.changes.map(({ id }) => id)), [objects]);
