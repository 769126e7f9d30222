import { Progress } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { NodeAgent } from '@/api/schema';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';

type Disk = NonNullable<NodeAgent['disk']>;

/** A node's disk: the cache, other files and free space as a bar and as numbers. */
export function AgentDisk({ node, disk }: { node: string; disk: Disk }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { total_bytes: total, free_bytes: free, cache_bytes: cache, limit_bytes: limit } = disk;
  const others = Math.max(total - free - cache, 0);
  const percent = (bytes: number) => (total > 0 ? (Math.min(bytes, total) / total) * 100 : 0);
  const held = format.bytes(cache);
  return (
    <div>
      <Progress.Root size="lg" role="group" aria-label={t('agents.diskOf', { node })}>
        <Progress.Section
          value={percent(cache)}
          aria-label={t('agents.cache')}
          aria-valuetext={format.percent(percent(cache) / 100)}
        />
        <Progress.Section
          value={percent(others)}
          color="gray"
          aria-label={t('agents.others')}
          aria-valuetext={format.percent(percent(others) / 100)}
        />
      </Progress.Root>
      <KeyValueList
        items={[
          [t('agents.cache'), limit === null ? held : t('agents.cacheOf', { bytes: held, limit: format.bytes(limit) })],
          [t('agents.others'), format.bytes(others)],
          [t('agents.free'), t('agents.freeOf', { free: format.bytes(free), total: format.bytes(total) })],
        ]}
      />
    </div>
  );
}
