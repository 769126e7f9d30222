import { useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { useCurrentProject, useMay, useProjectOf } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { FailedPage } from '@/shared/ui/FailedPage';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useClassView } from '../objects/ViewSwitch';
import { useTask } from '../queries';
import { ToTasks } from '../ToTasks';
import { GridWork } from './GridWork';
import { Loading } from './Loading';
import { useLostNotice } from './useLostNotice';
import { useWorkbench } from './useWorkbench';

/** Drawing is large, and no labeler of a grid needs it. */
const ObjectWork = lazy(whenReachable(() => import('../objects/ObjectWork')));
const ClassWork = lazy(whenReachable(() => import('../objects/ClassWork')));

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
        <DocumentWork task={task.data} />
      </Suspense>
    );
  return <Work task={task.data} />;
}

function DocumentWork({ task }: { task: LabelTask }) {
  const [view] = useClassView(task);
  return view === 'grid' ? <ClassWork task={task} /> : <ObjectWork task={task} />;
}

function Work({ task }: { task: LabelTask }) {
  const onLost = useLostNotice();
  return <GridWork task={task} open={useWorkbench(task.id, task.batch_size, onLost)} />;
}
