import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask, LeasedSlot } from '@/api/contract/labeling';
import { useCurrentProject, useMay, useProjectOf } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { ErrorState } from '@/shared/ui/ErrorState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { notifyWarning } from '@/shared/ui/undo';
import { useTask } from '../queries';
import { ToTasks } from '../ToTasks';
import { BatchView } from './BatchView';
import { Loading } from './Loading';
import type { Gone } from './leases';
import { NothingLeft } from './NothingLeft';
import { SaveState } from './SaveState';
import { useWorkbench } from './useWorkbench';

/** Drawing is large, and no labeler of a grid needs it. */
const ObjectWork = lazy(whenReachable(() => import('../objects/ObjectWork')));

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
        <Forbidden hint={t('labeling.work.forbidden')} />
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
  if (task.data.modality === 'image-objects')
    return (
      <Suspense fallback={<Loading />}>
        <ObjectWork task={task.data} />
      </Suspense>
    );
  return <Work task={task.data} />;
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
  const open = useWorkbench(task.id, task.batch_size, onLost);
  if (!open) return <Loading />;
  const { bench, page } = open;
  if (bench.state === 'loading' && !bench.current) return <Loading />;
  if (bench.state === 'failed')
    return (
      <Page>
        <PageHeader title={task.name} badges={<SaveState bench={bench} />} />
        <ErrorState error={bench.error} onRetry={() => bench.retry()} retrying={bench.retrying} />
      </Page>
    );
  if (bench.state === 'empty' || !bench.current) return <NothingLeft task={task} bench={bench} page={page.id} />;
  return <BatchView key={bench.current.id} task={task} bench={bench} batch={bench.current} />;
}
