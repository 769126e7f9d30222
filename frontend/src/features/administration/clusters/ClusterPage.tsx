import { Alert, Badge, Card, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Cluster, ClusterDetail } from '@/api/schema';
import { problemSentence } from '@/shared/domain/problemWords';
import { useRights } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { FailedPage } from '@/shared/ui/FailedPage';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { ClusterActions } from './ClusterActions';
import { Findings } from './Findings';
import { Accelerators, ClusterState, FreeAccelerators } from './parts';
import { useCluster } from './queries';
import { RunsHere } from './RunsHere';
import { UnknownJobs } from './UnknownJobs';

const AgentsSection = lazy(whenReachable(() => import('./agents/AgentsSection')));
const CacheSection = lazy(whenReachable(() => import('./agents/CacheSection')));
const CoverageMap = lazy(whenReachable(() => import('./agents/CoverageMap')));
const ProfileSection = lazy(whenReachable(() => import('./ProfileSection')));
const QueuesSection = lazy(whenReachable(() => import('./QueuesSection')));
const QuotasSection = lazy(whenReachable(() => import('./QuotasSection')));

/** One cluster: its nodes, what its checks found, and what it costs. */
export function ClusterPage() {
  const { t } = useTranslation();
  const { cluster: name = '' } = useParams({ strict: false });
  const { installation } = useRights();
  const { data: cluster, error, refetch } = useCluster(name);
  const above = (
    <AnchorLink to="/settings/clusters" size="sm">
      <Group gap={4} component="span">
        <IconArrowLeft size={14} aria-hidden /> {t('clusters.title')}
      </Group>
    </AnchorLink>
  );
  if (error && !cluster) return <FailedPage title={name} above={above} error={error} onRetry={() => void refetch()} />;
  return (
    <Page>
      <PageHeader
        title={name}
        badges={cluster && <ClusterState state={cluster.state} />}
        subtitle={cluster && t(`clusters.kinds.${cluster.kind}`)}
        above={above}
      >
        {cluster && installation && cluster.server !== '' && <ClusterActions cluster={cluster} />}
      </PageHeader>
      {cluster ? <Body cluster={cluster} /> : <Skeleton height={240} aria-busy />}
    </Page>
  );
}

function Body({ cluster }: { cluster: ClusterDetail }) {
  const { t } = useTranslation();
  const { installation } = useRights();
  return (
    <Stack>
      {cluster.problem && (
        <Alert color="red" role="alert">
          {problemSentence(cluster.problem)}
        </Alert>
      )}
      <Card>
        <Facts cluster={cluster} />
      </Card>
      <Section title={t('clusters.runs')}>
        <RunsHere cluster={cluster.name} />
      </Section>
      <Section title={t('clusters.nodes')}>
        {cluster.nodes.length > 0 ? <Nodes nodes={cluster.nodes} /> : <Text size="sm">{t('clusters.noNodes')}</Text>}
      </Section>
      {cluster.kind === 'kubernetes' && installation && (
        <Section title={t('agents.title')}>
          <Suspense fallback={<Skeleton height={80} aria-busy />}>
            <AgentsSection cluster={cluster} />
          </Suspense>
        </Section>
      )}
      {cluster.kind === 'kubernetes' && installation && (
        <Section title={t('agents.caches')}>
          <Suspense fallback={<Skeleton height={80} aria-busy />}>
            <CacheSection cluster={cluster.name} />
          </Suspense>
        </Section>
      )}
      {cluster.kind === 'kubernetes' && (
        <Section title={t('agents.coverage')}>
          <Suspense fallback={<Skeleton height={80} aria-busy />}>
            <CoverageMap cluster={cluster.name} />
          </Suspense>
        </Section>
      )}
      {cluster.kind === 'kubernetes' && (
        <Section title={t('clusterProfile.title')}>
          <Suspense fallback={<Skeleton height={80} aria-busy />}>
            <ProfileSection cluster={cluster.name} />
          </Suspense>
        </Section>
      )}
      {cluster.kind === 'kubernetes' && (
        <Section title={t('clusterQuotas.title')}>
          <Suspense fallback={<Skeleton height={80} aria-busy />}>
            <QuotasSection cluster={cluster.name} />
          </Suspense>
        </Section>
      )}
      {cluster.kind === 'kubernetes' && (
        <Section title={t('clusterQueues.title')}>
          <Suspense fallback={<Skeleton height={80} aria-busy />}>
            <QueuesSection cluster={cluster.name} />
          </Suspense>
        </Section>
      )}
      {cluster.findings && cluster.server && (
        <Section title={t('clusters.findings')}>
          {cluster.findings.length > 0 ? (
            <Findings findings={cluster.findings} />
          ) : (
            <Text size="sm">{t('clusters.noFindings')}</Text>
          )}
        </Section>
      )}
      {cluster.findings && cluster.server && <UnknownJobs cluster={cluster.name} />}
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card component="section" aria-label={title}>
      <Title order={2} fz="md" mb="xs">
        {title}
      </Title>
      {children}
    </Card>
  );
}

function Facts({ cluster }: { cluster: ClusterDetail }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { server, namespace, version, checked_at, heartbeat_at, projects, prices, stores } = cluster;
  const prices_ = prices.map(({ kind, per_hour: price, currency }) => (
    <div key={kind}>
      {kind}: {t('clusters.perHour', { price: Number(price), currency })}
    </div>
  ));
  const routes = stores.map(({ store, egress_per_gib: price, bandwidth_bytes_per_s: rate, currency }) => (
    <div key={store}>
      {t('clusters.egress', { price: Number(price), currency, store })}
      {rate != null && ` · ${t('clusters.bandwidth', { rate: format.bytes(rate), store })}`}
    </div>
  ));
  return (
    <KeyValueList
      items={[
        [t('clusters.server'), server && <span style={{ overflowWrap: 'anywhere' }}>{server}</span>],
        [t('clusters.namespace'), namespace || null],
        [t('clusters.version'), version || null],
        [t('clusters.accelerators'), <Accelerators key="all" nodes={cluster.nodes} />],
        [t('clusters.lastSign'), heartbeat_at ? <RelativeTime key="sign" at={heartbeat_at} /> : t('clusters.never')],
        [t('clusters.checkedAt'), checked_at && <RelativeTime at={checked_at} />],
        [t('clusters.projects'), projects ? projects.join(', ') : t('clusters.allProjects')],
        [t('clusters.prices'), prices_.length + routes.length > 0 && [...prices_, ...routes]],
      ]}
    />
  );
}

function Nodes({ nodes }: { nodes: Cluster['nodes'] }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <Table.ScrollContainer minWidth={420} type="native" tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('clusters.node')}</Table.Th>
            <Table.Th>{t('clusters.cpus')}</Table.Th>
            <Table.Th>{t('clusters.memory')}</Table.Th>
            <Table.Th>{t('clusters.freeAccelerators')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {nodes.map((node) => (
            <Table.Tr key={node.id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {node.name}{' '}
                {!node.schedulable && (
                  <Badge size="xs" color="orange">
                    {t('clusters.closed')}
                  </Badge>
                )}{' '}
                {!node.ready && (
                  <Badge size="xs" color="red">
                    {t('clusters.notReady')}
                  </Badge>
                )}
              </Table.Td>
              <Table.Td className="tabular">
                {format.number(node.cpu_count - node.used.cpus)} / {format.number(node.cpu_count)}
              </Table.Td>
              <Table.Td className="tabular">
                {format.bytes(node.memory_bytes - node.used.memory_bytes)} / {format.bytes(node.memory_bytes)}
              </Table.Td>
              <Table.Td>
                <FreeAccelerators node={node} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
