import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CacheRecord } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { StateBadge } from '@/shared/ui/StateBadge';

/** How much of a version one node holds. */
export function NodeCoverage({ name, record }: { name: string; record: CacheRecord }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { node, coverage, state, error, packs_present: present, packs_total: total, eta_s } = record;
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {node}
        </Text>
        <StateBadge state={state} size="sm" />
      </Group>
      <ProgressBar ratio={coverage} label={t('datasets.coverageOf', { name, node })} />
      <Text size="xs" c="dimmed">
        {t('datasets.packs', { present: format.number(present), count: total })}
        {eta_s != null && ` · ${format.duration(eta_s)}`}
      </Text>
      {error && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
    </div>
  );
}
