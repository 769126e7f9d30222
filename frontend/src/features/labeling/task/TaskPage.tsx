import { Alert, Button, Card, Group, Modal, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconChecks, IconPlayerPause, IconPlayerPlay, IconTags, IconUpload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { FailedPage } from '@/shared/FailedPage';
import { useFormat } from '@/shared/format';
import { KeyValueList } from '@/shared/KeyValueList';
import { AnchorLink, ButtonLink } from '@/shared/links';
import { LiveIndicator } from '@/shared/live/LiveIndicator';
import { useLive } from '@/shared/live/useLive';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { ProgressBar } from '@/shared/ProgressBar';
import { problemSentence } from '@/shared/problemWords';
import { useMay, useProjectOf } from '@/shared/project';
import { RelativeTime } from '@/shared/RelativeTime';
import { StateBadge } from '@/shared/StateBadge';
import { notifyError, notifySuccess } from '@/shared/undo';
import { LabelChip } from '../LabelChip';
import { pauseTask, publishTask, STATS_KEY, startTask, TASK_KEY, useTask } from '../queries';
import { ToTasks } from '../ToTasks';
import { LabelerTable } from './LabelerTable';
import { LeftOut } from './LeftOut';
import { remaining } from './progress';
import { TaskProgress } from './TaskProgress';

const OVER = new Set(['published', 'completed']);

export function TaskPage() {
  const { t } = useTranslation();
  const { taskId = '' } = useParams({ strict: false });
  const query = useTask(taskId);
  useProjectOf(query.data);
  if (query.error && !query.data)
    return (
      <FailedPage
        title={t('labeling.task')}
        above={<ToTasks />}
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    );
  if (!query.data)
    return (
      <Page>
        <Stack aria-busy>
          <Skeleton height={28} width={280} />
          <Skeleton height={90} />
          <Skeleton height={200} />
        </Stack>
      </Page>
    );
  return <TaskView task={query.data} />;
}

function TaskView({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const live = useLive({
    path: OVER.has(task.state) ? null : `/ws/labelx/tasks/${task.id}/`,
    onMessages: () => {
      void client.invalidateQueries({ queryKey: TASK_KEY });
      void client.invalidateQueries({ queryKey: STATS_KEY });
    },
  });
  return (
    <Page>
      <PageHeader
        title={task.name}
        above={<ToTasks />}
        badges={
          <>
            <StateBadge state={task.state} />
            {live.status !== 'closed' && <LiveIndicator live={live} />}
          </>
        }
        subtitle={
          <Group gap="md">
            <AnchorLink
              to="/datasets/$name"
              params={{ name: task.dataset }}
              search={{ ref: task.dataset_ref }}
              fz="inherit"
            >
              {`${task.dataset}@${task.dataset_ref}`}
            </AnchorLink>
            <RelativeTime at={task.created_at} />
          </Group>
        }
      >
        <TaskActions task={task} />
      </PageHeader>
      <PublishedNotice task={task} />
      <Card mb="md">
        <TaskProgress progress={task.progress} />
        <LeftOut leftOut={task.left_out} />
        <Filling filling={task.filling} />
      </Card>
      <SimpleGrid cols={{ base: 1, md: 2 }} mb="md">
        <Facts task={task} />
        <Card>
          <Title order={2} fz="sm" mb="xs">
            {t('labeling.guideline')}
          </Title>
          <Text size="sm" style={{ whiteSpace: 'pre-wrap' }} c={task.guideline ? undefined : 'dimmed'}>
            {task.guideline || t('labeling.noGuideline')}
          </Text>
        </Card>
      </SimpleGrid>
      <Title order={2} fz="sm" mb="xs">
        {t('labeling.labelers')}
      </Title>
      <LabelerTable taskId={task.id} />
    </Page>
  );
}

/** How many of its items a large task has, while a worker makes them. */
function Filling({ filling }: { filling: LabelTask['filling'] | undefined }) {
  const { t } = useTranslation();
  if (!filling) return null;
  const words = t('labeling.filling', filling);
  return (
    <div aria-live="polite">
      <Text size="sm" mt="sm" mb={4}>
        {words}
      </Text>
      <ProgressBar ratio={filling.done / Math.max(1, filling.total)} label={words} />
    </div>
  );
}

function PublishedNotice({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  if (task.state === 'publishing')
    return (
      <Alert variant="light" mb="md" aria-live="polite">
        {t('labeling.publishing')}
      </Alert>
    );
  if (task.publish_error)
    return (
      <Alert variant="light" color="red" mb="md" title={t('labeling.publishFailed')}>
        {problemSentence(task.publish_error)}
      </Alert>
    );
  const ref = task.output_version?.ref;
  if (!ref) return null;
  return (
    <Alert variant="light" color="teal" mb="md">
      {t('labeling.publishedAs')}{' '}
      <AnchorLink to="/datasets/$name" params={{ name: task.dataset }} search={{ ref }} fz="inherit" underline="always">
        {`${task.dataset}@${ref}`}
      </AnchorLink>
    </Alert>
  );
}

function Facts({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <Card>
      <Title order={2} fz="sm" mb="xs">
        {t('common.details')}
      </Title>
      <KeyValueList
        items={[
          [
            t('labeling.classes'),
            <Group gap={6} key="labels">
              {task.labels.map((label) => (
                <LabelChip key={label.id} label={label} />
              ))}
            </Group>,
          ],
          [t('labeling.question'), task.filter.where || null],
          [t('labeling.create.batchSize'), task.batch_size],
          [t('labeling.create.auditPercent'), format.percent(task.audit_percent / 100)],
          [t('labeling.lease'), format.duration(task.lease_ttl_s)],
          [t('labeling.createdBy'), task.created_by?.full_name || task.created_by?.username],
        ]}
      />
    </Card>
  );
}

function useTaskActions(task: LabelTask) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const act = async (action: () => Promise<unknown>, message: string) => {
    setBusy(true);
    try {
      await action();
      notifySuccess(message);
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: TASK_KEY });
    }
  };
  return { busy, act, task };
}

function TaskActions({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const mayManage = useMay('researcher');
  const mayLabel = useMay('labeler');
  const { act, busy } = useTaskActions(task);
  const [confirming, setConfirming] = useState(false);
  const publish = (partial: boolean) => {
    setConfirming(false);
    void act(() => publishTask(task.id, partial), t('labeling.publishAsked'));
  };
  const canStart = mayManage && (task.state === 'draft' || task.state === 'paused');
  const canPublish = mayManage && ['active', 'paused', 'completed'].includes(task.state) && task.progress.accepted > 0;
  return (
    <>
      {canPublish && (
        <Button
          variant="default"
          leftSection={<IconUpload size={14} />}
          loading={busy}
          onClick={() => (remaining(task.progress) > 0 ? setConfirming(true) : publish(false))}
        >
          {t('labeling.publish')}
        </Button>
      )}
      {mayManage && task.state === 'active' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={14} />}
          loading={busy}
          onClick={() => void act(() => pauseTask(task.id), t('labeling.pausedDone'))}
        >
          {t('labeling.pause')}
        </Button>
      )}
      {mayManage && task.state === 'active' && task.progress.audit > 0 && (
        <ButtonLink
          variant="default"
          leftSection={<IconChecks size={15} />}
          to="/labeling/$taskId/audit"
          params={{ taskId: task.id }}
        >
          {t('labeling.auditCount', { count: task.progress.audit })}
        </ButtonLink>
      )}
      {canStart && (
        <Button
          data-focus-as="task-next"
          leftSection={<IconPlayerPlay size={14} />}
          loading={busy}
          onClick={() => void act(() => startTask(task.id), t('labeling.startedDone'))}
        >
          {t('labeling.start')}
        </Button>
      )}
      {mayLabel && task.state === 'active' && (
        <ButtonLink
          data-focus-as="task-next"
          leftSection={<IconTags size={15} />}
          to="/labeling/$taskId/work"
          params={{ taskId: task.id }}
        >
          {t('labeling.label')}
        </ButtonLink>
      )}
      <Modal
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t('labeling.publishPartial')}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        <Text size="sm">
          {t('labeling.publishPartialText', { count: remaining(task.progress), accepted: task.progress.accepted })}
        </Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={() => setConfirming(false)}>
            {t('common.cancel')}
          </Button>
          <Button onClick={() => publish(true)}>{t('labeling.publishAnyway')}</Button>
        </Group>
      </Modal>
    </>
  );
}
