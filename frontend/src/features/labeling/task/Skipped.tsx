import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask, WorkItem } from '@/api/contract/labeling';
import { visible } from '@/shared/ui/visible';
import { settleSkipped, useSkipped } from '../queries';
import { isSkipReason } from '../skipReasons';
import { useTaskAction } from './useTaskAction';

/** Images that people passed on: how many wait, and, for researchers, who, why and what becomes of them. */
export function Skipped({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(false);
  const waiting = task.progress.skipped;
  const maySettle = task.offers.includes('settle_skipped');
  if (waiting === 0 && !maySettle) return null;
  return (
    <div>
      <Group gap="xs" mt={6}>
        <Text size="sm">{t('labeling.skip.waiting', { count: waiting })}</Text>
        {maySettle && (
          <Button size="compact-xs" variant="light" aria-expanded={opened} onClick={() => setOpened(!opened)}>
            {t('labeling.skip.show')}
          </Button>
        )}
      </Group>
      {maySettle && opened && <SkippedList task={task} />}
    </div>
  );
}

function SkippedList({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const { act, busy } = useTaskAction();
  const items = useSkipped(task.id).data?.results ?? [];
  const open = items.filter(({ state }) => state === 'ready' || state === 'left_out');
  const settle = (how: 'reopen' | 'leave_out', ids?: string[]) =>
    void act(() => settleSkipped(task.id, how, ids), t(`labeling.skip.${how === 'reopen' ? 'reopened' : 'leftOut'}`));
  return (
    <Stack gap={6} mt="xs">
      {open.map((item) => (
        <SkippedLine key={item.id} item={item} busy={busy} settle={settle} />
      ))}
      {task.progress.skipped > 1 && (
        <Group gap="xs">
          <Button size="compact-xs" variant="default" loading={busy} onClick={() => settle('reopen')}>
            {t('labeling.skip.reopenAll')}
          </Button>
          <Button size="compact-xs" variant="default" loading={busy} onClick={() => settle('leave_out')}>
            {t('labeling.skip.leaveOutAll')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface SkippedLineProps {
  item: WorkItem;
  busy: boolean;
  settle: (how: 'reopen' | 'leave_out', ids: string[]) => void;
}

function SkippedLine({ item, busy, settle }: SkippedLineProps) {
  const { t } = useTranslation();
  const reasonWords = (reason: string) => (isSkipReason(reason) ? t(`labeling.skip.reason.${reason}`) : reason);
  const said = item.skips.map(({ name, reason }) =>
    reason ? t('labeling.skip.byWhy', { name, reason: reasonWords(reason) }) : t('labeling.skip.by', { name }),
  );
  return (
    <Group gap="xs" wrap="nowrap">
      <img src={item.thumb_url} alt="" width={40} height={40} style={{ objectFit: 'cover', borderRadius: 4 }} />
      <div style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text size="sm">{visible(item.path)}</Text>
        <Text size="xs" c="dimmed">
          {said.join(' · ')}
        </Text>
      </div>
      <Button size="compact-xs" variant="default" loading={busy} onClick={() => settle('reopen', [item.id])}>
        {t('labeling.skip.reopen')}
      </Button>
      {item.state === 'ready' && (
        <Button size="compact-xs" variant="default" loading={busy} onClick={() => settle('leave_out', [item.id])}>
          {t('labeling.skip.leaveOut')}
        </Button>
      )}
    </Group>
  );
}
