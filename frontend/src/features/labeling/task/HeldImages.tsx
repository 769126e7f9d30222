import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Holding, LabelTask, WorkItem } from '@/api/contract/labeling';
import { useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { LoadMore } from '@/shared/ui/LoadMore';
import { visible } from '@/shared/ui/visible';
import { freeSlot, useHeldItems } from '../queries';
import { TaskProgress } from './TaskProgress';
import { useTaskAction } from './useTaskAction';

/** The progress of a task; "Being labelled" opens the images that people hold, for whoever may free them. */
export function HeldImages({ task }: { task: LabelTask }) {
  const [opened, setOpened] = useState(false);
  const mayFree = useMay('researcher');
  const isOffered = mayFree && (task.progress.labeling > 0 || opened);
  return (
    <>
      <TaskProgress
        progress={task.progress}
        labeling={isOffered ? { opened, onPress: () => setOpened(!opened) } : undefined}
      />
      {isOffered && opened && <HeldList task={task.id} />}
    </>
  );
}

function HeldList({ task }: { task: string }) {
  const { t } = useTranslation();
  const { act, busy } = useTaskAction();
  const { rows, error, refetch, hasMore, isLoadingMore, loadMore } = useHeldItems(task);
  if (error && !rows) return <ErrorState error={error} onRetry={refetch} />;
  if (!rows) return null;
  const free = (slot: string) => void act(() => freeSlot(slot), t('labeling.held.freed'));
  const held = rows.filter(({ holders }) => holders.length > 0);
  return (
    <Stack gap={6} mt="xs" role="group" aria-label={t('labeling.held.title')}>
      <Text size="xs" c="dimmed">
        {t(held.length > 0 ? 'labeling.held.hint' : 'labeling.held.none')}
      </Text>
      {held.flatMap((item) =>
        item.holders.map((holding) => (
          <HeldLine key={holding.slot} item={item} holding={holding} busy={busy} onFree={() => free(holding.slot)} />
        )),
      )}
      {hasMore && <LoadMore onLoad={loadMore} loading={isLoadingMore} error={error} />}
    </Stack>
  );
}

interface HeldLineProps {
  item: WorkItem;
  holding: Holding;
  busy: boolean;
  onFree: () => void;
}

function HeldLine({ item, holding, busy, onFree }: HeldLineProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { name, until } = holding;
  return (
    <Group gap="xs" wrap="nowrap">
      <div style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text size="sm">{visible(item.path)}</Text>
        <Text size="xs" c="dimmed">
          {until ? t('labeling.held.until', { name, until: format.time(until) }) : t('labeling.held.by', { name })}
        </Text>
      </div>
      <Button
        size="compact-xs"
        variant="default"
        disabled={busy}
        aria-label={t('labeling.held.freeOf', { path: visible(item.path) })}
        onClick={onFree}
      >
        {t('labeling.held.free')}
      </Button>
    </Group>
  );
}
