import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask, LeasedSlot } from '@/api/contract/labeling';
import { ErrorState } from '@/shared/ui/ErrorState';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { notifyWarning } from '@/shared/ui/undo';
import { EMPTY_CLIPBOARD } from '../canvas/edits';
import { Loading } from '../workspace/Loading';
import type { Gone } from '../workspace/leases';
import { NothingLeft } from '../workspace/NothingLeft';
import { SaveState } from '../workspace/SaveState';
import { ImageCache } from './imageCache';
import { PICTURES_AHEAD } from './objectBench';
import { PictureView } from './PictureView';
import { useObjectBench } from './useObjectBench';
import { wholePicture } from './usePicture';

/** Leases of pictures that are gone, each with where it went. */
function useGone() {
  const [gone, setGone] = useState<ReadonlyMap<string, Gone>>(new Map());
  const onLost = useCallback(
    (slots: LeasedSlot[], lease: Gone) =>
      setGone((before) => new Map([...before, ...slots.map(({ id }): [string, Gone] => [id, lease])])),
    [],
  );
  const forget = useCallback(() => setGone(new Map()), []);
  return { gone, onLost, forget };
}

/** The workspace of a task in which objects are drawn: one picture after another. */
export default function ObjectWork({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const { gone, onLost, forget } = useGone();
  const [images] = useState(() => new ImageCache());
  const clipboard = useRef(EMPTY_CLIPBOARD);
  useEffect(() => () => images.clear(), [images]);
  useEffect(() => {
    window.addEventListener('online', images.retry);
    return () => window.removeEventListener('online', images.retry);
  }, [images]);
  const onBroughtBack = useCallback(
    (count: number) => notifyWarning(t('labeling.objects.broughtBack', { count })),
    [t],
  );
  const preload = useCallback(
    (slots: LeasedSlot[]) => {
      for (const slot of slots.slice(0, PICTURES_AHEAD)) images.load(wholePicture(slot));
    },
    [images],
  );
  const hooks = useMemo(() => ({ onLost, onBroughtBack, preload }), [onLost, onBroughtBack, preload]);
  const open = useObjectBench(task.id, task.batch_size, hooks);
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
  const takeHere = () => {
    forget();
    void bench.takeHere();
  };
  return (
    <PictureView
      task={task}
      bench={bench}
      picture={bench.current}
      images={images}
      clipboard={clipboard}
      gone={gone.get(bench.current.id) ?? null}
      onTakeHere={takeHere}
    />
  );
}
