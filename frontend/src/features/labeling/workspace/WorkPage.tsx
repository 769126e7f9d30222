import { Skeleton } from '@mantine/core';
import { IconChecks, IconLock } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask, LeasedSlot } from '@/api/contract/labeling';
import { EmptyState } from '@/shared/EmptyState';
import { ErrorState } from '@/shared/ErrorState';
import { FailedPage } from '@/shared/FailedPage';
import { ButtonLink } from '@/shared/links';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { useCurrentProject, useMay, useProjectOf } from '@/shared/project';
import { notifyWarning } from '@/shared/undo';
import { useTask } from '../queries';
import { ToTasks } from '../ToTasks';
import { isOver, wordsOfState } from '../task/progress';
import { BatchView } from './BatchView';
import type { Gone } from './leases';
import { Refused } from './Refused';
import { SaveState } from './SaveState';
import { useWorkbench } from './useWorkbench';
import type { Workbench } from './workbench';

export function WorkPage() {
  const { t } = useTranslation();
  const { taskId = '' } = useParams({ strict: false });
  const project = useCurrentProject();
  const mayLabel = useMay('labeler');
  const task = useTask(taskId);
  useProjectOf(task.data);
  if (project && !mayLabel)
    return (
      <Page>
        <PageHeader title={t('labeling.label')} />
        <EmptyState icon={IconLock} title={t('errors.forbidden')} hint={t('labeling.work.forbidden')} />
      </Page>
    );
  if (task.error && !task.data)
    return (
      <FailedPage
        title={t('labeling.task')}
        above={<ToTasks />}
        error={task.error}
        onRetry={() => void task.refetch()}
      />
    );
  if (!task.data) return <Loading />;
  return <Work task={task.data} />;
}

function Loading() {
  return (
    <Page>
      <Skeleton height={28} width={280} mb="md" />
      <Skeleton height={420} aria-busy />
    </Page>
  );
}

function Work({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const onLost = useCallback(
    (slots: LeasedSlot[], lease: Gone) =>
      notifyWarning(
        t(lease === 'elsewhere' ? 'labeling.work.leaseElsewhere' : 'labeling.work.leaseLost', { count: slots.length }),
      ),
    [t],
  );
  const bench = useWorkbench(task.id, task.batch_size, onLost);
  if (!bench || (bench.state === 'loading' && !bench.current)) return <Loading />;
  if (bench.state === 'failed')
    return (
      <Page>
        <PageHeader title={task.name} badges={<SaveState bench={bench} />} />
        <ErrorState error={bench.error} onRetry={() => bench.retry()} retrying={bench.retrying} />
      </Page>
    );
  if (bench.state === 'empty' || !bench.current) return <NothingLeft task={task} bench={bench} />;
  return <BatchView key={bench.current.id} task={task} bench={bench} batch={bench.current} />;
}

function NothingLeft({ task, bench }: { task: LabelTask; bench: Workbench }) {
  const { t } = useTranslation();
  const words = wordsOfState(task.state);
  const over = isOver(words);
  const shown = bench.submitted > 0 || bench.unsent.size > 0;
  return (
    <Page>
      <PageHeader title={task.name} badges={shown && <SaveState bench={bench} />} />
      <Refused bench={bench} />
      <EmptyState
        icon={IconChecks}
        title={t(`labeling.work.nothing.${words}`)}
        hint={t(`labeling.work.nothingHint.${words}`)}
        action={
          <>
            <ButtonLink
              to="/labeling/$taskId"
              params={{ taskId: task.id }}
              variant={over ? 'filled' : 'default'}
              mr={over ? 0 : 'xs'}
            >
              {t('labeling.work.toTask')}
            </ButtonLink>
            {!over && (
              <ButtonLink to="/labeling/$taskId/work" params={{ taskId: task.id }} onClick={() => bench.retry()}>
                {t('labeling.work.lookAgain')}
              </ButtonLink>
            )}
          </>
        }
      />
    </Page>
  );
}
