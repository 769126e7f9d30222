import { Button, Popover, Stack, Text } from '@mantine/core';
import { IconFlame } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import { ButtonLink } from '@/shared/ui/links';
import { useCache, type VersionAddress } from '../queries';
import { LocalCache } from './LocalCache';
import { NodeCoverage } from './NodeCoverage';

/** Nodes of clusters that the panel shows; the page of the warm-up has them all. */
const SHOWN = 3;

/** How much of a version this machine and nodes of clusters hold, and the way to its warm-up plans. */
export function CachePanel({ name, address }: { name: string; address: VersionAddress }) {
  const { t } = useTranslation();
  const format = useFormat();
  const cache = useCache(name, address.ref);
  const records = cache.data ?? [];
  const best = Math.max(0, ...records.map(({ coverage }) => coverage));
  const inClusters = records.slice(1).toSorted((a, b) => b.coverage - a.coverage);
  const isMoving = records.some(({ state }) => state === 'warming');
  const percent = format.percent(best);
  const label = isMoving ? t('warmup.warming', { percent }) : t('datasets.bestCoverage', { percent });
  return (
    <Popover width={340} position="bottom-end" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconFlame size={15} />}>
          {cache.data ? label : t('datasets.cache')}
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
          <LocalCache name={name} address={address} />
          {inClusters.slice(0, SHOWN).map((record) => (
            <NodeCoverage key={record.node} name={name} record={record} />
          ))}
          {inClusters.length > SHOWN && (
            <Text size="xs" c="dimmed">
              {t('warmup.more', { count: inClusters.length - SHOWN })}
            </Text>
          )}
          <ButtonLink
            to="/datasets/$name/warm-up"
            params={{ name }}
            search={{ ref: address.ref }}
            variant="light"
            leftSection={<IconFlame size={15} />}
          >
            {t('warmup.viewPlans')}
          </ButtonLink>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
