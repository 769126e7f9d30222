import { Button, Group, Stack, Text } from '@mantine/core';
import { IconChecks } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask, Waiting } from '@/api/contract/labeling';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { notifyError } from '@/shared/ui/undo';
import { Holders } from '../Holders';
import { unskipAll, useWaiting, WAITING_KEY } from '../queries';
import { isOver, wordsOfState } from '../task/progress';
import { Refused } from './Refused';
import { SaveState } from './SaveState';
import type { ShownTable } from './shownTable';

interface NothingLeftProps {
  task: LabelTask;
  bench: ShownTable;
  page: string;
}

/** Nothing to label: why, who holds the rest until when, and what one can do. It goes on by itself. */
export function NothingLeft({ task, bench, page }: NothingLeftProps) {
  const { t } = useTranslation();
  const words = wordsOfState(task.state);
  const over = isOver(words);
  const waiting = useWaiting(task.id, 'label', page).data;
  useEffect(() => {
    if (waiting && waiting.open > 0 && task.state === 'active') bench.retry();
  }, [bench, waiting, task.state]);
  const shown = bench.submitted > 0 || bench.unsent.size > 0;
  return (
    <Page>
      <PageHeader title={task.name} badges={shown && <SaveState bench={bench} />} />
      <Refused bench={bench} />
      <EmptyState
        icon={IconChecks}
        title={t(`labeling.work.nothing.${words}`)}
        action={
          <Stack align="center" gap="sm">
            {waiting && words === 'active' && <Why waiting={waiting} task={task} bench={bench} />}
            <Group gap="xs" justify="center">
              <ButtonLink to="/labeling/$taskId" params={{ taskId: task.id }} variant={over ? 'filled' : 'default'}>
                {t('labeling.work.toTask')}
              </ButtonLink>
              {!over && (
                <ButtonLink to="/labeling/$taskId/work" params={{ taskId: task.id }} onClick={() => bench.retry()}>
                  {t('labeling.work.lookAgain')}
                </ButtonLink>
              )}
            </Group>
          </Stack>
        }
      />
    </Page>
  );
}

interface WhyProps {
  waiting: Waiting;
  task: LabelTask;
  bench: ShownTable;
}

function Why({ waiting, task, bench }: WhyProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { holders, elsewhere, skipped } = waiting;
  const again = () =>
    unskipAll(task.id)
      .then(() => bench.retry())
      .catch(notifyError)
      .finally(() => void client.invalidateQueries({ queryKey: WAITING_KEY }));
  if (holders.length + elsewhere + skipped === 0) return t('labeling.work.allDone');
  return (
    <Stack gap={6} align="center" aria-live="polite">
      <Holders holders={holders} />
      {elsewhere > 0 && (
        <Text size="sm">
          {t('labeling.work.elsewhereHeld', { count: elsewhere })}{' '}
          <Button size="compact-xs" variant="light" onClick={() => void bench.takeAll()}>
            {t('labeling.work.goOnHere')}
          </Button>
        </Text>
      )}
      {skipped > 0 && (
        <Text size="sm">
          {t('labeling.work.youSkipped', { count: skipped })}{' '}
          <Button size="compact-xs" variant="light" onClick={() => void again()}>
            {t('labeling.work.labelSkipped')}
          </Button>
        </Text>
      )}
    </Stack>
  );
}
