import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheSettings, NodeAgent } from '@/api/schema';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { useAgents, useCache } from '../queries';
import CacheForm from './CacheForm';

/** The caches of a cluster's nodes: their limit, how full they are, and a form for the limit. */
export default function CacheSection({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const { data: settings, error, refetch } = useCache(cluster);
  const agents = useAgents(cluster).data ?? [];
  const [isEditing, setEditing] = useState(false);
  const close = () => setEditing(false);
  if (error && !settings) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!settings) return <Skeleton height={80} aria-busy />;
  return (
    <Stack gap="sm">
      <CacheFacts settings={settings} agents={agents} />
      <div>
        <Button variant="default" onClick={() => setEditing(true)}>
          {t('agents.editCache')}
        </Button>
      </div>
      <Dialog opened={isEditing} onClose={close} title={t('agents.editCache')}>
        <CacheForm cluster={cluster} settings={settings} agents={agents} onDone={close} />
      </Dialog>
    </Stack>
  );
}

/** How full a node is, 0 to 1. */
const fullness = ({ used_bytes: used, capacity_bytes: capacity }: NodeAgent) => (capacity > 0 ? used / capacity : 0);

const total = (agents: NodeAgent[], value: (agent: NodeAgent) => number) =>
  agents.reduce((sum, agent) => sum + value(agent), 0);

function CacheFacts({ settings, agents }: { settings: CacheSettings; agents: NodeAgent[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { limit_bytes: limit, replace_after_s: replace } = settings;
  const used = total(agents, ({ used_bytes }) => used_bytes);
  const capacity = total(agents, ({ capacity_bytes }) => capacity_bytes);
  const fullest = agents.toSorted((a, b) => fullness(b) - fullness(a))[0];
  return (
    <KeyValueList
      items={[
        [t('agents.limit'), limit === null ? t('agents.noLimit') : format.bytes(limit)],
        [
          t('agents.usedOfAll'),
          agents.length > 0 && (
            <>
              {t('agents.usedOf', { used: format.bytes(used), capacity: format.bytes(capacity) })}
              <ProgressBar ratio={capacity > 0 ? used / capacity : 0} label={t('agents.usedOfAll')} />
            </>
          ),
        ],
        [
          t('agents.fullest'),
          fullest && used > 0 && (
            <span style={{ overflowWrap: 'anywhere' }}>
              {t('agents.fullestIs', { node: fullest.node, percent: format.percent(fullness(fullest)) })}
            </span>
          ),
        ],
        [t('agents.replaceAfter'), t('agents.replacedAfter', { time: format.duration(replace) })],
      ]}
    />
  );
}
