import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { IconServerOff } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ClusterDetail, NodeAgent } from '@/api/schema';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useAgents } from '../queries';
import { AgentCard } from './AgentCard';

const SHOWN = 12;

/** The agents of a cluster's nodes, those with a problem first, and the nodes that have none. */
export default function AgentsSection({ cluster }: { cluster: ClusterDetail }) {
  const { t } = useTranslation();
  const { data: agents, error, refetch } = useAgents(cluster.name);
  const [isWhole, setWhole] = useState(false);
  if (error && !agents) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!agents) return <Skeleton height={120} aria-busy />;
  if (agents.length === 0) return <NoAgents cluster={cluster.name} />;
  const sorted = agents.toSorted((a, b) => Number(hasProblem(b)) - Number(hasProblem(a)));
  const known = new Set(agents.map(({ node }) => node));
  const without = cluster.nodes.map(({ name }) => name).filter((name) => !known.has(name));
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t('agents.hint')}
      </Text>
      {without.length > 0 && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t('agents.without', { count: without.length, nodes: without.join(', ') })}
        </Text>
      )}
      {sorted.slice(0, isWhole ? undefined : SHOWN).map((agent) => (
        <AgentCard key={agent.node} agent={agent} namespace={cluster.namespace ?? 'default'} />
      ))}
      {agents.length > SHOWN && !isWhole && (
        <Button variant="default" onClick={() => setWhole(true)}>
          {t('agents.showAll', { all: agents.length })}
        </Button>
      )}
    </Stack>
  );
}

const hasProblem = ({ is_reporting, disk, xid_events }: NodeAgent) =>
  !is_reporting || disk === null || disk.is_read_only || disk.problem !== '' || xid_events.length > 0;

function NoAgents({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const action = (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {t('agents.noneHint')}
      </Text>
      <CommandLine command={`atom cluster agent ${cluster} | kubectl apply -f -`} what={t('agents.install')} />
    </Stack>
  );
  return <EmptyState compact icon={IconServerOff} title={t('agents.none', { cluster })} action={action} />;
}
