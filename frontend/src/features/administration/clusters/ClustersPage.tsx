import { Button, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconPlus, IconTopologyStar3 } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Cluster } from '@/api/schema';
import { useRights } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Accelerators, ClusterState } from './parts';
import { useClusters } from './queries';
import { RegisterDialog } from './RegisterDialog';

/** The clusters that the reader's projects may use; administrators of the installation register more. */
export function ClustersPage() {
  const { t } = useTranslation();
  const { installation } = useRights();
  const [registering, setRegistering] = useState(false);
  const { data, error, refetch } = useClusters();
  return (
    <Page>
      <PageHeader title={t('clusters.title')} subtitle={t('clusters.subtitle')}>
        {installation && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setRegistering(true)}>
            {t('clusters.register')}
          </Button>
        )}
      </PageHeader>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={160} aria-busy />}
      {data?.results.length === 0 && <EmptyState icon={IconTopologyStar3} title={t('clusters.none')} />}
      <Stack>
        {data?.results.map((cluster) => (
          <ClusterCard key={cluster.id} cluster={cluster} />
        ))}
      </Stack>
      <RegisterDialog opened={registering} onClose={() => setRegistering(false)} />
    </Page>
  );
}

function ClusterCard({ cluster }: { cluster: Cluster }) {
  const { t } = useTranslation();
  const { id, name, kind, state, nodes, heartbeat_at } = cluster;
  return (
    <Card component="section" aria-labelledby={`cluster-${id}`}>
      <Group gap="xs">
        <Title order={2} size="h4" id={`cluster-${id}`} style={{ overflowWrap: 'anywhere' }}>
          <AnchorLink to="/settings/clusters/$cluster" params={{ cluster: name }} inherit>
            {name}
          </AnchorLink>
        </Title>
        <ClusterState state={state} />
      </Group>
      <Text size="xs" c="dimmed" component="div" mb="sm">
        {t(`clusters.kinds.${kind}`)} · {t('clusters.nodes', { count: nodes.length })}
        {heartbeat_at && (
          <>
            {' · '}
            {t('clusters.lastSign')} <RelativeTime at={heartbeat_at} />
          </>
        )}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Free nodes={nodes} isKnown={state !== 'unreachable'} />
        <div>
          <Text size="sm" fw={550}>
            {t('clusters.accelerators')}
          </Text>
          <Accelerators nodes={nodes} />
        </div>
      </SimpleGrid>
    </Card>
  );
}

/** The free resources of nodes that take runs; those of a silent cluster are old. */
function Free({ nodes, isKnown }: Pick<Cluster, 'nodes'> & { isKnown: boolean }) {
  const { t } = useTranslation();
  const format = useFormat();
  const open = nodes.filter(({ schedulable, ready }) => schedulable && ready);
  const sum = (of: (node: Cluster['nodes'][number]) => number) => open.reduce((total, node) => total + of(node), 0);
  const cpus = { free: sum((one) => one.cpu_count - one.used.cpus), total: sum((one) => one.cpu_count) };
  const memory = {
    free: sum((one) => one.memory_bytes - one.used.memory_bytes),
    total: sum((one) => one.memory_bytes),
  };
  return (
    <div>
      <Text size="sm" fw={550}>
        {t(isKnown ? 'clusters.free' : 'clusters.freeLast')}
      </Text>
      <Text size="sm" className="tabular">
        {t('clusters.freeCpus', cpus)}
      </Text>
      <Text size="sm" className="tabular">
        {t('clusters.freeMemory', { free: format.bytes(memory.free), total: format.bytes(memory.total) })}
      </Text>
    </div>
  );
}
