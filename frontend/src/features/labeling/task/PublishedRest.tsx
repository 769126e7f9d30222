import { Button, Group, List, Stack, Text } from '@mantine/core';
import { IconPlayerTrackNext } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { AnchorLink } from '@/shared/ui/links';
import { visible } from '@/shared/ui/visible';
import { continueTask, useReplaced } from '../queries';
import { useTaskAction } from './useTaskAction';

const BEFORE = ['audit', 'rework', 'labeling', 'ready'] as const;
const KINDS = [...BEFORE, 'replaced'] as const;

export function TaskLink({ task }: { task: { id: string; name: string } }) {
  return (
    <AnchorLink to="/labeling/$taskId" params={{ taskId: task.id }} fz="inherit">
      {task.name}
    </AnchorLink>
  );
}

/** The names of accepted images whose picture was replaced or removed: the first ones, and how many more. */
function Replaced({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const count = task.left_out_from.replaced;
  const { data } = useReplaced(task.id, count > 0);
  const items = data?.results ?? [];
  if (count === 0 || items.length === 0) return null;
  return (
    <Stack component="section" gap={2} mt={6} aria-label={t('labeling.rest.names')}>
      <Text size="xs" c="dimmed">
        {t('labeling.rest.names')}
      </Text>
      <List size="xs" style={{ overflowWrap: 'anywhere' }}>
        {items.map(({ id, path }) => (
          <List.Item key={id}>{visible(path)}</List.Item>
        ))}
      </List>
      {count > items.length && (
        <Text size="xs" c="dimmed">
          {t('labeling.rest.more', { count: count - items.length })}
        </Text>
      )}
    </Stack>
  );
}

/** Items that a publication left out, where they were, and the one way to finish them. */
export function PublishedRest({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { act, busy } = useTaskAction();
  const count = task.progress.left_out;
  if (count === 0) return null;
  const parts = KINDS.filter((kind) => task.left_out_from[kind] > 0).map((kind) =>
    t('labeling.countOf', {
      name: kind === 'replaced' ? t('labeling.rest.replaced') : t(`labeling.item.${kind}`),
      count: task.left_out_from[kind],
    }),
  );
  const go = async () => {
    const { data } = await continueTask(task.id);
    if (data) await navigate({ to: '/labeling/$taskId', params: { taskId: data.id } });
  };
  return (
    <>
      <Group gap="sm" mt={6}>
        <Text size="sm">{t('labeling.rest.leftOut', { count, where: parts.join(', ') })}</Text>
        {task.continued_by && (
          <Text size="sm">
            {t('labeling.rest.goesOn')} <TaskLink task={task.continued_by} />
          </Text>
        )}
        {!task.continued_by && task.offers.includes('continue') && (
          <Button
            size="compact-sm"
            variant="light"
            loading={busy}
            leftSection={<IconPlayerTrackNext size={14} />}
            onClick={() => void act(go, t('labeling.rest.started'))}
          >
            {t('labeling.rest.finish', { count })}
          </Button>
        )}
      </Group>
      <Replaced task={task} />
    </>
  );
}
