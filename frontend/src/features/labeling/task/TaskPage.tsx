import { Alert, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { problemSentence } from '@/shared/domain/problemWords';
import { useProjectOf } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { LiveIndicator } from '@/shared/live/LiveIndicator';
import { useLive } from '@/shared/live/useLive';
import { FailedPage } from '@/shared/ui/FailedPage';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { Corrections } from '../audit/Corrections';
import { LabelChip } from '../LabelChip';
import { ITEMS_KEY, STATS_KEY, TASK_KEY, useTask } from '../queries';
import { ToTasks } from '../ToTasks';
import { AuditShare } from './AuditShare';
import { DueDate } from './DueDate';
import { isOverdue } from './due';
import { HeldImages } from './HeldImages';
import { LabelerTable } from './LabelerTable';
import { LeftOut } from './LeftOut';
import { PublishedRest, TaskLink } from './PublishedRest';
import { Skipped } from './Skipped';
import { TaskActions } from './TaskActions';
import { TaskOntology } from './TaskOntology';
import { TaskPlan } from './TaskPlan';

const Guideline = lazy(whenReachable(() => import('../objects/Guideline')));

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
      void client.invalidateQueries({ queryKey: ITEMS_KEY });
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
            {isOverdue(task) && <DueDate task={task} />}
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
        <HeldImages task={task} />
        <LeftOut leftOut={task.left_out} />
        <Skipped task={task} />
        <Filling filling={task.filling} />
      </Card>
      {task.modality === 'image-objects' && <Corrections task={task} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} mb="md">
        <Facts task={task} />
        <Card>
          <Title order={2} fz="sm" mb="xs">
            {t('labeling.guideline')}
          </Title>
          {task.guideline ? (
            <Suspense fallback={<Skeleton height={60} />}>
              <Guideline text={task.guideline} />
            </Suspense>
          ) : (
            <Text size="sm" c="dimmed">
              {t('labeling.noGuideline')}
            </Text>
          )}
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
      <PublishedRest task={task} />
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
      <TaskPlan task={task} />
      <KeyValueList
        items={[
          [
            t('labeling.classes'),
            <Group gap={6} key="labels">
              {task.labels.map((label) => (
                <LabelChip key={label.id} label={label} />
              ))}
              <TaskOntology task={task} />
            </Group>,
          ],
          [t('labeling.question'), task.filter.where || null],
          [t('labeling.create.batchSize'), task.batch_size],
          [t('labeling.create.auditPercent'), <AuditShare key="share" task={task} />],
          [t('labeling.lease'), format.duration(task.lease_ttl_s)],
          [t('labeling.continues'), task.continues && <TaskLink key="continues" task={task.continues} />],
          [t('labeling.createdBy'), task.created_by?.full_name || task.created_by?.username],
        ]}
      />
    </Card>
  );
}
