import { Button, Skeleton, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ClusterQueueState, RunQueue, RunQueues } from '@/api/schema';
import { useRights } from '@/shared/domain/project';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import QueuesForm from './QueuesForm';
import { useQueues } from './queries';

/** The queue of Kueue that runs use in a cluster; administrators of the installation edit it. */
export default function QueuesSection({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const { installation } = useRights();
  const { data: queues, error, refetch } = useQueues(cluster);
  const [isEditing, setEditing] = useState(false);
  const close = () => setEditing(false);
  if (error && !queues) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!queues) return <Skeleton height={80} aria-busy />;
  return (
    <Stack gap="sm">
      <QueueTable queues={queues} />
      {installation && (
        <div>
          <Button variant="default" onClick={() => setEditing(true)}>
            {t('clusterQueues.edit')}
          </Button>
        </div>
      )}
      <Dialog opened={isEditing} onClose={close} size="lg" title={t('clusterQueues.edit')}>
        <QueuesForm cluster={cluster} queues={queues} onDone={close} />
      </Dialog>
    </Stack>
  );
}

function QueueTable({ queues }: { queues: RunQueues }) {
  const { t } = useTranslation();
  const { every_project: common, projects = [], kueue } = queues;
  if (!common && projects.length === 0) return <Text size="sm">{t('clusterQueues.none')}</Text>;
  const everyone = projects.length > 0 ? t('clusterQueues.everyOther') : t('clusterQueues.everyProject');
  const rows: { name: string; queue?: RunQueue | null }[] = [
    ...projects.map((one) => ({ name: one.project, queue: one })),
    { name: everyone, queue: common },
  ];
  return (
    <>
      {!kueue.version && (
        <Text size="sm" c="red">
          {t('clusterQueues.noKueue')}
        </Text>
      )}
      {kueue.version && kueue.gates != null && (
        <Text size="sm">{t(kueue.gates ? 'clusterQueues.gates' : 'clusterQueues.noGates')}</Text>
      )}
      <Table.ScrollContainer minWidth={320} type="native" tabIndex={0}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('clusterQueues.project')}</Table.Th>
              <Table.Th>{t('clusterQueues.clusterQueue')}</Table.Th>
              <Table.Th>{t('clusterQueues.localQueue')}</Table.Th>
              <Table.Th>{t('clusterQueues.state')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ name, queue }) => (
              <Table.Tr key={name}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>{queue?.cluster_queue || t('clusterQueues.noQueue')}</Table.Td>
                <Table.Td>{queue?.local_queue || queue?.cluster_queue}</Table.Td>
                <Table.Td>
                  {queue?.cluster_queue && (
                    <State state={kueue.cluster_queues.find((one) => one.name === queue.cluster_queue)} />
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function State({ state }: { state: ClusterQueueState | undefined }) {
  const { t } = useTranslation();
  if (!state) return <Text size="sm">{t('clusterQueues.notChecked')}</Text>;
  const { covered, reason } = state;
  return (
    <Stack gap={2}>
      <Text size="sm" c={state.state === 'missing' ? 'red' : undefined}>
        {t(`clusterQueues.states.${state.state}`)}
      </Text>
      {reason && <Text size="sm">{reason}</Text>}
      {covered && covered.length > 0 && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {t('clusterQueues.covers', { resources: covered.join(', ') })}
        </Text>
      )}
    </Stack>
  );
}
