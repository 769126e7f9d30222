import { Progress } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { NodeAgent } from '@/api/schema';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';

type Disk = NonNullable<NodeAgent['disk']>;

/** A node's disk: the cache, what plans will bring, other files and free space, as a bar and as numbers. */
export function AgentDisk({ agent, disk }: { agent: NodeAgent; disk: Disk }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { node, capacity_bytes: capacity, used_bytes: used, promised_bytes: promised } = agent;
  const { pending_removals: leaving, has_volumes: hasVolumes, volumes } = agent;
  const { total_bytes: total, free_bytes: free, cache_bytes: cache } = disk;
  const others = Math.max(total - free - cache, 0);
  const percent = (bytes: number) => (total > 0 ? (Math.min(bytes, total) / total) * 100 : 0);
  const parts = [
    { name: t('agents.cache'), bytes: cache, color: undefined },
    { name: t('agents.promised'), bytes: Math.min(promised, free), color: 'atom.3' },
    { name: t('agents.others'), bytes: others, color: 'gray' },
  ];
  return (
    <div>
      <Progress.Root size="lg" role="group" aria-label={t('agents.diskOf', { node })}>
        {parts.map(({ name, bytes, color }) => (
          <Progress.Section
            key={name}
            value={percent(bytes)}
            color={color}
            aria-label={name}
            aria-valuetext={format.percent(percent(bytes) / 100)}
          />
        ))}
      </Progress.Root>
      <KeyValueList
        items={[
          [t('agents.cache'), t('agents.usedOf', { used: format.bytes(used), capacity: format.bytes(capacity) })],
          [t('agents.promised'), promised > 0 ? format.bytes(promised) : t('agents.nothingPromised')],
          [t('agents.leaving'), leaving > 0 && t('agents.leavingPacks', { count: leaving })],
          [t('agents.others'), format.bytes(others)],
          [t('agents.free'), t('agents.freeOf', { free: format.bytes(free), total: format.bytes(total) })],
          [t('agents.volumes'), hasVolumes && format.number(volumes)],
        ]}
      />
    </div>
  );
}
