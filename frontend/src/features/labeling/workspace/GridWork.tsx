import type { LabelTask } from '@/api/contract/labeling';
import { ErrorState } from '@/shared/ui/ErrorState';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { BatchView } from './BatchView';
import type { OpenGrid } from './gridBench';
import { Loading } from './Loading';
import { NothingLeft } from './NothingLeft';
import { SaveState } from './SaveState';
import type { OpenTable } from './useTable';

interface GridWorkProps {
  task: LabelTask;
  open: OpenTable<OpenGrid> | null;
  /** Whether an image can have several classes. */
  multiple?: boolean;
}

/** The workspace of a grid, from its first request to the end of its work. */
export function GridWork({ task, open, multiple = false }: GridWorkProps) {
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
  return <BatchView key={bench.current.id} task={task} bench={bench} batch={bench.current} multiple={multiple} />;
}
