import { Button, Card, Group, Select, Switch, Text } from '@mantine/core';
import { IconPlus, IconTags } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { EmptyState } from '@/shared/ui/EmptyState';
import { type Format, useFormat } from '@/shared/ui/format';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useTasks } from '../queries';
import { ORDERS, type tasksSearch } from '../search';
import { CreateTask } from './CreateTask';
import { DueDate } from './DueDate';
import { acceptedRatio } from './progress';
import { TaskProgress } from './TaskProgress';

function ProgressCell({ task, format }: { task: LabelTask; format: Format }) {
  const { t } = useTranslation();
  return (
    <div style={{ minWidth: 130 }}>
      <TaskProgress progress={task.progress} legend={false} />
      <Group justify="space-between" gap="xs" mt={4} wrap="nowrap" style={{ whiteSpace: 'nowrap' }}>
        <Text size="xs" c="dimmed" className="tabular">
          {t('labeling.acceptedOf', {
            accepted: format.number(task.progress.accepted),
            total: format.number(task.progress.total),
          })}
        </Text>
        <Text size="xs" c="dimmed" className="tabular">
          {format.percent(acceptedRatio(task.progress))}
        </Text>
      </Group>
    </div>
  );
}

export function TasksPage() {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof tasksSearch>;
  const mayCreate = useMay('researcher');
  const order = search.order ?? 'urgency';
  const tasks = useTasks(order, search.mine === true);
  const look = (part: object) => void navigate({ to: '/labeling', search: { ...search, ...part }, replace: true });
  const open = () => void navigate({ to: '/labeling', search: { create: 'yes' } });
  useShortcuts(mayCreate ? [{ keys: 'N', label: t('labeling.newTask'), run: open }] : []);
  const columns: Column<LabelTask>[] = [
    {
      key: 'name',
      header: t('labeling.task'),
      cell: (task) => <CutName name={task.name} />,
      sortValue: (task) => task.name,
    },
    { key: 'state', header: t('labeling.state'), cell: (task) => <StateBadge state={task.state} />, width: 130 },
    {
      key: 'progress',
      header: t('labeling.progress'),
      from: 'xs',
      cell: (task) => <ProgressCell task={task} format={format} />,
      sortValue: (task) => acceptedRatio(task.progress),
      width: 200,
    },
    {
      key: 'data',
      header: t('labeling.data'),
      from: 'sm',
      cell: (task) => (
        <AnchorLink
          to="/datasets/$name"
          params={{ name: task.dataset }}
          search={{ ref: task.dataset_ref }}
          fz="inherit"
          aria-label={`${task.dataset}@${task.dataset_ref}`}
        >
          <CutName name={task.dataset} tail={`@${task.dataset_ref}`} />
        </AnchorLink>
      ),
    },
    {
      key: 'due',
      header: t('labeling.plan.due'),
      from: 'sm',
      cell: (task) => <DueDate task={task} />,
      width: 170,
    },
    {
      key: 'priority',
      header: t('labeling.plan.priority'),
      from: 'md',
      align: 'right',
      cell: (task) => format.number(task.priority),
      width: 90,
    },
    {
      key: 'classes',
      header: t('labeling.classes'),
      from: 'lg',
      align: 'right',
      cell: (task) => format.number(task.labels.length),
      width: 90,
    },
    {
      key: 'created',
      header: t('labeling.created'),
      from: 'lg',
      align: 'right',
      cell: (task) => <RelativeTime at={task.created_at} />,
      sortValue: (task) => task.created_at,
      width: 130,
    },
    {
      key: 'work',
      header: t('common.actions'),
      align: 'right',
      width: 110,
      cell: (task) =>
        task.offers.includes('label') && (
          <ButtonLink to="/labeling/$taskId/work" params={{ taskId: task.id }} size="compact-xs" variant="light">
            {t('labeling.label')}
          </ButtonLink>
        ),
    },
  ];
  const create = mayCreate && (
    <Button leftSection={<IconPlus size={15} />} onClick={open}>
      {t('labeling.newTask')}
    </Button>
  );
  return (
    <Page>
      <PageHeader title={t('labeling.title')} subtitle={`${t('labeling.subtitle')} ${t('labeling.kinds')}`}>
        {create}
      </PageHeader>
      <Group mb="sm" gap="lg">
        <Select
          size="xs"
          w={200}
          aria-label={t('labeling.plan.order')}
          allowDeselect={false}
          data={ORDERS.map((value) => ({ value, label: t(`labeling.plan.orderBy.${value}`) }))}
          value={order}
          onChange={(next) => look({ order: next === 'urgency' ? undefined : next })}
        />
        <Switch
          size="xs"
          label={t('labeling.plan.mine')}
          checked={search.mine === true}
          onChange={(event) => look({ mine: event.currentTarget.checked || undefined })}
        />
      </Group>
      <Card p={0}>
        <DataTable
          label={t('labeling.title')}
          columns={columns}
          {...tasks}
          rowKey={(task) => task.id}
          rowLink={(task) => ({ to: '/labeling/$taskId', params: { taskId: task.id } })}
          empty={
            <EmptyState
              icon={IconTags}
              title={t(search.mine ? 'labeling.plan.noneMine' : 'labeling.none')}
              action={create}
            />
          }
        />
      </Card>
      {search.create && mayCreate && (
        <CreateTask
          source={search.create}
          labelled={search.labelled === true}
          objects={search.objects === true}
          onClose={() => void navigate({ to: '/labeling', search: {} })}
        />
      )}
    </Page>
  );
}
