import { Button, Group, Popover, Stack, Text } from '@mantine/core';
import { IconFlame } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { CacheRecord } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { StateBadge } from '@/shared/ui/StateBadge';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useCache, useWarm, type VersionAddress } from '../queries';

/** How much of a version each node holds, with a button to fetch the rest. */
export function CachePanel({ name, address }: { name: string; address: VersionAddress }) {
  const { t } = useTranslation();
  const format = useFormat();
  const mayWarm = useMay('researcher');
  const cache = useCache(name, address.ref);
  const warm = useWarm(name, address.ref);
  const records = cache.data ?? [];
  const best = Math.max(0, ...records.map(({ coverage }) => coverage));
  const start = () =>
    warm
      .warm()
      .then(() => notifySuccess(t('datasets.warmAsked', { name: `${name}@${address.ref}` })))
      .catch(notifyError);
  return (
    <Popover width={340} position="bottom-end" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconFlame size={15} />}>
          {cache.data ? t('datasets.bestCoverage', { percent: format.percent(best) }) : t('datasets.cache')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="sm">
          <div>
            <Text fw={600} size="sm">
              {t('datasets.cacheTitle')}
            </Text>
            <Text size="xs" c="dimmed">
              {t('datasets.cacheHint')}
            </Text>
          </div>
          {cache.error && <ErrorState error={cache.error} compact onRetry={() => void cache.refetch()} />}
          {cache.data && records.length === 0 && <Text size="sm">{t('datasets.cacheEmpty')}</Text>}
          {records.map((record) => (
            <NodeCoverage key={record.node} name={name} record={record} />
          ))}
          {mayWarm && (
            <Button onClick={start} loading={warm.isPending} disabled={best >= 1} leftSection={<IconFlame size={15} />}>
              {t('datasets.warm')}
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function NodeCoverage({ name, record }: { name: string; record: CacheRecord }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { node, coverage, state, error, packs_present: present, packs_total: total, eta_s } = record;
  return (
    <div>
      <Group justify="space-between">
        <Text size="sm">{node}</Text>
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
