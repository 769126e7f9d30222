import { Badge, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Cluster } from '@/api/schema';

const COLORS: Record<Cluster['state'], string> = {
  registering: 'gray',
  ready: 'teal',
  unreachable: 'red',
  draining: 'orange',
  removed: 'gray',
};

export function ClusterState({ state }: Pick<Cluster, 'state'>) {
  const { t } = useTranslation();
  return (
    <Badge color={COLORS[state]} variant="light">
      {t(`clusters.state.${state}`)}
    </Badge>
  );
}

/** Accelerators of each kind on the nodes; a node of this machine names its GPUs by their model. */
export function acceleratorsOf(nodes: Cluster['nodes']): Record<string, number> {
  const found: Record<string, number> = {};
  const add = (kind: string, count: number) => {
    found[kind] = (found[kind] ?? 0) + count;
  };
  for (const { accelerators, gpu_count, gpu_model } of nodes) {
    for (const { kind, count } of accelerators) add(kind, count);
    if (accelerators.length === 0 && gpu_count) add(gpu_model || 'GPU', gpu_count);
  }
  return found;
}

export function Accelerators({ nodes }: Pick<Cluster, 'nodes'>) {
  const { t } = useTranslation();
  const found = Object.entries(acceleratorsOf(nodes));
  return (
    <Text size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
      {found.map(([kind, count]) => `${count} × ${kind}`).join(', ') || t('clusters.noAccelerators')}
    </Text>
  );
}

/** Accelerators of each kind of a node, with how many of them no run holds. */
export function FreeAccelerators({ node }: { node: Cluster['nodes'][number] }) {
  const { t } = useTranslation();
  const own = { kind: node.gpu_model || 'GPU', count: node.gpu_count, used: node.used.gpus };
  const rows = node.accelerators.length === 0 && node.gpu_count ? [own] : node.accelerators;
  const lines = rows.map(({ kind, count, used }) =>
    used === null ? `${count} × ${kind}` : t('clusters.freeOf', { free: count - used, count, kind }),
  );
  return (
    <Text size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
      {lines.join(', ') || t('clusters.noAccelerators')}
    </Text>
  );
}
